/**
 * The whole call that a leg belongs to, which all its legs name. A leg belongs to the call of the leg that dialled it; a leg
 * that nobody dialled begins a new call. When it is connected with a leg of another call, as an attended transfer does, the later call's leg joins
 * the earlier call. Pure.
 */

/** A call of several legs. */
export interface CallGroup {
  /** The id in the events of its legs: usually that of its first leg. */
  readonly id: string
  /** When it began, in the unit of its switch. */
  readonly since: number
}

/** Puts two legs into the call that began first. */
export function joinOlderGroup(leg: { group: CallGroup }, other: { group: CallGroup }): void {
  const { since: legSince } = leg.group
  if (other.group.since < legSince) leg.group = other.group
  else if (legSince < other.group.since) other.group = leg.group
}
