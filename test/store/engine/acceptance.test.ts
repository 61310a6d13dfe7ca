import { describe, expect, it } from 'vitest'
import type { Acceptance, NewDelivery, NewEvent } from '../../../src/delivery/delivery-store.js'
import { eventIndexOf } from '../../../src/delivery/event-index.js'
import {
  type AcceptanceFacts,
  type CallNumbers,
  planAcceptance,
  type StoredKey,
} from '../../../src/store/engine/acceptance.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'

const NOW = 1_000
const NODE = 3

interface Stored {
  keys?: Record<string, StoredKey>
  events?: Record<string, { sequence: number; variants: number }>
  taken?: readonly string[]
  inbox?: readonly string[]
  numbers?: Record<string, CallNumbers>
  webhooks?: readonly string[]
}

function facts({ keys = {}, events = {}, taken = [], inbox = [], numbers = {}, webhooks }: Stored = {}) {
  const result: AcceptanceFacts = {
    key: (accountId, key) => keys[`${accountId} ${key}`],
    event: (id) => events[id],
    hasWebhook: (id) => webhooks?.includes(id) ?? true,
    isTaken: ({ id }) => taken.includes(id),
    hasInboxEntry: (id) => inbox.includes(id),
    numbers: ({ callId }) => (numbers[callId!] ??= { sequence: 0, node: -1 }),
  }
  return result
}

const webhook = newWebhook()
const at = (event: NewEvent, position: number): NewEvent => ({ ...event, position })
const to = (event: NewEvent, overrides: Partial<NewDelivery> = {}) => ({
  ...newDelivery(webhook, event),
  position: event.position!,
  ...overrides,
})
const of = (
  events: readonly NewEvent[],
  deliveries: readonly NewDelivery[] = [],
  rest: Partial<Acceptance> = {},
): Acceptance => ({ events, deliveries, ...rest })
const plan = (acceptance: Acceptance, stored?: Stored, isRepeat = false) =>
  planAcceptance(acceptance, facts(stored), NODE, NOW, isRepeat)
const keyed = (key: string, bodyHash = 'hash', overrides: Partial<NewEvent> = {}) =>
  newEvent({ callId: 'call', idempotency: { key, bodyHash, untilMs: NOW + 9 }, ...overrides })
const storedKey = (id: string, overrides: Partial<StoredKey> = {}): StoredKey => ({
  id,
  sequence: 4,
  bodyHash: 'hash',
  untilMs: NOW + 1,
  ...overrides,
})

describe('planAcceptance: numbers', () => {
  it('numbers the events of a call after its last number, in order, per call', () => {
    const numbers = { a: { sequence: 6, node: NODE }, b: { sequence: 0, node: NODE } }
    const events = ['a', 'b', 'a'].map((callId) => newEvent({ callId }))
    expect(plan(of(events), { numbers })).toMatchObject({
      kind: 'write',
      events: [{ sequence: 7 }, { sequence: 1 }, { sequence: 8 }],
      mayHaveGap: false,
    })
    expect(numbers.a).toEqual({ sequence: 8, node: NODE })
  })

  it('gives no number to an event that is not numbered or belongs to no call', () => {
    const { callId: _none, ...bare } = newEvent()
    const numbers = { a: { sequence: 6, node: NODE } }
    const events = [newEvent({ callId: 'a', numbered: false }), bare]
    expect(plan(of(events), { numbers })).toMatchObject({ events: [{ sequence: 0 }, { sequence: 0 }] })
    expect(numbers.a.sequence).toBe(6)
  })

  it('reports a possible gap where another node gave the last number, once', () => {
    const numbers = { a: { sequence: 6, node: NODE + 1 }, fresh: { sequence: 0, node: -1 } }
    const planOf = (callId: string) => plan(of([newEvent({ callId })]), { numbers })
    expect([planOf('a'), planOf('a'), planOf('fresh')]).toMatchObject([
      { mayHaveGap: true },
      { mayHaveGap: false },
      { mayHaveGap: false },
    ])
  })

  it('takes no number for a refused acceptance', () => {
    const numbers = { call: { sequence: 6, node: NODE } }
    const event = newEvent({ callId: 'call' })
    const refused = plan(of([event], [to(event)]), { numbers, webhooks: [] })
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'NotFound', id: webhook.id } })
    expect(numbers.call.sequence).toBe(6)
  })
})

