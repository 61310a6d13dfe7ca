/** Legs and what happened to them → the events that are published. Pure. */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { ChannelDraft } from '../source/leg-news.js'
import { secondsBetween } from '../source/seconds.js'
import type { EventValue, SwitchEvent } from './event.js'
import { happenedUs, type Leg, type Times } from './leg.js'

type Draft = { -readonly [Key in keyof ChannelDraft]: ChannelDraft[Key] }

/** Hooks that a leg has once: their keys need nothing but the leg. */
type OnceHook = 'channel_create' | 'channel_answer' | 'channel_destroy'

/** The begin of a leg. */
export function created(leg: Leg): ChannelDraft {
  return draft(leg, 'channel_create', leg.createdUs, onceKey(leg, 'channel_create'))
}

/** Its answer. */
export function answered(leg: Leg): ChannelDraft {
  return draft(leg, 'channel_answer', leg.answeredUs, onceKey(leg, 'channel_answer'))
}

/** It is on hold, or is not any more. */
export function heldOrResumed(
  leg: Leg,
  hook: 'channel_hold' | 'channel_unhold',
  event: SwitchEvent,
): ChannelDraft {
  return draft(leg, hook, happenedUs(event), eventKey(leg, hook, event))
}

/**
 * It is joined with its `otherCallId`.
 *
 * @param otherDestination what was dialled to reach the other leg
 */
export function bridged(leg: Leg, event: SwitchEvent, otherDestination: string | undefined): ChannelDraft {
  const made = draft(leg, 'channel_bridge', happenedUs(event), eventKey(leg, 'channel_bridge', event))
  if (leg.parties.destination !== undefined) made.originalNumber = leg.parties.destination
  if (otherDestination !== undefined) made.otherLegDestinationNumber = otherDestination
  return made
}

/** Its end, as the switch tells it. */
export function destroyed(leg: Leg, event: SwitchEvent, times: Times): ChannelDraft {
  const made = draft(leg, 'channel_destroy', times.hangupUs, onceKey(leg, 'channel_destroy'))
  made.hangupCause =
    event.header('Hangup-Cause') ?? event.header('variable_hangup_cause') ?? 'NORMAL_UNSPECIFIED'
  const code = sipCode(leg, event)
  if (code !== undefined) made.hangupCode = code
  return withDurations(made, leg, times)
}

/** Its end, which the switch did not tell: it was found missing. */
export function missing(leg: Leg, nowUs: number): ChannelDraft {
  const made = draft(leg, 'channel_destroy', nowUs, onceKey(leg, 'channel_destroy'))
  made.hangupCause = 'NORMAL_UNSPECIFIED'
  made.customChannelVars = { ...leg.custom.channelVars, found_by: 'resync' }
  const times = { answeredUs: leg.answeredUs, ringingUs: 0, hangupUs: nowUs }
  return withDurations(made, leg, times)
}

/**
 * The final SIP status, as far as it can be known. An answered leg has 200, whatever an earlier callee of it said; else
 * the far end's own code if it ended the leg, else that of the failed INVITE.
 */
function sipCode(leg: Leg, event: SwitchEvent): string | undefined {
  if (!leg.isSip) return undefined
  if (leg.answeredUs > 0) return 'sip:200'
  const said = event.header('variable_proto_specific_hangup_cause')
  if (said !== undefined && /^sip:\d{3}$/.test(said)) return said
  const failed = event.header('variable_sip_invite_failure_status')
  return failed !== undefined && /^\d{3}$/.test(failed) ? `sip:${failed}` : undefined
}

/** The switch's own `…sec` are differences of whole seconds, one off as often as not. */
function withDurations(made: Draft, leg: Leg, { answeredUs, ringingUs, hangupUs }: Times): ChannelDraft {
  made.durationSeconds = secondsOf(leg.createdUs, hangupUs)
  made.ringingSeconds = ringingUs === 0 ? 0 : secondsOf(ringingUs, answeredUs || hangupUs)
  made.billingSeconds = answeredUs === 0 ? 0 : secondsOf(answeredUs, hangupUs)
  return made
}

function onceKey({ run, callId, createdUs }: Leg, hook: OnceHook): string {
  return idempotencyKey(run, callId, createdUs, hook)
}

/** What can happen again has the switch's number of the event. */
function eventKey({ run, callId, createdUs }: Leg, hook: string, event: SwitchEvent): string {
  const number = event.header('Event-Sequence') ?? happenedUs(event)
  return idempotencyKey(run, callId, createdUs, hook, number)
}

function draft(leg: Leg, hook: string, atUs: number, key: string): Draft {
  const { parties, addresses, custom } = leg
  const made: Draft = {
    hook,
    callId: leg.callId,
    timestampMs: Math.floor(atUs / 1000),
    isInternalLeg: leg.isInternal,
    idempotencyKey: key,
  }
  if (leg.otherCallId !== undefined) made.otherLegCallId = leg.otherCallId
  if (leg.direction !== undefined) made.direction = leg.direction
  if (addresses.from !== undefined) made.from = addresses.from
  if (addresses.to !== undefined) made.to = addresses.to
  if (addresses.request !== undefined) made.request = addresses.request
  if (parties.callerIdName !== undefined) made.callerIdName = parties.callerIdName
  if (parties.callerIdNumber !== undefined) made.callerIdNumber = parties.callerIdNumber
  if (parties.calleeIdName !== undefined) made.calleeIdName = parties.calleeIdName
  if (parties.calleeIdNumber !== undefined) made.calleeIdNumber = parties.calleeIdNumber
  if (custom.applicationVars) made.customApplicationVars = custom.applicationVars
  if (custom.channelVars) {
    made.customChannelVars = custom.channelVars
    addKazooFields(made, custom.channelVars)
  }
  return made
}

/** What KAZOO keeps in its channel variables and shows as fields of their own. */
function addKazooFields(made: Draft, vars: Readonly<Record<string, EventValue>>): void {
  const text = (name: string) => {
    const value = Object.hasOwn(vars, name) ? vars[name] : undefined
    return typeof value === 'string' ? value : undefined
  }
  const ownerId = text('Owner-ID')
  if (ownerId !== undefined) made.ownerId = ownerId
  const resellerId = text('Reseller-ID')
  if (resellerId !== undefined) made.resellerId = resellerId
  const authorizingId = text('Authorizing-ID')
  if (authorizingId !== undefined) made.authorizingId = authorizingId
  const authorizingType = text('Authorizing-Type')
  if (authorizingType !== undefined) made.authorizingType = authorizingType
  const forwarded = text('Call-Forward')
  if (forwarded !== undefined) made.callForwarded = forwarded === 'true'
  const inception = text('Inception')
  if (inception !== undefined) made.inception = inception
}

/** The switch's times are microseconds. */
function secondsOf(fromUs: number, toUs: number): number {
  return secondsBetween(fromUs / 1000, toUs / 1000)
}
