import fc from 'fast-check'
import type { PublishedEvent } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import {
  type Binding,
  encodeRoutingKey,
  matchesBinding,
  parseBinding,
} from '../../../adapters/blackhole/bindings.js'
import { callEventOf } from '../../../adapters/blackhole/call-event.js'
import { eventFrame, parseRequest, readSelection, refusals } from '../../../adapters/blackhole/frames.js'
import { hostileText } from '../../support/hostile-text.js'

const EVENT: PublishedEvent = {
  hook: 'channel_destroy',
  accountId: 'acme',
  callId: 'a84b4c76@10.0.0.1',
  otherLegCallId: 'leg-2',
  direction: 'inbound',
  timestampMs: 1_767_225_600_000,
  from: '356@acme.example.com',
  to: '*97@acme.example.com',
  request: '*97@acme.example.com',
  callerIdName: 'web phone',
  callerIdNumber: '356',
  ownerId: 'ada',
  authorizingId: 'device-1',
  authorizingType: 'device',
  hangupCause: 'NORMAL_CLEARING',
  hangupCode: 'sip:200',
  durationSeconds: 32,
  ringingSeconds: 0,
  billingSeconds: 31,
  customChannelVars: { 'Account-ID': 'forged', 'Bridge-ID': 'b', Nested: { 'Deep-Key': [{ 'A-B': 1 }] } },
  customApplicationVars: { 'Queue-Name': 'sales' },
  eventId: 'event-1',
  sequence: 3,
}

const binding = (key: string) => parseBinding(key) as Binding

describe('a binding', () => {
  it('names an event and a call, each of which may be a wildcard', () => {
    const event = callEventOf(EVENT, 'node-1')!
    const matching = [
      'call.*.*',
      'call.CHANNEL_DESTROY.*',
      'call.CHANNEL_DESTROY.a84b4c76%4010%2E0%2E0%2E1',
      'call.*.a84b4c76@10.0.0.1',
    ]
    for (const key of matching) expect(matchesBinding(binding(key), event), key).toBe(true)
    for (const key of ['call.CHANNEL_CREATE.*', 'call.*.a84b4c76', 'call.CHANNEL_DESTROY.leg-2'])
      expect(matchesBinding(binding(key), event), key).toBe(false)
  })

  it('is refused in the words of KAZOO', () => {
    expect(parseBinding('call.CHANNEL_EXECUTE.*')).toBe('event CHANNEL_EXECUTE not supported')
    expect(parseBinding('call')).toBe('invalid format for call subscription : ')
    expect(parseBinding('call.CHANNEL_CREATE')).toBe('invalid format for call subscription : CHANNEL_CREATE')
    expect(parseBinding('call.#')).toBe('invalid format for call subscription : #')
    expect(parseBinding('call.*.#')).toBe('invalid format for call subscription : *, #')
    for (const key of ['', '*', 'fax.status.*', 'object.doc_created.user', 'Call.*.*', 'call-x.*.*'])
      expect(parseBinding(key), key).toBe('no available subscriptions to requested binding')
    expect(parseBinding(`call.*.${'x'.repeat(1_100)}`)).toBe('invalid binding : at most 1024 characters')
  })

  it('of any text is refused or has the text as its key', () => {
    fc.assert(
      fc.property(fc.tuple(fc.constantFrom('call.*.', 'call.', ''), hostileText()), ([start, rest]) => {
        const parsed = parseBinding(start + rest)
        return typeof parsed === 'string' || parsed.key === start + rest
      }),
    )
  })

  it('of a call matches its plain and its encoded id', () => {
    const anyCallId = hostileText({ minLength: 1, maxLength: 60 }).filter((id) => id !== '#')
    fc.assert(
      fc.property(anyCallId, (callId) => {
        const event = callEventOf({ ...EVENT, callId }, 'n')!
        expect(event.routedCallId).toMatch(/^[A-Za-z0-9_~%+-]+$/)
        expect(matchesBinding(binding(`call.CHANNEL_DESTROY.${callId}`), event)).toBe(true)
        expect(matchesBinding(binding(`call.*.${event.routedCallId}`), event)).toBe(true)
      }),
    )
  })
})

describe('a routing key', () => {
  it('is encoded as kz_amqp_util does', () => {
    expect(encodeRoutingKey('long.routing.key')).toBe('long%2Erouting%2Ekey')
    expect(encodeRoutingKey('a b*#é/\n')).toBe('a+b%2A%23%C3%A9%2F%0A')
  })
})

