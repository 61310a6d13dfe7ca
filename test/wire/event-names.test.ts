import { describe, expect, it } from 'vitest'
import { checkEvent } from '../../src/delivery/event.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { payloadOf } from '../../src/delivery/payload.js'
import { fromGregorian, toGregorian } from '../../src/values/greg-time.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { eventWireName, readEvents, wireEventFailure } from '../../src/wire/event-names.js'

const ACCOUNT = 'a1'
const read = (data: unknown) => readEvents(data, ACCOUNT)

describe('readEvents', () => {
  it('reads one event or a list, in the account of the path', () => {
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
    expect(read(sent)).toEqual({ events: [event] })
    expect(read([sent, { ...sent, account_id: ACCOUNT }])).toEqual({ events: [event, event] })
    expect(read([])).toEqual({ events: [] })
  })

  it('takes back every payload that a receiver gets', () => {
    for (const { sample } of catalogueOf()) {
      for (const one of sample) {
        const event = checkEvent(one, 0, () => true)
        const payload = { ...payloadOf(event, 'e1'), sequence: 1 }
        const whole = { ...event, timestampMs: fromGregorian(toGregorian(event.timestampMs)) }
        expect(readEvents(payload, event.accountId)).toEqual({ events: [whole] })
      }
    }
  })

  it('coerces form values', () => {
    const sent = {
      hook: 'h',
      call_id: '5',
      timestamp: '63000000000',
      duration_seconds: '7',
      call_forwarded: 'true',
    }
    expect(read(sent)).toMatchObject({
      events: [
        { callId: '5', timestampMs: fromGregorian(63_000_000_000), durationSeconds: 7, callForwarded: true },
      ],
    })
  })

  it('ignores what only we write, private keys and what user interfaces add', () => {
    const sent = { hook: 'h', event_id: 'e', sequence: 3, ui_metadata: {}, _x: 1, pvt_y: 2 }
    expect(read(sent)).toEqual({ events: [{ hook: 'h', accountId: ACCOUNT }] })
  })

  it.each(['callId', 'direction', 'timestampMs', 'timestamp_Ms', 'Call_id', 'call__id', 'call_id_', ''])(
    'does not take %j for a field of ours',
    (name) => {
      expect(read({ [name]: 'x' })).toEqual({
        failures: [{ path: name, rule: 'error', message: expect.any(String) }],
      })
    },
  )

  it('leaves unknown fields to the rules of events, which name them', () => {
    expect(read({ hook: 'h', caller_id_nummer: 'x' })).toMatchObject({ events: [{ callerIdNummer: 'x' }] })
    expect(wireEventFailure({ path: 'callerIdNummer', rule: 'error', message: 'm' }, false).path).toBe(
      'caller_id_nummer',
    )
  })

  it('names the event of a list, and an event of another account', () => {
    expect(read([{ hook: 'h' }, { account_id: 'b2' }, 7])).toMatchObject({
      failures: [{ path: '1.account_id' }, { path: '2', rule: 'type', target: 'object' }],
    })
    expect(read({ hook: 'h', hook_event: 'h' })).toMatchObject({ failures: [{ path: 'hook_event' }] })
  })
})

describe('wireEventFailure', () => {
  it('spells every field so that it reads back', () => {
    for (const key of Object.keys(eventSchema.properties)) {
      if (key === 'accountId') continue
      const { events } = read({ [eventWireName(key)]: null }) as { events: object[] }
      expect(Object.keys(events[0]!)).toContain(key)
    }
  })

  it('keeps the place in a list and drops that of a single event', () => {
    const failure = { path: '3.callId', rule: 'required', message: 'm' }
    expect(wireEventFailure(failure, true).path).toBe('3.call_id')
    expect(wireEventFailure(failure, false).path).toBe('call_id')
  })

  it('tells limits of time in Gregorian seconds', () => {
    const failure = {
      path: 'timestampMs',
      rule: 'minimum',
      message: 'Value must be at least 0',
      target: 0,
      value: -5,
    }
    expect(wireEventFailure(failure, false)).toEqual({
      path: 'timestamp',
      rule: 'minimum',
      message: 'Value must be at least 62167219200',
      target: 62_167_219_200,
    })
  })
})