describe('planAcceptance: idempotency keys', () => {
  it('makes an event with a stored key a duplicate and leaves its deliveries out', () => {
    const [again, other] = [keyed('key'), newEvent({ callId: 'call' })]
    const deliveries = [to(again), to(other)]
    const result = plan(of([again, other], deliveries), { keys: { 'account key': storedKey('first') } })
    expect(result).toMatchObject({
      events: [
        { id: 'first', sequence: 4, duplicate: true },
        { id: other.id, sequence: 1, duplicate: false },
      ],
      deliveries: [deliveries[1]],
    })
  })

  it('refuses a stored key with another body, and frees a key at the end of its window', () => {
    const event = keyed('key', 'another hash')
    const stored = (untilMs: number) => ({ keys: { 'account key': storedKey('first', { untilMs }) } })
    expect(plan(of([event]), stored(NOW + 1))).toMatchObject({
      kind: 'refused',
      error: { code: 'Conflict', field: 'idempotencyKey' },
    })
    expect(plan(of([event]), stored(NOW))).toMatchObject({ events: [{ id: event.id, duplicate: false }] })
  })

  it('makes the second event with a key in one acceptance a duplicate of the first', () => {
    const events = [keyed('key'), keyed('key'), keyed('other')].map(at)
    expect(
      plan(
        of(
          events,
          events.map((event) => to(event)),
        ),
      ),
    ).toMatchObject({
      events: [
        { id: events[0]!.id, sequence: 1, duplicate: false },
        { id: events[0]!.id, sequence: 1, duplicate: true },
        { id: events[2]!.id, sequence: 2, duplicate: false },
      ],
      deliveries: [{ eventId: events[0]!.id }, { eventId: events[2]!.id }],
    })
    expect(plan(of([keyed('key'), keyed('key', 'another hash')]))).toMatchObject({
      error: { code: 'Conflict', field: 'events[1].idempotencyKey' },
    })
  })

  it('separates the keys of accounts, even where names run together', () => {
    const events = [keyed('bc', 'one', { accountId: 'a' }), keyed('c', 'two', { accountId: 'ab' })]
    expect(plan(of(events))).toMatchObject({ events: [{ duplicate: false }, { duplicate: false }] })
  })
})

