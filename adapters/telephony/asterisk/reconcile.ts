/**
 * Reconciles the open legs with the list of open channels: opens the legs that began unseen, finds answers, bridges and
 * holds, and ends the legs that the list lacks. Pure; the building of events is left to the mapping.
 */
import type { ChannelRegistry } from './channel-registry.js'
import type { Leg } from './leg.js'
import type { Bridge, ChannelDetails, ListedChannel } from './switch-event.js'

/** The state of a mapping when the list of open channels is requested. */
export interface RegistrySnapshot {
  /** Ids of the open legs. */
  readonly openIds: ReadonlySet<string>
  /** The number of the last step. */
  readonly atStep: number
}

/** The steps of the mapping that a list implies. */
interface ReconcileDeps {
  readonly legs: Pick<ChannelRegistry, 'track' | 'get'>
  /** Adds the `channel_create` and the `channel_answer` of a leg. */
  readonly advance: (leg: Leg, answeredMs: number | 'unknown') => void
  readonly enter: (leg: Leg, bridge: Bridge) => void
  readonly leave: (leg: Leg) => void
  readonly setHeld: (leg: Leg, isHeld: boolean) => void
  /** Ends a leg whose end was missed. */
  readonly end: (leg: Leg) => void
}

/** The begins of a channel and of its CDR are at most this far apart; AMI reports the former in whole seconds. */
const CDR_TOLERANCE_MS = 2_000

/** @param nowMs the time of changes without a time in the list, Unix milliseconds */
export function reconcile(
  { legs, advance, enter, leave, setHeld, end }: ReconcileDeps,
  { openIds, atStep }: RegistrySnapshot,
  listed: readonly ListedChannel[],
  nowMs: number,
): void {
  const listedIds = new Set<string>()
  const tracked = listed.map(({ channel }) => {
    listedIds.add(channel.id)
    return legs.track(channel, nowMs, 'listed')
  })
  listed.forEach(({ details }, index) => {
    const leg = tracked[index]
    if (leg) advance(leg, applyDetails(leg, details))
  })
  listed.forEach(({ bridge }, index) => {
    const leg = tracked[index]
    // A move after the snapshot is newer than the list.
    if (!leg || leg.lastMoveStep > atStep) return
    if (bridge) enter(leg, bridge)
    else leave(leg)
  })
  listed.forEach(({ details }, index) => {
    const holder = legs.get(tracked[index]?.partnerId)
    if (!holder || holder.lastHoldStep > atStep || details?.isPutOnHold === undefined) return
    setHeld(holder, details.isPutOnHold)
  })
  for (const id of openIds) {
    const leg = listedIds.has(id) ? undefined : legs.get(id)
    if (leg) end(leg)
  }
}

/** Improves the times of a leg that was found in mid-call. @returns when it was answered */
function applyDetails(leg: Leg, details: ChannelDetails | undefined): number | 'unknown' {
  const { cdrStartMs, cdrAnswerMs = 'unknown' } = details ?? {}
  // A channel that was transferred has a later CDR, which says nothing about its first answer.
  const isFirstCdr = cdrStartMs !== undefined && Math.abs(cdrStartMs - leg.createdMs) <= CDR_TOLERANCE_MS
  if (!isFirstCdr || leg.createdAccuracy === 'unknown') return 'unknown'
  if (leg.createdAccuracy === 'estimate') {
    leg.createdMs = cdrStartMs
    leg.createdAccuracy = 'exact'
  }
  return cdrAnswerMs
}
