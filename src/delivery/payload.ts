import { toGregorian } from '../values/greg-time.js'
import type { CheckedEvent } from './event.js'

/**
 * The payload of a channel event as receivers know it from KAZOO's webhooks (`webhooks_channel_util:base_hook_event`):
 * snake_case, times in Gregorian seconds, what is absent left out. The one place outside `wire` that knows these names.
 */
const NAMES: readonly (readonly [keyof CheckedEvent, string])[] = [
  ['accountId', 'account_id'],
  ['callId', 'call_id'],
  ['otherLegCallId', 'other_leg_call_id'],
  ['direction', 'call_direction'],
  ['timestampMs', 'timestamp'],
  ['from', 'from'],
  ['to', 'to'],
  ['request', 'request'],
  ['inception', 'inception'],
  ['callerIdName', 'caller_id_name'],
  ['callerIdNumber', 'caller_id_number'],
  ['calleeIdName', 'callee_id_name'],
  ['calleeIdNumber', 'callee_id_number'],
  ['ownerId', 'owner_id'],
  ['resellerId', 'reseller_id'],
  ['authorizingId', 'authorizing_id'],
  ['authorizingType', 'authorizing_type'],
  ['callForwarded', 'call_forwarded'],
  ['emergencyResourceUsed', 'emergency_resource_used'],
  ['localResourceUsed', 'local_resource_used'],
  ['localResourceId', 'local_resource_id'],
  ['isInternalLeg', 'is_internal_leg'],
  ['customChannelVars', 'custom_channel_vars'],
  ['customApplicationVars', 'custom_application_vars'],
  ['originalNumber', 'original_number'],
  ['otherLegDestinationNumber', 'other_leg_destination_number'],
  ['hangupCause', 'hangup_cause'],
  ['hangupCode', 'hangup_code'],
  ['durationSeconds', 'duration_seconds'],
  ['ringingSeconds', 'ringing_seconds'],
  ['billingSeconds', 'billing_seconds'],
]

/** The payload of an event, all but its sequence number, which the store gives. */
export function payloadOf(event: CheckedEvent, eventId: string): Record<string, unknown> {
  const payload: Record<string, unknown> = { hook_event: event.hook }
  for (const [key, name] of NAMES) {
    const value = event[key]
    if (value === undefined || value === null) continue
    payload[name] = key === 'timestampMs' ? toGregorian(value as number) : value
  }
  payload.event_id = eventId
  return payload
}

/**
 * What of a webhook's custom data reaches its receiver: all but the keys `type` and `action`
 * (KAZOO `webhooks_util:note_custom_data`).
 */
export function mergedPart(
  customData: Readonly<Record<string, string>> | undefined,
): readonly (readonly [key: string, value: string])[] {
  return Object.entries(customData ?? {}).filter(([key]) => key !== 'type' && key !== 'action')
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