describe('the frame of an event', () => {
  it('has the keys of KAZOO, and the payload of webhooks with lower_snake keys', () => {
    const event = callEventOf(EVENT, 'node-1')!
    expect(JSON.parse(eventFrame(binding('call.*.*'), event))).toEqual({
      action: 'event',
      subscribed_key: 'call.*.*',
      subscription_key: 'call.acme.CHANNEL_DESTROY.*',
      name: 'CHANNEL_DESTROY',
      routing_key: 'call.acme.CHANNEL_DESTROY.a84b4c76%4010%2E0%2E0%2E1',
      data: {
        app_name: 'hookswitch',
        app_version: expect.any(String),
        event_category: 'call_event',
        event_name: 'CHANNEL_DESTROY',
        msg_id: 'event-1',
        node: 'node-1',
        account_id: 'acme',
        call_id: 'a84b4c76@10.0.0.1',
        other_leg_call_id: 'leg-2',
        call_direction: 'inbound',
        timestamp: 63_934_444_800,
        happened_at: '2026-01-01T00:00:00.000Z',
        from: '356@acme.example.com',
        to: '*97@acme.example.com',
        request: '*97@acme.example.com',
        caller_id_name: 'web phone',
        caller_id_number: '356',
        owner_id: 'ada',
        authorizing_id: 'device-1',
        authorizing_type: 'device',
        hangup_cause: 'NORMAL_CLEARING',
        hangup_code: 'sip:200',
        duration_seconds: 32,
        ringing_seconds: 0,
        billing_seconds: 31,
        event_id: 'event-1',
        sequence: 3,
        custom_channel_vars: {
          account_id: 'acme',
          owner_id: 'ada',
          authorizing_id: 'device-1',
          authorizing_type: 'device',
          bridge_id: 'b',
          nested: { deep_key: [{ a_b: 1 }] },
        },
        custom_application_vars: { queue_name: 'sales' },
      },
    })
  })

  it('exists for call events only, and for parking by what happened', () => {
    const nameOf = (hook: string, eventName?: PublishedEvent['eventName']) =>
      callEventOf({ ...EVENT, hook, ...(eventName && { eventName }) }, 'n')?.name
    const hooks = ['create', 'answer', 'bridge', 'hold', 'unhold', 'destroy'].map((name) => `channel_${name}`)
    expect(hooks.map((hook) => nameOf(hook))).toEqual(hooks.map((hook) => hook.toUpperCase()))
    expect(nameOf('parking', 'PARK_RETRIEVED')).toBe('PARK_RETRIEVED')
    for (const hook of ['parking', 'channel_dtmf', 'object', 'missed_call', 'park_parked_'])
      expect(nameOf(hook), hook).toBeUndefined()
    expect(nameOf('channel_dtmf', 'PARK_PARKED')).toBeUndefined()
  })
})

describe('a request', () => {
  it('is a JSON object with an action', () => {
    expect(parseRequest('{"action":"ping","auth_token":"t","request_id":7,"data":{"a":1}}')).toEqual({
      action: 'ping',
      requestId: '7',
      token: 't',
      data: { a: 1 },
    })
    expect(parseRequest('{"action":"ping","auth_token":"","request_id":"","data":null}')).toEqual({
      action: 'ping',
      requestId: undefined,
      token: undefined,
      data: undefined,
    })
    for (const text of ['', '{', '[]', '"ping"', 'null', '1'])
      expect(parseRequest(text), text).toMatchObject({ problem: expect.stringMatching(/^invalid JSON/) })
    for (const text of ['{}', '{"action":""}', '{"action":{}}'])
      expect(parseRequest(text), text).toMatchObject({ problem: 'missing required keys : action' })
    expect(parseRequest('{"action":"subscribe","data":[]}')).toMatchObject({
      problem: 'data must be an object',
    })
  })

  it('keeps its id in an error, unless the id itself is wrong', () => {
    expect(parseRequest('{"request_id":"r-1"}')).toMatchObject({ requestId: 'r-1' })
    for (const id of ['x'.repeat(129), 'a\nb', '\ud800', {}, [], true])
      expect(parseRequest(JSON.stringify({ action: 'ping', request_id: id }))).toEqual({
        requestId: undefined,
        problem: 'request_id must have 1 to 128 printable characters',
      })
  })

  it('of any text is read or refused', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText(), fc.json()), (text) => typeof parseRequest(text) === 'object'),
    )
  })
})

describe('the selection of a request', () => {
  it('has one binding, or a list; one takes precedence', () => {
    const keysOf = (data: object) => {
      const selection = readSelection({ account_id: 'a', ...data }, false)
      return 'errors' in selection ? selection.errors : selection.bindings.map(({ key }) => key)
    }
    expect(keysOf({ binding: 'call.*.*', bindings: ['call.CHANNEL_CREATE.*'] })).toEqual(['call.*.*'])
    const two = ['call.CHANNEL_CREATE.*', 'call.CHANNEL_ANSWER.*']
    expect(keysOf({ bindings: [...two, two[0]] })).toEqual(two)
    expect(keysOf({ binding: two })).toEqual(two)
  })

  it('is refused with everything that is wrong', () => {
    const errors = (data: Record<string, unknown> | undefined, mayOmitAccount = false) =>
      readSelection(data, mayOmitAccount)
    expect(errors(undefined)).toEqual({ errors: ['missing required keys in data object'] })
    expect(errors({})).toEqual({ errors: ['missing required keys in data object'] })
    expect(errors({ name: 'x' })).toEqual({ errors: ['missing required keys : account_id, binding'] })
    expect(errors({ binding: 'call.*.*' })).toEqual({ errors: ['missing required keys : account_id'] })
    expect(errors({ binding: 'call.*.*' }, true)).toMatchObject({ accountId: undefined })
    expect(errors({ account_id: 5, binding: 'call.*.*' })).toEqual({
      errors: ['account_id must be a string'],
    })
    for (const value of [[], [1], {}, 5, [['call.*.*']]])
      expect(errors({ account_id: 'a', bindings: value })).toEqual({
        errors: ['binding must be a string, and bindings a list of strings'],
      })
    const bindings = ['call.X.*', 'fax.status.*', 'call.X.a']
    expect(errors({ account_id: 'a', bindings })).toEqual({
      errors: ['event X not supported', 'no available subscriptions to requested binding'],
    })
  })

  it('has the valid ones of a list, and names the others', () => {
    const bindings = ['call.X.*', 'call.*.*', 7, 'call.CHANNEL_CREATE.*', null]
    const selection = readSelection({ account_id: 'a', bindings }, false)
    if ('errors' in selection) throw new Error('refused')
    expect(selection.bindings.map(({ key }) => key)).toEqual(['call.*.*', 'call.CHANNEL_CREATE.*'])
    expect(refusals(selection)).toEqual({
      refused: ['call.X.*', 7, null],
      errors: ['event X not supported', 'binding must be a string, and bindings a list of strings'],
    })
  })
})
