import { describe, expect, it } from 'vitest'
import { checkEvent } from '../../src/delivery/event.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { payloadOf } from '../../src/delivery/payload.js'
import { fromGregorian, toGregorian } from '../../src/values/gregorian-time.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { isMetaHook } from '../../src/webhooks/meta-hooks.js'
import { parseEvents, toWireEventName, toWireFailure } from '../../src/wire/event-names.js'

const ACCOUNT = 'a1'
const parse = (data: unknown) => parseEvents(data, ACCOUNT)

describe('parseEvents', () => {
  it('parses one event or a list, for the account of the path', () => {
    const sent = {
      hook: 'channel_create',
      call_id: 'c',
      call_direction: 'inbound',
      timestamp: 63_000_000_000,
    }
    const event = {
      hook: 'channel_create',
      callId: 'c',
      direction: 'inbound',
      timestampMs: fromGregorian(63_000_000_000),
      accountId: ACCOUNT,
    }
    expect(parse(sent)).toEqual({ events: [event] })
    expect(parse([sent, { ...sent, account_id: ACCOUNT }])).toEqual({ events: [event, event] })
    expect(parse([])).toEqual({ events: [] })
  })

  it('accepts every payload of a call that a receiver gets', () => {
    for (const { id, sample } of catalogueOf()) {
      if (isMetaHook(id)) continue
      for (const input of sample) {
        const event = checkEvent({ ...input, timestampMs: 1_700_000_000_123 }, 0, () => true)
        const payload = { ...payloadOf(event, 'e1'), sequence: 1 }
        expect(parseEvents(payload, event.accountId)).toEqual({ events: [event] })
      }
    }
  })

  it("takes KAZOO's names of the id and the direction of a message", () => {
    const event = { hook: 'sms', callId: 'm-1', direction: 'inbound', accountId: ACCOUNT }
    expect(parse({ hook_event: 'sms', id: 'm-1', direction: 'inbound' })).toEqual({ events: [event] })
    expect(parse({ hook: 'sms', call_id: 'm-1', id: 'x', call_direction: 'inbound' })).toEqual({
      events: [event],
    })
    expect(parse({ hook: 'channel_create', call_id: 'c', direction: 'inbound' })).toHaveProperty('failures')
  })

  it('coerces form values', () => {
    const sent = {
      hook: 'h',
      call_id: '5',
      timestamp: '63000000000',
      duration_seconds: '7',
      call_forwarded: 'true',
    }
    expect(parse(sent)).toMatchObject({
      events: [
        { callId: '5', timestampMs: fromGregorian(63_000_000_000), durationSeconds: 7, callForwarded: true },
      ],
    })
  })

  it('takes the time of happened_at, with milliseconds', () => {
    const timestamp = toGregorian(1_700_000_000_999)
    for (const time of [{}, { timestamp }, { timestamp: `${timestamp}` }]) {
      const sent = { hook: 'h', ...time, happened_at: '2023-11-14T23:13:20.999+01:00' }
      expect(parse(sent)).toMatchObject({ events: [{ timestampMs: 1_700_000_000_999 }] })
      expect(parse(Object.fromEntries(Object.entries(sent).reverse()))).toEqual(parse(sent))
    }
  })

  it.each([
    [{ happened_at: 1_700_000_000 }, 'wrong_format'],
    [{ happened_at: null }, 'wrong_format'],
    [{ happened_at: 'yesterday' }, 'wrong_format'],
    [{ happened_at: '2023-02-30T00:00:00Z' }, 'wrong_format'],
    [{ happened_at: '1969-12-31T23:59:59Z' }, 'minimum'],
    [{ happened_at: '2023-11-14T22:13:20.999Z', timestamp: toGregorian(1_700_000_001_000) }, 'error'],
  ])('reports %j by its name', (time, rule) => {
    expect(parse([{ hook: 'h', ...time }])).toMatchObject({ failures: [{ path: '0.happened_at', rule }] })
  })

  it('ignores keys that only the service sets, private keys and ui_metadata', () => {
    const sent = { hook: 'h', event_id: 'e', sequence: 3, ui_metadata: {}, _x: 1, pvt_y: 2 }
    expect(parse(sent)).toEqual({ events: [{ hook: 'h', accountId: ACCOUNT }] })
  })

  it.each(['callId', 'direction', 'timestampMs', 'timestamp_Ms', 'Call_id', 'call__id', 'call_id_', ''])(
    'reports %j as an unknown field',
    (name) => {
      expect(parse({ [name]: 'x' })).toEqual({
        failures: [{ path: name, rule: 'error', message: expect.any(String) }],
      })
    },
  )

  it('leaves unknown snake_case fields to the event schema', () => {
    expect(parse({ hook: 'h', caller_id_nummer: 'x' })).toMatchObject({ events: [{ callerIdNummer: 'x' }] })
    expect(toWireFailure({ path: 'callerIdNummer', rule: 'error', message: 'm' }).path).toBe(
      'caller_id_nummer',
    )
  })

  it('names the index of an invalid event in a list, and an event of another account', () => {
    expect(parse([{ hook: 'h' }, { account_id: 'b2' }, 7])).toMatchObject({
      failures: [{ path: '1.account_id' }, { path: '2', rule: 'type', target: 'object' }],
    })
    expect(parse({ hook: 'h', hook_event: 'h' })).toMatchObject({ failures: [{ path: 'hook_event' }] })
  })
})

describe('toWireFailure', () => {
  it('has a wire name for every field that parses back to the field', () => {
    for (const key of Object.keys(eventSchema.properties)) {
      if (key === 'accountId') continue
      const { events } = parse({ [toWireEventName(key)]: null }) as { events: object[] }
      expect(Object.keys(events[0]!)).toContain(key)
    }
  })

  it('writes the place in a list as an index', () => {
    const pathOf = (path: string) => toWireFailure({ path, rule: 'required', message: 'm' }).path
    expect(['events[3].callId', 'events[12]', 'callId'].map(pathOf)).toEqual(['3.call_id', '12', 'call_id'])
  })

  it('converts limits of timestamp to Gregorian seconds', () => {
    const failure = {
      path: 'timestampMs',
      rule: 'minimum',
      message: 'Value must be at least 0',
      target: 0,
      value: -5,
    }
    expect(toWireFailure(failure)).toEqual({
      path: 'timestamp',
      rule: 'minimum',
      message: 'Value must be at least 62167219200',
      target: 62_167_219_200,
    })
  })
})