describe('planAcceptance: refusals', () => {
  const event = at(newEvent(), 1)

  it('refuses a delivery of an unknown event, and an unknown body of a known one', () => {
    const unknown = { kind: 'refused', error: { code: 'NotFound', id: event.id } }
    expect(plan(of([], [to(event)]))).toMatchObject(unknown)
    expect(plan(of([], [to(event, { replayOf: 'gone' })]))).toMatchObject(unknown)
    expect(plan(of([event], [to(event, { variant: 1 })]))).toMatchObject(unknown)
    const events = { [event.id]: { sequence: 1, variants: 1 } }
    expect(plan(of([], [to(event)]), { events })).toMatchObject(unknown)
    expect(plan(of([], [to(event, { replayOf: 'old', variant: 1 })]), { events })).toMatchObject(unknown)
    expect(plan(of([], [to(event, { replayOf: 'old' })]), { events })).toMatchObject({ kind: 'write' })
  })

  it('refuses ids that are taken', () => {
    const delivery = to(event)
    const conflict = (id: string) => ({
      kind: 'refused',
      error: { code: 'Conflict', field: 'id', message: `this id is taken: ${id}` },
    })
    expect(plan(of([event]), { events: { [event.id]: { sequence: 1, variants: 1 } } })).toMatchObject(
      conflict(event.id),
    )
    expect(plan(of([event], [delivery]), { taken: [delivery.id] })).toMatchObject(conflict(delivery.id))
  })

  it('refuses an id, or a position of one webhook, that is used twice in one acceptance', () => {
    for (const count of [2, 40]) {
      const many = Array.from({ length: count }, (_, index) => to(event, { position: index }))
      expect(plan(of([event], many))).toMatchObject({ kind: 'write' })
      const last = many[count - 1]!
      const twins = [
        { ...last, id: many[0]!.id },
        { ...last, position: 0 },
      ]
      for (const twin of twins) {
        expect(plan(of([event], [...many.slice(0, -1), twin]))).toMatchObject({
          kind: 'refused',
          error: { code: 'Conflict', field: 'id', message: `this id is taken: ${twin.id}` },
        })
      }
    }
  })

  it('refuses an acceptance whose inbox entry is gone', () => {
    const acceptance = of([event], [], { inboxIds: ['a', 'b'] })
    expect(plan(acceptance, { inbox: ['a', 'b'] })).toMatchObject({ kind: 'write' })
    expect(plan(acceptance, { inbox: ['a'] })).toMatchObject({
      kind: 'refused',
      error: { code: 'Conflict', field: 'inboxIds' },
    })
  })
})

describe('planAcceptance: repeats', () => {
  it('accepts what is stored with its stored number, although the inbox entry and the ids are gone', () => {
    const event = at(newEvent({ callId: 'call' }), 1)
    const delivery = to(event)
    const stored = { events: { [event.id]: { sequence: 7, variants: 1 } }, taken: [delivery.id] }
    const acceptance = of([event], [delivery], { inboxIds: ['relayed'] })
    expect(plan(acceptance, stored, true)).toEqual({
      kind: 'stored',
      events: [{ id: event.id, sequence: 7, duplicate: false }],
      mayHaveGap: true,
    })
    expect(plan(acceptance, stored, false)).toMatchObject({ kind: 'refused' })
  })

  it('writes what is not stored', () => {
    const event = newEvent({ callId: 'call' })
    expect(plan(of([event], [to(event)]), {}, true)).toMatchObject({
      kind: 'write',
      events: [{ id: event.id, sequence: 1, duplicate: false }],
    })
  })

  it('does not take the key of the event itself for that of another one', () => {
    const [event, twin] = [keyed('key'), keyed('key')]
    const stored = {
      keys: { 'account key': storedKey(event.id) },
      events: { [event.id]: { sequence: 4, variants: 1 } },
    }
    expect(plan(of([event, twin]), stored, true)).toEqual({
      kind: 'stored',
      events: [
        { id: event.id, sequence: 4, duplicate: false },
        { id: event.id, sequence: 4, duplicate: true },
      ],
      mayHaveGap: true,
    })
  })

  it('recognizes stored replays by their deliveries', () => {
    const event = at(newEvent(), 1)
    const replay = to(event, { replayOf: 'old', position: 2 })
    const stored = { events: { [event.id]: { sequence: 4, variants: 1 } }, taken: [replay.id] }
    expect(plan(of([], [replay]), stored, true)).toEqual({ kind: 'stored', events: [], mayHaveGap: false })
    const other = to(event, { replayOf: 'another', position: 3 })
    expect(plan(of([], [replay, other]), stored, true)).toMatchObject({ kind: 'refused' })
  })
})

it('eventIndexOf finds an event wherever it is, and -1 for another one', () => {
  const events = [newEvent(), newEvent(), newEvent()]
  for (const near of [0, 1, 2]) {
    expect(events.map((event) => eventIndexOf(events, event.id, near))).toEqual([0, 1, 2])
    expect(eventIndexOf(events, 'other', near)).toBe(-1)
  }
})
