/** Splits the free slots of an endpoint between first attempts and retries, like the memory store. Pure. */

/** A waiting head of a lane. */
export interface Head {
  readonly retry: boolean
  readonly dueMs: number
  readonly position: number
  readonly id: string
  readonly ctid: string
}

export interface EndpointSlots {
  readonly heads: readonly Head[]
  /** How many heads may be claimed. */
  readonly slots: number
  /** Whether an odd slot goes to the retries. */
  readonly retriesFirst: boolean
  /** The breaker lets a single delivery through: the one that has been due longest. */
  readonly isProbed: boolean
}

const byDueTime = (a: Head, b: Head) => a.dueMs - b.dueMs || a.position - b.position

/**
 * Selects the heads to claim: first attempts get half of the slots, and either kind gets what the other leaves free.
 *
 * @param now store time, ms
 */
export function selectHeads(
  { heads, slots, retriesFirst, isProbed }: EndpointSlots,
  now: number,
): readonly Head[] {
  const due = heads.filter(({ dueMs }) => dueMs <= now).sort(byDueTime)
  if (slots <= 0 || due.length === 0) return []
  if (isProbed) return [oldestOf(due)]
  const firsts = due.filter(({ retry }) => !retry)
  const retries = due.filter(({ retry }) => retry)
  const half = Math.min(firsts.length, retriesFirst ? Math.floor(slots / 2) : Math.ceil(slots / 2))
  const retried = Math.min(retries.length, slots - half)
  return [...firsts.slice(0, half), ...retries.slice(0, retried), ...firsts.slice(half, slots - retried)]
}

/** Among those due at the same time, a retry. */
function oldestOf(due: readonly Head[]): Head {
  const [first] = due
  return due.find(({ retry, dueMs }) => retry && dueMs === first!.dueMs) ?? first!
}
