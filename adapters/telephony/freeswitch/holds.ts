/**
 * Holds of a leg. A hold is identified by the time at which it began (`Caller-Channel-Last-Hold`), which the events of its
 * begin and its end have, and the channel data while it lasts: a hold found by a resync is the one whose event was missed.
 */
import type { PendingEvent } from '../source/mapped-events.js'
import type { EslEvent } from './event.js'
import { buildHoldEvent, markFoundByResync } from './event-builder.js'
import { type FoundHold, type Leg, readEventTimeUs } from './leg.js'

/** Handles CHANNEL_HOLD. */
export function startHold(leg: Leg, event: EslEvent): PendingEvent | undefined {
  const sinceUs = readHoldUs(event)
  if (sinceUs !== 0 && sinceUs === leg.hold.sinceUs) return undefined
  leg.hold.sinceUs = sinceUs
  leg.hold.earlierUs = readEarlierUs(event)
  const { key, atUs } = identityOf(event)
  return buildHoldEvent(leg, 'channel_hold', key, sinceUs || atUs)
}

/**
 * Handles CHANNEL_UNHOLD, unless the switch generated it: when a held leg is hung up, the switch resumes it first. Such an
 * event already carries the final SIP status (then it is ignored), or the phone still sends `sendonly` or `inactive`:
 * then it is published only with a later event of the leg that is not its end.
 */
export function endHold(leg: Leg, event: EslEvent): PendingEvent | undefined {
  const sinceUs = readHoldUs(event)
  if (sinceUs !== 0 && sinceUs === leg.hold.endedUs) return undefined
  leg.hold.sinceUs = 0
  leg.hold.endedUs = sinceUs
  if (event.header('variable_sip_term_status') !== undefined) return undefined
  const { key, atUs } = identityOf(event)
  const unhold = buildHoldEvent(leg, 'channel_unhold', key, atUs)
  const mediaFlow = event.header('variable_remote_audio_media_flow')
  if (mediaFlow !== 'sendonly' && mediaFlow !== 'inactive') return unhold
  leg.hold.pendingUnhold = unhold
  return undefined
}

/** Takes the unhold that waits for a later event of the leg; `undefined`: none, or the leg ends. */
export function takePendingUnhold({ hold }: Leg, isLegEnd: boolean): PendingEvent | undefined {
  const unhold = hold.pendingUnhold
  hold.pendingUnhold = undefined
  return isLegEnd ? undefined : unhold
}

/** Reads the hold of a leg from its channel data, for `takeFoundHolds`. */
export function readHold(channelData: EslEvent): FoundHold {
  return {
    lastUs: readHoldUs(channelData),
    isHeld: channelData.header('Channel-Call-State') === 'HELD',
    earlierUs: readEarlierUs(channelData),
    atUs: readEventTimeUs(channelData),
  }
}

/** Takes the holds and unholds that were missed. They precede later holds of the leg. */
export function takeFoundHolds(leg: Leg): PendingEvent[] {
  const { hold } = leg
  const state = hold.found
  hold.found = undefined
  const sinceUs = state?.isHeld ? state.lastUs : 0
  if (!state || sinceUs === hold.sinceUs) return []
  const found: PendingEvent[] = []
  if (hold.sinceUs !== 0) {
    // The length of the holds increases when one ends.
    const lengthUs = state.earlierUs - hold.earlierUs
    const latestUs = sinceUs || state.atUs
    const endUs = lengthUs > 0 ? Math.min(hold.sinceUs + lengthUs, latestUs) : latestUs
    found.push(markFoundByResync(buildHoldEvent(leg, 'channel_unhold', hold.sinceUs, endUs)))
    hold.endedUs = hold.sinceUs
  }
  hold.sinceUs = sinceUs
  hold.earlierUs = state.earlierUs
  if (sinceUs !== 0) found.push(markFoundByResync(buildHoldEvent(leg, 'channel_hold', sinceUs, sinceUs)))
  return found
}

/** What identifies a hold or unhold, and when its event was created. */
function identityOf(event: EslEvent): { readonly key: string | number; readonly atUs: number } {
  const atUs = readEventTimeUs(event)
  return { key: readHoldUs(event) || (event.header('Event-Sequence') ?? atUs), atUs }
}

function readHoldUs(event: EslEvent): number {
  return event.microseconds('Caller-Channel-Last-Hold')
}

function readEarlierUs(event: EslEvent): number {
  return event.microseconds('Caller-Channel-Hold-Accum')
}
