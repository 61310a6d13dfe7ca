import { toGregorian } from '../values/greg-time.js'
import type { CheckedEvent } from './event.js'

/**
 * The payload of a channel event as receivers know it from KAZOO's webhooks (`webhooks_channel_util:base_hook_event`):
 * snake_case, times in Gregorian seconds, what is absent left out; all but its sequence number, which the store gives.
 */
export function payloadOf(event: CheckedEvent, eventId: string): Record<string, unknown> {
  const fields = Object.entries(payloadFields(event, eventId))
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null))
}

/**
 * The same with every key, `undefined` where the event has none, which JSON and form leave out: an object of one
 * shape, ten times as quick to make and to write. The one place outside `wire` that knows these names.
 */
export function payloadFields(event: CheckedEvent, eventId: string): Record<string, unknown> {
  return {
    hook_event: event.hook,
    account_id: event.accountId,
    call_id: event.callId,
    other_leg_call_id: event.otherLegCallId,
    call_direction: event.direction,
    timestamp: toGregorian(event.timestampMs),
    from: event.from,
    to: event.to,
    request: event.request,
    inception: event.inception,
    caller_id_name: event.callerIdName,
    caller_id_number: event.callerIdNumber,
    callee_id_name: event.calleeIdName,
    callee_id_number: event.calleeIdNumber,
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
    event_id: eventId,
  }
}

const NOTHING: readonly (readonly [string, string])[] = []

/**
 * What of a webhook's custom data reaches its receiver: all but the keys `type` and `action`
 * (KAZOO `webhooks_util:note_custom_data`).
 */
export function mergedPart(
  customData: Readonly<Record<string, string>> | undefined,
): readonly (readonly [key: string, value: string])[] {
  if (!customData) return NOTHING
  return Object.entries(customData).filter(([key]) => key !== 'type' && key !== 'action')
}

/** The payload as one webhook gets it: the merged part of its custom data over it, custom wins. */
export function withCustomData(
  payload: Readonly<Record<string, unknown>>,
  own: readonly (readonly [key: string, value: string])[],
): Readonly<Record<string, unknown>> {
  if (own.length === 0) return payload
  const merged = { ...payload }
  for (const [key, value] of own) {
    // Not an assignment: a key named __proto__ is data like any other.
    Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return merged
}

/** The key of the sequence number in a payload. */
export const SEQUENCE = 'sequence'
