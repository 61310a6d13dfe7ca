import { describe, expect, it } from 'vitest'
import type { CheckedEvent } from '../../src/delivery/event.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { customDataEntries, mergeCustomData, payloadOf } from '../../src/delivery/payload.js'

/** Every field of an event with its value, its payload name and payload value, in payload order. */
const FIELDS: readonly (readonly [string, unknown, string, unknown])[] = [
  ['hook', 'channel_destroy', 'hook_event', 'channel_destroy'],
  ['accountId', 'acc', 'account_id', 'acc'],
  ['callId', 'leg-a', 'call_id', 'leg-a'],
  ['callGroupId', 'leg-a', 'call_group_id', 'leg-a'],
  ['otherLegCallId', 'leg-b', 'other_leg_call_id', 'leg-b'],
  ['direction', 'inbound', 'call_direction', 'inbound'],
  ['timestampMs', 1_700_000_000_999, 'timestamp', 63_867_219_200],
  ['from', 'a@r', 'from', 'a@r'],
  ['to', 'b@r', 'to', 'b@r'],
  ['request', 'c@r', 'request', 'c@r'],
  ['inception', 'd@r', 'inception', 'd@r'],
  ['callerIdName', 'Ada', 'caller_id_name', 'Ada'],
  ['callerIdNumber', '+1', 'caller_id_number', '+1'],
  ['calleeIdName', 'Bob', 'callee_id_name', 'Bob'],
  ['calleeIdNumber', '+2', 'callee_id_number', '+2'],
  [
    'answeredBy',
    { number: '+2', name: 'Bob', callId: 'leg-b' },
    'answered_by',
    { number: '+2', name: 'Bob', call_id: 'leg-b' },
  ],
  ['endpoint', { kind: 'trunk', name: 't' }, 'endpoint', { kind: 'trunk', name: 't' }],
  ['ownerId', 'o', 'owner_id', 'o'],
  ['resellerId', 'r', 'reseller_id', 'r'],
  ['authorizingId', 'd', 'authorizing_id', 'd'],
  ['authorizingType', 'device', 'authorizing_type', 'device'],
  ['callForwarded', false, 'call_forwarded', false],
  ['emergencyResourceUsed', true, 'emergency_resource_used', true],
  ['localResourceUsed', true, 'local_resource_used', true],
  ['localResourceId', 'l', 'local_resource_id', 'l'],
  ['isInternalLeg', false, 'is_internal_leg', false],
  ['customChannelVars', { a: 1 }, 'custom_channel_vars', { a: 1 }],
  ['customApplicationVars', {}, 'custom_application_vars', {}],
  ['originalNumber', '3', 'original_number', '3'],
  ['otherLegDestinationNumber', '4', 'other_leg_destination_number', '4'],
  ['hangupCause', 'NORMAL_CLEARING', 'hangup_cause', 'NORMAL_CLEARING'],
  ['hangupCode', 'sip:200', 'hangup_code', 'sip:200'],
  ['durationSeconds', 0, 'duration_seconds', 0],
  ['ringingSeconds', 2, 'ringing_seconds', 2],
  ['billingSeconds', 3, 'billing_seconds', 3],
  ['durationMs', 5_900, 'duration_ms', 5_900],
  ['ringingMs', 2_000, 'ringing_ms', 2_000],
  ['billingMs', 3_900, 'billing_ms', 3_900],
  ['transferType', 'blind', 'transfer_type', 'blind'],
  ['transferTo', '5', 'transfer_to', '5'],
  ['targetCallId', 'leg-c', 'target_call_id', 'leg-c'],
  ['eventName', 'PARK_PARKED', 'event_name', 'PARK_PARKED'],
  ['parkingSlot', '701', 'parking_slot', '701'],
  ['fromUser', 'a', 'from_user', 'a'],
  ['fromRealm', 'r', 'from_realm', 'r'],
  ['toUser', 'b', 'to_user', 'b'],
  ['toRealm', 'r', 'to_realm', 'r'],
  ['voicemailBox', '1001', 'voicemail_box', '1001'],
  ['voicemailId', 'm1', 'voicemail_id', 'm1'],
  ['voicemailLengthMs', 4000, 'voicemail_length', 4000],
  ['callBridged', false, 'call_bridged', false],
  ['messageLeft', false, 'message_left', false],
  ['queueId', 'support', 'queue_id', 'support'],
  ['queuePosition', 1, 'queue_position', 1],
  ['queueLeaveReason', 'abandoned', 'queue_leave_reason', 'abandoned'],
  ['waitingSeconds', 6, 'waiting_seconds', 6],
  ['agentId', 'x', 'agent_id', 'x'],
  ['agentCallId', 'leg-d', 'agent_call_id', 'leg-d'],
  ['agentNumber', '1003', 'agent_number', '1003'],
  ['talkingSeconds', 42, 'talking_seconds', 42],
  ['dtmfDigit', '#', 'dtmf_digit', '#'],
  ['dtmfDurationMs', 90, 'dtmf_duration_ms', 90],
  ['path', '/r/a.wav', 'path', '/r/a.wav'],
  ['reason', 'hangup', 'reason', 'hangup'],
  ['name', 'room1', 'name', 'room1'],
  ['member', '7', 'member', '7'],
  ['members', 3, 'members', 3],
  ['username', '1001', 'username', '1001'],
  ['realm', 'acme.example', 'realm', 'acme.example'],
  ['contact', '<sip:1001@192.0.2.7>', 'contact', '<sip:1001@192.0.2.7>'],
  ['userAgent', 'Yealink', 'user_agent', 'Yealink'],
  ['expires', 3_600, 'expires', 3_600],
  ['body', 'Hi', 'body', 'Hi'],
  ['status', 'delivered', 'status', 'delivered'],
  ['documentId', 'u', 'id', 'u'],
  ['documentType', 'user', 'type', 'user'],
  ['documentAction', 'doc_edited', 'action', 'doc_edited'],
]

