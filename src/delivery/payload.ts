import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import { OBJECT_HOOK, SMS_HOOK } from '../webhooks/catalogue.js'
import { isMetaHook, type MetaEvent } from '../webhooks/meta-hooks.js'
import { reservedFieldOf } from '../webhooks/reserved-fields.js'
import type { StoredAttempt } from './attempt-record.js'
import type { CheckedEvent } from './event.js'
import type { Matchable, Payload } from './match.js'

/**
 * The payload of a channel event as KAZOO's webhooks send it (`webhooks_channel_util:base_hook_event`):
 * snake_case, `timestamp` in Gregorian seconds, absent fields left out. Ours: `happened_at`, the same time in ISO 8601 with
 * milliseconds, and `event_id`. Without the sequence number, which the store assigns.
 */
export function payloadOf(event: CheckedEvent, eventId: string): Record<string, unknown> {
  const fields = Object.entries(payloadFields(event, eventId))
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null))
}

/**
 * The same with every key; absent fields are `undefined`, which JSON and form encoding leave out. All objects
 * have one shape, which makes building and serializing them ten times as fast. No other file outside `wire`
 * uses these snake_case names.
 */
export function payloadFields(event: CheckedEvent, eventId: string): Record<string, unknown> {
  const isMessage = event.hook === SMS_HOOK
  return {
    hook_event: event.hook,
    account_id: event.accountId,
    // A document is no call, and neither is an event with a key: they are only ordered like those of a call.
    call_id: event.hook === OBJECT_HOOK || event.orderingKey !== undefined ? undefined : event.callId,
    ordering_key: event.orderingKey,
    call_group_id: event.callGroupId,
    other_leg_call_id: event.otherLegCallId,
    call_direction: event.direction,
    timestamp: toGregorian(event.timestampMs),
    happened_at: toIsoTime(event.timestampMs),
    from: event.from,
    to: event.to,
    request: event.request,
    inception: event.inception,
    caller_id_name: event.callerIdName,
    caller_id_number: event.callerIdNumber,
    callee_id_name: event.calleeIdName,
    callee_id_number: event.calleeIdNumber,
    answered_by: event.answeredBy && answererFields(event.answeredBy),
    endpoint: event.endpoint,
    owner_id: event.ownerId,
    reseller_id: event.resellerId,
    authorizing_id: event.authorizingId,
    authorizing_type: event.authorizingType,
    call_forwarded: event.callForwarded,
    emergency_resource_used: event.emergencyResourceUsed,
    local_resource_used: event.localResourceUsed,
    local_resource_id: event.localResourceId,
    is_internal_leg: event.isInternalLeg,
    custom_channel_vars: event.customChannelVars,
    custom_application_vars: event.customApplicationVars,
    original_number: event.originalNumber,
    other_leg_destination_number: event.otherLegDestinationNumber,
    hangup_cause: event.hangupCause,
    hangup_code: event.hangupCode,
    duration_seconds: event.durationSeconds,
    ringing_seconds: event.ringingSeconds,
    billing_seconds: event.billingSeconds,
    duration_ms: event.durationMs,
    ringing_ms: event.ringingMs,
    billing_ms: event.billingMs,
    transfer_type: event.transferType,
    transfer_to: event.transferTo,
    target_call_id: event.targetCallId,
    event_name: event.eventName,
    parking_slot: event.parkingSlot,
    from_user: event.fromUser,
    from_realm: event.fromRealm,
    to_user: event.toUser,
    to_realm: event.toRealm,
    voicemail_box: event.voicemailBox,
    voicemail_id: event.voicemailId,
    voicemail_length: event.voicemailLengthMs,
    call_bridged: event.callBridged,
    message_left: event.messageLeft,
    queue_id: event.queueId,
    queue_position: event.queuePosition,
    queue_leave_reason: event.queueLeaveReason,
    waiting_seconds: event.waitingSeconds,
    agent_id: event.agentId,
    agent_call_id: event.agentCallId,
    agent_number: event.agentNumber,
    talking_seconds: event.talkingSeconds,
    dtmf_digit: event.dtmfDigit,
    dtmf_duration_ms: event.dtmfDurationMs,
    path: event.path,
    reason: event.reason,
    name: event.name,
    member: event.member,
    members: event.members,
    username: event.username,
    realm: event.realm,
    contact: event.contact,
    user_agent: event.userAgent,
    expires: event.expires,
    body: event.body,
    status: event.status,
    // A message has KAZOO's names beside those of all events.
    direction: isMessage ? event.direction : undefined,
    id: isMessage ? event.callId : event.documentId,
    type: event.documentType,
    action: event.documentAction,
    data: event.data,
    event_id: eventId,
  }
}

function answererFields({ number, name, callId }: NonNullable<CheckedEvent['answeredBy']>) {
  return { number, name, call_id: callId }
}

