/** Builds the events to publish from a leg and the switch's event. Pure. */
import { addCallee } from '../source/answerer.js'
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import type { CallDetails } from '../source/optional-hooks.js'
import { durationsOf, type LegDurations, type LegTimes } from '../source/seconds.js'
import type { EventValue } from './event.js'
import type { Hangup } from './hangup.js'
import type { Leg } from './leg.js'

type WritableEvent = { -readonly [Key in keyof PendingEvent]: PendingEvent[Key] }

/** Hooks that occur once per leg: leg and hook identify the event. */
type OnceHook = 'channel_create' | 'channel_answer' | 'channel_destroy'

export function buildCreateEvent(leg: Leg): PendingEvent {
  return buildEvent(leg, 'channel_create', leg.createdUs, keyOfOnceHook(leg, 'channel_create'))
}

export function buildAnswerEvent(leg: Leg): PendingEvent {
  return buildEvent(leg, 'channel_answer', leg.answeredUs, keyOfOnceHook(leg, 'channel_answer'))
}

/** @param key what distinguishes it from other holds of the leg */
export function buildHoldEvent(
  leg: Leg,
  hook: 'channel_hold' | 'channel_unhold',
  key: string | number,
  atUs: number,
): PendingEvent {
  return buildEvent(leg, hook, atUs, keyOfRepeatedHook(leg, hook, key))
}

/** What an event and the channel data of a bridged leg have in common. */
export interface BridgeFacts {
  /** What distinguishes it from other bridges of the leg. */
  readonly key: string | number
  readonly atUs: number
  /** The number that was dialled to reach the other leg, where that leg is not open. */
  readonly otherDestination: string | undefined
}

/** The bridge of a leg with its `otherLegCallId`. */
export function buildBridgeEvent(leg: Leg, other: Leg | undefined, facts: BridgeFacts): PendingEvent {
  const key = keyOfRepeatedHook(leg, 'channel_bridge', facts.key)
  const built = buildEvent(leg, 'channel_bridge', facts.atUs, key)
  const otherDestination = other?.parties.destination ?? facts.otherDestination
  if (leg.parties.destination !== undefined) built.originalNumber = leg.parties.destination
  if (otherDestination !== undefined) built.otherLegDestinationNumber = otherDestination
  return built
}

/** The end of a leg; durations are left out if the switch's clock was set back during the leg. */
export function buildDestroyEvent(leg: Leg, { atUs, cause, code, endedBy }: Hangup): PendingEvent {
  const built = buildEvent(leg, 'channel_destroy', atUs, keyOfOnceHook(leg, 'channel_destroy'))
  built.hangupCause = cause
  if (code !== undefined) built.hangupCode = code
  if (endedBy !== undefined) built.customChannelVars = { ...built.customChannelVars, ended_by: endedBy }
  // From exact times: the switch's `…sec` are differences of whole seconds, often off by one.
  addDurations(built, durationsOf(timesOf(leg, atUs)))
  return built
}

/** The end of a leg whose last event was missed: when it ended is not known, nor whether it was answered before. */
export function buildMissedDestroyEvent(leg: Leg, nowUs: number): PendingEvent {
  const built = buildEvent(leg, 'channel_destroy', nowUs, keyOfOnceHook(leg, 'channel_destroy'))
  built.hangupCause = 'NORMAL_UNSPECIFIED'
  const answeredMs = leg.answeredUs === 0 ? 'unknown' : leg.answeredUs / 1000
  addDurations(built, durationsOf({ createdMs: leg.createdUs / 1000, answeredMs, endedMs: 'unknown' }))
  return markFoundByResync(built)
}

/** Builds an event of an optional hook. @param key what distinguishes it from others of the leg with this hook */
export function buildDetailEvent(
  leg: Leg,
  hook: PendingEvent['hook'],
  key: string | number,
  atUs: number,
  details: CallDetails,
): PendingEvent {
  return Object.assign(buildEvent(leg, hook, atUs, keyOfRepeatedHook(leg, hook, key)), details)
}

