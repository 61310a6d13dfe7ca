/** Builds channel events, without their account, from legs. Pure. */
import { addCallee } from '../source/answerer.js'
import type { PendingEvent } from '../source/mapped-events.js'
import { durationsOf, type LegTimes } from '../source/seconds.js'
import type { HangupResult } from './hangup-mapping.js'
import { eventKey, type Leg } from './leg.js'
import type { Bridge } from './switch-event.js'

/** The hook of an event and its time. */
interface Occurrence {
  readonly hook: PendingEvent['hook']
  /** Unix milliseconds. */
  readonly atMs: number
  /** Distinguishes it from other events of the leg with the same hook. */
  readonly key?: string | number
}

/** Fields that every event of a leg has in addition to its own. */
export interface EventContext {
  /** The other leg. */
  readonly otherLegId: string | undefined
  /** The channel variables that the host selected, and values that KAZOO has no field for. */
  readonly customChannelVars: Readonly<Record<string, unknown>>
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Maximum number of `channel_bridge` events that a leg remembers; the keys of later ones have the time. */
const MAX_PAST_BRIDGES = 1_000
/** A call id that `publish` accepts; an invalid one of the other leg is omitted. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

/** Builds an event of a leg whose parties are fixed. */
export function buildEvent(
  leg: Leg,
  { hook, atMs, key }: Occurrence,
  { otherLegId, customChannelVars }: EventContext,
): PendingEvent {
  const event: Mutable<PendingEvent> = {
    hook,
    callId: leg.id,
    callGroupId: leg.group.id,
    direction: leg.direction,
    timestampMs: Math.floor(atMs),
    isInternalLeg: leg.isInternal,
    idempotencyKey: key === undefined ? eventKey(leg, hook) : eventKey(leg, hook, key),
  }
  if (otherLegId !== undefined && CALL_ID.test(otherLegId)) event.otherLegCallId = otherLegId
  const { parties } = leg
  if (parties) {
    const from = address(parties.callerNumber, parties.realm)
    const to = address(parties.calleeNumber, parties.realm)
    if (from !== undefined) event.from = from
    if (to !== undefined) {
      event.to = to
      event.request = to
    }
    if (parties.callerNumber !== undefined) event.callerIdNumber = parties.callerNumber
    if (parties.callerName !== undefined) event.callerIdName = parties.callerName
    addCallee(event, leg.answeredBy, parties.calleeNumber, parties.calleeName)
  }
  if (leg.publishedEndpoint) event.endpoint = leg.publishedEndpoint
  for (const _ in customChannelVars) {
    event.customChannelVars = customChannelVars
    break
  }
  return event
}

/** Builds a `channel_bridge`, and remembers it on the leg; `other` is `undefined` for a conference. */
export function buildBridgeEvent(
  leg: Leg,
  other: Leg | undefined,
  bridge: Bridge,
  atMs: number,
  context: EventContext,
): PendingEvent {
  const meeting = `${other?.id ?? ''}/${bridge.id}`
  const isFirst = !leg.pastBridges.has(meeting) && leg.pastBridges.size < MAX_PAST_BRIDGES
  if (isFirst) leg.pastBridges.add(meeting)
  const key = isFirst ? meeting : `${meeting}/${Math.round(atMs * 1000)}`
  const bridgeVars: Record<string, unknown> = { bridge_id: bridge.id }
  if (bridge.name !== undefined) bridgeVars.bridge_name = bridge.name
  const event: Mutable<PendingEvent> = buildEvent(
    leg,
    { hook: 'channel_bridge', atMs, key },
    {
      otherLegId: other?.id,
      customChannelVars: Object.assign(bridgeVars, context.customChannelVars),
    },
  )
  if (leg.direction === 'inbound' && leg.parties?.calleeNumber !== undefined) {
    event.originalNumber = leg.parties.calleeNumber
  }
  const destination = other?.parties?.calleeNumber
  if (destination !== undefined) event.otherLegDestinationNumber = destination
  return event
}

/** When a leg ended, or, where that is not known, when that was found. */
interface LegEnd {
  readonly atMs: number
  readonly isTimeKnown: boolean
}

/** The times of a leg that has ended. */
export function timesOf(leg: Leg, { atMs, isTimeKnown }: LegEnd): LegTimes {
  const { createdMs, createdAccuracy, answeredMs, isAnswerTimeKnown } = leg
  // A leg whose end was missed may have been answered before it.
  const isAnswerUnknown = answeredMs === undefined ? !isTimeKnown : !isAnswerTimeKnown
  return {
    createdMs: createdAccuracy === 'unknown' ? 'unknown' : createdMs,
    answeredMs: isAnswerUnknown ? 'unknown' : answeredMs,
    endedMs: isTimeKnown ? atMs : 'unknown',
  }
}

/** Builds a `channel_destroy`. */
export function buildDestroyEvent(
  leg: Leg,
  result: HangupResult,
  end: LegEnd,
  { otherLegId, customChannelVars }: EventContext,
): PendingEvent {
  const durations = durationsOf(timesOf(leg, end))
  const isEstimate = leg.createdAccuracy === 'estimate' && durations.durationSeconds !== undefined
  const estimateVars = { found_by: 'resync', duration_is_estimate: true }
  const event: Mutable<PendingEvent> = buildEvent(
    leg,
    { hook: 'channel_destroy', atMs: end.atMs },
    {
      otherLegId,
      customChannelVars: isEstimate ? { ...estimateVars, ...customChannelVars } : customChannelVars,
    },
  )
  event.hangupCause = result.hangupCause
  if (result.code !== undefined) event.hangupCode = `sip:${result.code}`
  return Object.assign(event, durations)
}

function address(number: string | undefined, realm: string | undefined): string | undefined {
  return number === undefined || realm === undefined ? number : `${number}@${realm}`
}
