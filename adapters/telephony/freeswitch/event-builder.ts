/** Builds the events to publish from a leg and the switch's event. Pure. */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import { secondsBetween } from '../source/seconds.js'
import type { EslEvent, EventValue } from './event.js'
import { type Leg, readEventTimeUs, type Times } from './leg.js'

type WritableEvent = { -readonly [Key in keyof PendingEvent]: PendingEvent[Key] }

/** Hooks that occur once per leg: leg and hook identify the event. */
type OnceHook = 'channel_create' | 'channel_answer' | 'channel_destroy'

export function buildCreateEvent(leg: Leg): PendingEvent {
  return buildEvent(leg, 'channel_create', leg.createdUs, keyOfOnceHook(leg, 'channel_create'))
}

export function buildAnswerEvent(leg: Leg): PendingEvent {
  return buildEvent(leg, 'channel_answer', leg.answeredUs, keyOfOnceHook(leg, 'channel_answer'))
}

export function buildHoldEvent(
  leg: Leg,
  hook: 'channel_hold' | 'channel_unhold',
  event: EslEvent,
): PendingEvent {
  return buildEvent(leg, hook, readEventTimeUs(event), keyOfEvent(leg, hook, event))
}

/**
 * The bridge of a leg with its `otherLegCallId`.
 *
 * @param otherDestination the number that was dialled to reach the other leg
 */
export function buildBridgeEvent(
  leg: Leg,
  event: EslEvent,
  otherDestination: string | undefined,
): PendingEvent {
  const built = buildEvent(
    leg,
    'channel_bridge',
    readEventTimeUs(event),
    keyOfEvent(leg, 'channel_bridge', event),
  )
  if (leg.parties.destination !== undefined) built.originalNumber = leg.parties.destination
  if (otherDestination !== undefined) built.otherLegDestinationNumber = otherDestination
  return built
}

export function buildDestroyEvent(leg: Leg, event: EslEvent, times: Times): PendingEvent {
  const built = buildEvent(leg, 'channel_destroy', times.hangupUs, keyOfOnceHook(leg, 'channel_destroy'))
  built.hangupCause =
    event.header('Hangup-Cause') ?? event.header('variable_hangup_cause') ?? 'NORMAL_UNSPECIFIED'
  const code = sipCodeOf(leg, event)
  if (code !== undefined) built.hangupCode = code
  return addDurations(built, leg, times)
}

/** The end of a leg whose last event was missed. */
export function buildMissedDestroyEvent(leg: Leg, nowUs: number): PendingEvent {
  const built = buildEvent(leg, 'channel_destroy', nowUs, keyOfOnceHook(leg, 'channel_destroy'))
  built.hangupCause = 'NORMAL_UNSPECIFIED'
  built.customChannelVars = { ...leg.customVariables.channelVars, found_by: 'resync' }
  const times = { answeredUs: leg.answeredUs, ringingUs: 0, hangupUs: nowUs }
  return addDurations(built, leg, times)
}

/**
 * The final SIP status, as far as it is known. An answered leg has 200, whatever an earlier callee replied; otherwise the
 * far end's code if it ended the leg, otherwise the code of the failed INVITE.
 */
function sipCodeOf(leg: Leg, event: EslEvent): string | undefined {
  if (!leg.isSip) return undefined
  if (leg.answeredUs > 0) return 'sip:200'
  const farEndCode = event.header('variable_proto_specific_hangup_cause')
  if (farEndCode !== undefined && /^sip:\d{3}$/.test(farEndCode)) return farEndCode
  const inviteStatus = event.header('variable_sip_invite_failure_status')
  return inviteStatus !== undefined && /^\d{3}$/.test(inviteStatus) ? `sip:${inviteStatus}` : undefined
}

/** Computed from exact times: the switch's `…sec` are differences of whole seconds, often off by one. */
function addDurations(
  built: WritableEvent,
  leg: Leg,
  { answeredUs, ringingUs, hangupUs }: Times,
): PendingEvent {
  built.durationSeconds = secondsOf(leg.createdUs, hangupUs)
  built.ringingSeconds = ringingUs === 0 ? 0 : secondsOf(ringingUs, answeredUs || hangupUs)
  built.billingSeconds = answeredUs === 0 ? 0 : secondsOf(answeredUs, hangupUs)
  return built
}

function keyOfOnceHook({ coreUuid, callId, createdUs }: Leg, hook: OnceHook): string {
  return idempotencyKey(coreUuid, callId, createdUs, hook)
}

/** A hook that can occur repeatedly is identified by the switch's sequence number too. */
function keyOfEvent({ coreUuid, callId, createdUs }: Leg, hook: string, event: EslEvent): string {
  const number = event.header('Event-Sequence') ?? readEventTimeUs(event)
  return idempotencyKey(coreUuid, callId, createdUs, hook, number)
}

function buildEvent(leg: Leg, hook: string, atUs: number, key: string): WritableEvent {
  const { parties, addresses, customVariables } = leg
  const built: WritableEvent = {
    hook,
    callId: leg.callId,
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
  if (parties.calleeIdName !== undefined) built.calleeIdName = parties.calleeIdName
  if (parties.calleeIdNumber !== undefined) built.calleeIdNumber = parties.calleeIdNumber
  if (customVariables.applicationVars) built.customApplicationVars = customVariables.applicationVars
  if (customVariables.channelVars) {
    built.customChannelVars = customVariables.channelVars
    addKazooFields(built, customVariables.channelVars)
  }
  return built
}

/** Copies the channel variables that KAZOO also shows as separate fields. */
function addKazooFields(built: WritableEvent, vars: Readonly<Record<string, EventValue>>): void {
  const text = (name: string) => {
    const value = Object.hasOwn(vars, name) ? vars[name] : undefined
    return typeof value === 'string' ? value : undefined
  }
  const ownerId = text('Owner-ID')
  if (ownerId !== undefined) built.ownerId = ownerId
  const resellerId = text('Reseller-ID')
  if (resellerId !== undefined) built.resellerId = resellerId
  const authorizingId = text('Authorizing-ID')
  if (authorizingId !== undefined) built.authorizingId = authorizingId
  const authorizingType = text('Authorizing-Type')
  if (authorizingType !== undefined) built.authorizingType = authorizingType
  const forwarded = text('Call-Forward')
  if (forwarded !== undefined) built.callForwarded = forwarded === 'true'
  const inception = text('Inception')
  if (inception !== undefined) built.inception = inception
}

function secondsOf(fromUs: number, toUs: number): number {
  return secondsBetween(fromUs / 1000, toUs / 1000)
}