/** Of an event without a call; `callId` is then the ordering key too. */
const WITHOUT_CALL: typeof FIELDS = [
  ['orderingKey', 'agent-7', 'ordering_key', 'agent-7'],
  ['data', { seat: 4 }, 'data', { seat: 4 }],
]

const complete = Object.fromEntries(FIELDS.map(([key, value]) => [key, value])) as unknown as CheckedEvent

describe('payloadOf', () => {
  it('has the names, order and times of KAZOO, and the time in ISO 8601', () => {
    const { happened_at: happenedAt, ...others } = payloadOf(complete, 'e1')
    const expected = [...FIELDS.map(([, , name, value]) => [name, value]), ['event_id', 'e1']]
    expect(Object.entries(others)).toEqual(expected)
    expect(happenedAt).toBe('2023-11-14T22:13:20.999Z')
  })

  it('contains every field of the schema except the idempotency key', () => {
    const fields = [...FIELDS, ...WITHOUT_CALL].map(([key]) => key)
    expect([...fields, 'idempotencyKey'].sort()).toEqual(Object.keys(eventSchema.properties).sort())
    expect(Object.keys(payloadOf({ ...complete, idempotencyKey: 'k' }, 'e1'))).toHaveLength(FIELDS.length + 2)
  })

  it("has KAZOO's names of the id and the direction of a message", () => {
    const message = {
      hook: 'sms',
      accountId: 'a',
      callId: 'm-1',
      timestampMs: 0,
      direction: 'inbound',
    } as const
    expect(payloadOf(message, 'e1')).toMatchObject({
      call_id: 'm-1',
      id: 'm-1',
      call_direction: 'inbound',
      direction: 'inbound',
    })
  })

  it('has the ordering key in place of the call id', () => {
    const event = { ...complete, ...Object.fromEntries(WITHOUT_CALL.map(([key, value]) => [key, value])) }
    const { call_id: _, ...expected } = payloadOf(complete, 'e1')
    expect(payloadOf(event, 'e1')).toEqual({
      ...expected,
      ...Object.fromEntries(WITHOUT_CALL.map(([, , name, value]) => [name, value])),
    })
  })

  it('leaves out absent fields', () => {
    const event = {
      hook: 'h',
      accountId: 'a',
      callId: 'c',
      timestampMs: 0,
      from: undefined,
    } as unknown as CheckedEvent
    expect(Object.keys(payloadOf(event, 'e1'))).toEqual([
      'hook_event',
      'account_id',
      'call_id',
      'timestamp',
      'happened_at',
      'event_id',
    ])
  })
})

describe('custom data', () => {
  const merged = (payload: Record<string, unknown>, custom: Record<string, string> | undefined) =>
    mergeCustomData(payload, customDataEntries(custom))

  it('takes precedence over the event, and keeps the position of a key that both have', () => {
    expect(Object.entries(merged({ a: 1, b: 2 }, { z: 'new', a: 'mine' }))).toEqual([
      ['a', 'mine'],
      ['b', 2],
      ['z', 'new'],
    ])
  })

  it('cannot set type or action', () => {
    expect(merged({ type: 'of the event' }, { type: 'x', action: 'y', kind: 'z' })).toEqual({
      type: 'of the event',
      kind: 'z',
    })
  })

  it('may have a key named __proto__, which is ordinary data', () => {
    const custom = JSON.parse('{"__proto__":"p","constructor":"c"}')
    const payload = merged({ a: 1 }, custom)
    expect(JSON.stringify(payload)).toBe('{"a":1,"__proto__":"p","constructor":"c"}')
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype)
  })

  it('does not change the payload itself', () => {
    const payload = Object.freeze({ a: 1 })
    expect(merged(payload, undefined)).toBe(payload)
    expect(merged(payload, { a: '2' })).toEqual({ a: '2' })
    expect(payload).toEqual({ a: 1 })
  })
})