/** Marks an event that was not received but found by a resync. */
export function markFoundByResync(event: PendingEvent): PendingEvent {
  return { ...event, customChannelVars: { ...event.customChannelVars, found_by: 'resync' } }
}

/** The times of a leg that has ended. */
export function timesOf({ createdUs, answeredUs }: Leg, endedUs: number): LegTimes {
  return {
    createdMs: createdUs / 1000,
    answeredMs: answeredUs === 0 ? undefined : answeredUs / 1000,
    endedMs: endedUs / 1000,
  }
}

function keyOfOnceHook(leg: Leg, hook: OnceHook): string {
  return idempotencyKey(keyPrefixOf(leg), hook)
}

function keyOfRepeatedHook(leg: Leg, hook: string, key: string | number): string {
  return idempotencyKey(keyPrefixOf(leg), hook, key)
}

function keyPrefixOf(leg: Leg): string {
  leg.keyPrefix ??= `${leg.coreUuid}/${leg.callId}/${leg.createdUs}`
  return leg.keyPrefix
}

function buildEvent(leg: Leg, hook: PendingEvent['hook'], atUs: number, key: string): WritableEvent {
  const { parties, addresses, customVariables } = leg
  const built: WritableEvent = {
    hook,
    callId: leg.callId,
    callGroupId: leg.group.id,
    timestampMs: Math.floor(atUs / 1000),
    isInternalLeg: leg.isInternal,
    idempotencyKey: key,
  }
  if (leg.otherLegCallId !== undefined) built.otherLegCallId = leg.otherLegCallId
  if (leg.direction !== undefined) built.direction = leg.direction
  if (addresses.from !== undefined) built.from = addresses.from
  if (addresses.to !== undefined) built.to = addresses.to
  if (addresses.request !== undefined) built.request = addresses.request
  if (parties.callerIdName !== undefined) built.callerIdName = parties.callerIdName
  if (parties.callerIdNumber !== undefined) built.callerIdNumber = parties.callerIdNumber
  addCallee(built, leg.answeredBy, parties.calleeIdNumber, parties.calleeIdName)
  if (leg.endpoint) built.endpoint = leg.endpoint
  if (customVariables.applicationVars) built.customApplicationVars = customVariables.applicationVars
  if (customVariables.channelVars) {
    built.customChannelVars = customVariables.channelVars
    addKazooFields(built, customVariables.channelVars)
  }
  return built
}

/** Adds the known durations; `Object.assign` takes several times as long. */
function addDurations(
  built: WritableEvent,
  { durationSeconds, ringingSeconds, billingSeconds, durationMs, ringingMs, billingMs }: LegDurations,
) {
  if (durationSeconds !== undefined) built.durationSeconds = durationSeconds
  if (ringingSeconds !== undefined) built.ringingSeconds = ringingSeconds
  if (billingSeconds !== undefined) built.billingSeconds = billingSeconds
  if (durationMs !== undefined) built.durationMs = durationMs
  if (ringingMs !== undefined) built.ringingMs = ringingMs
  if (billingMs !== undefined) built.billingMs = billingMs
}

/** Copies the channel variables that KAZOO also shows as separate fields. */
function addKazooFields(built: WritableEvent, vars: Readonly<Record<string, EventValue | undefined>>): void {
  const {
    'Owner-ID': ownerId,
    'Reseller-ID': resellerId,
    'Authorizing-ID': authorizingId,
    'Authorizing-Type': authorizingType,
    'Call-Forward': forwarded,
    Inception: inception,
  } = vars
  if (typeof ownerId === 'string') built.ownerId = ownerId
  if (typeof resellerId === 'string') built.resellerId = resellerId
  if (typeof authorizingId === 'string') built.authorizingId = authorizingId
  if (typeof authorizingType === 'string') built.authorizingType = authorizingType
  if (typeof forwarded === 'string') built.callForwarded = forwarded === 'true'
  if (typeof inception === 'string') built.inception = inception
}