/** What matching reads of an event, from its payload; in form encoding all fields are texts. */
export function matchableOf(payload: Payload): Omit<Matchable, 'hook' | 'accountId'> {
  const { is_internal_leg: isInternal, type, action } = payload
  return {
    isInternalLeg: isInternal === true || isInternal === 'true',
    ...(typeof type === 'string' && { documentType: type }),
    ...(typeof action === 'string' && { documentAction: action }),
  }
}

const NO_ENTRIES: readonly (readonly [string, string])[] = []

/**
 * The entries of a webhook's custom data that are sent: all except the keys `type` and `action`
 * (KAZOO `webhooks_util:note_custom_data`).
 */
export function customDataEntries(
  customData: Readonly<Record<string, string>> | undefined,
): readonly (readonly [key: string, value: string])[] {
  if (!customData) return NO_ENTRIES
  return Object.entries(customData).filter(([key]) => key !== 'type' && key !== 'action')
}

/**
 * The payload with the custom data of a webhook merged in. Custom data takes precedence, except over reserved fields: their
 * names are refused in the settings, and left out here if a store has them.
 */
export function mergeCustomData(
  payload: Readonly<Record<string, unknown>>,
  customData: readonly (readonly [key: string, value: string])[],
): Readonly<Record<string, unknown>> {
  if (customData.length === 0) return payload
  const merged = { ...payload }
  const hook = String(payload.hook_event)
  for (const [key, value] of customData) {
    if (reservedFieldOf(key, hook) !== undefined) continue
    // No assignment: a key named __proto__ is ordinary data.
    Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return merged
}

/** The payload key of the sequence number. */
export const SEQUENCE_KEY = 'sequence'

/** The payload of an event about a webhook. It belongs to no call, so it has no sequence number. */
export function metaPayloadOf(event: MetaEvent, eventId: string): Record<string, unknown> {
  const fields = {
    hook_event: event.hook,
    account_id: event.accountId,
    timestamp: toGregorian(event.timestampMs),
    happened_at: toIsoTime(event.timestampMs),
    webhook_id: event.webhookId,
    reason: event.reason,
    detail: event.detail,
    failures_in_row: event.failuresInRow,
    failing_since: event.failingSinceMs === undefined ? undefined : toGregorian(event.failingSinceMs),
    paused_until: event.pausedUntilMs === undefined ? undefined : toGregorian(event.pausedUntilMs),
    delivery_id: event.deliveryId,
    delivery_hook_event: event.deliveryHook,
    call_id: event.callId,
    attempts: event.attempts,
    expired: event.expired,
    share: event.share,
    max_pending: event.maxPending,
    suppressed: event.suppressed,
    event_id: eventId,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The payload of a sample of the catalogue, as a receiver gets it. */
export function samplePayload(
  sample: CheckedEvent | MetaEvent,
  eventId: string,
  sequence: number,
): Record<string, unknown> {
  return isMetaHook(sample.hook)
    ? metaPayloadOf(sample as MetaEvent, eventId)
    : { ...payloadOf(sample as CheckedEvent, eventId), [SEQUENCE_KEY]: sequence }
}

/** The parties of a call leg, as the payload of an event names them. */
export type CallParties = NonNullable<StoredAttempt['call']>

/**
 * The parties that a payload names, from the body of a request in either encoding, each cut at 255 characters; `undefined`: it
 * names none. Of a body that was cut off, those that it names before its first object or list.
 */
export function partiesOf(body: string): StoredAttempt['call'] {
  const fields = fieldsOf(body)
  const parties: { -readonly [Name in keyof CallParties]: CallParties[Name] } = {}
  for (const [name, key] of PARTY_KEYS) {
    const value = fields[key]
    if (typeof value === 'string') parties[name] = value.slice(0, MAX_PARTY).toWellFormed()
  }
  return Object.keys(parties).length === 0 ? undefined : parties
}

/** Characters of a party that are shown: lists have many of them, and an event may name one with 64 KiB. */
const MAX_PARTY = 255

const PARTY_KEYS = [
  ['direction', 'call_direction'],
  ['from', 'from'],
  ['to', 'to'],
  ['callerName', 'caller_id_name'],
] as const

/** The fields of a payload, from the body of a request in either encoding. Of a body that was cut off, the first ones. */
export function fieldsOf(body: string): Payload {
  if (!body.startsWith('{')) return Object.fromEntries(new URLSearchParams(body))
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return membersOf(body)
  }
}

/** The members before the first object or list, of an object in JSON that was cut off. */
function membersOf(json: string): Readonly<Record<string, unknown>> {
  let end = 0
  let isInText = false
  for (let at = 1; at < json.length; at++) {
    const character = json[at]
    if (isInText && character === '\\') at += 1
    else if (character === '"') isInText = !isInText
    else if (isInText) continue
    else if (character === '{' || character === '[') break
    else if (character === ',') end = at
  }
  try {
    return JSON.parse(`${json.slice(0, end)}}`) as Record<string, unknown>
  } catch {
    return {}
  }
}
