import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccountBuffer } from '../../../../adapters/telephony/source/account-buffer.js'
import type { LegUpdate, PendingEvent } from '../../../../adapters/telephony/source/mapped-events.js'

const pendingEvent = (
  callId: string,
  timestampMs: number,
  hook: PendingEvent['hook'] = 'channel_create',
): PendingEvent => ({
  hook,
  callId,
  timestampMs,
})
const update = (callId: string, times: readonly number[], rest: Partial<LegUpdate> = {}): LegUpdate => ({
  callId,
  accountId: undefined,
  events: times.map((ms) => pendingEvent(callId, ms)),
  isEnded: false,
  ...rest,
})
const limits = { maxWaitMs: 1_000, maxEventsPerLeg: 3, maxLegs: 2 }

describe('the account buffer', () => {
  it('releases the events in order and with their times when the account becomes known', () => {
    const buffer = createAccountBuffer(limits)
    expect(buffer.add(update('a', [10]), 0)).toEqual({ ready: [], unknown: [] })
    expect(buffer.add(update('a', [20]), 5)).toEqual({ ready: [], unknown: [] })
    const { ready } = buffer.add(update('a', [30], { accountId: 'acme' }), 9)
    expect(ready.map(({ accountId, timestampMs }) => [accountId, timestampMs])).toEqual([
      ['acme', 10],
      ['acme', 20],
      ['acme', 30],
    ])
    expect(buffer.size()).toBe(0)
  })

  it('releases the events at an update that has only the account', () => {
    const buffer = createAccountBuffer(limits)
    buffer.add(update('a', [10]), 0)
    expect(buffer.add(update('a', [], { accountId: 'acme' }), 1).ready).toHaveLength(1)
  })

  it('returns all buffered events as unknown when the leg ends', () => {
    const buffer = createAccountBuffer(limits)
    buffer.add(update('a', [10]), 0)
    expect(buffer.add(update('a', [20], { isEnded: true }), 1).unknown).toEqual([
      { callId: 'a', reason: 'ended', events: [pendingEvent('a', 10), pendingEvent('a', 20)] },
    ])
    expect(buffer.size()).toBe(0)
  })

  it('returns events as unknown after maxWaitMs and not before', () => {
    const buffer = createAccountBuffer(limits)
    buffer.add(update('a', [10]), 100)
    buffer.add(update('a', [20]), 900)
    expect(buffer.nextExpiryMs()).toBe(1_100)
    expect(buffer.expire(1_099)).toEqual({ unknown: [], overdue: [] })
    expect(buffer.expire(1_100)).toEqual({
      unknown: [{ callId: 'a', reason: 'waited', events: [pendingEvent('a', 10), pendingEvent('a', 20)] }],
      overdue: [],
    })
    expect(buffer.nextExpiryMs()).toBeUndefined()
  })

  it('returns a leg that waits for its end as overdue after 1, 2, 4, 8 … times maxWaitMs', () => {
    const buffer = createAccountBuffer({ ...limits, waitsForEnd: true })
    buffer.add(update('a', [10]), 0)
    const overdueAt: number[] = []
    for (let times = 1; times <= 20; times += 1) {
      expect(buffer.nextExpiryMs()).toBe(times * 1_000)
      const { unknown, overdue } = buffer.expire(times * 1_000)
      expect(unknown).toEqual([])
      if (overdue.length > 0) overdueAt.push(times)
    }
    expect(overdueAt).toEqual([1, 2, 4, 8, 16])
    expect(buffer.add(update('a', [20], { accountId: 'acme', isEnded: true }), 21_000).ready).toHaveLength(2)
    expect(buffer.nextExpiryMs()).toBeUndefined()
  })

  it('returns a leg that waits for its end as overdue at most once a second', () => {
    const buffer = createAccountBuffer({ ...limits, maxWaitMs: 0, waitsForEnd: true })
    buffer.add(update('a', [10]), 5)
    expect(buffer.expire(5).overdue).toEqual(['a'])
    expect(buffer.nextExpiryMs()).toBe(1_005)
  })

  it('gives up the oldest legs when all have too many events', () => {
    const buffer = createAccountBuffer({ ...limits, maxLegs: 10, maxEvents: 4, waitsForEnd: true })
    for (const leg of ['a', 'b']) expect(buffer.add(update(leg, [1, 2]), 0).unknown).toEqual([])
    buffer.expire(1_000)
    expect(buffer.add(update('c', [3]), 1_001).unknown).toMatchObject([{ callId: 'a', reason: 'too_many' }])
    expect(buffer.held().events).toBe(3)
    expect(buffer.add(update('c', [4]), 1_002).unknown).toEqual([])
  })

  it('returns a leg with too many events, and the oldest of too many legs', () => {
    const buffer = createAccountBuffer(limits)
    expect(buffer.add(update('a', [1, 2, 3]), 0).unknown).toEqual([])
    expect(buffer.add(update('a', [4]), 0).unknown).toMatchObject([{ callId: 'a', reason: 'too_many' }])
    buffer.add(update('b', [1]), 0)
    buffer.add(update('c', [1]), 0)
    expect(buffer.add(update('d', [1]), 0).unknown).toEqual([
      { callId: 'b', reason: 'too_many', events: [pendingEvent('b', 1)] },
    ])
  })

  it('gives up the later events of a leg too, whose begin no receiver has seen, until it has ended', () => {
    const buffer = createAccountBuffer(limits)
    buffer.add(update('a', [10]), 0)
    buffer.expire(1_000)
    const answer = buffer.add(update('a', [20], { accountId: 'acme' }), 1_001)
    expect(answer).toEqual({
      ready: [],
      unknown: [{ callId: 'a', reason: 'waited', events: [pendingEvent('a', 20)] }],
    })
    expect(buffer.add(update('a', [], { accountId: 'acme' }), 1_002)).toEqual({ ready: [], unknown: [] })
    expect(buffer.add(update('a', [30], { accountId: 'acme', isEnded: true }), 1_003).ready).toEqual([])
    expect(buffer.add(update('a', [40], { accountId: 'acme' }), 1_004).ready).toHaveLength(1)
  })

  it('returns everything when it is flushed', () => {
    const buffer = createAccountBuffer(limits)
    buffer.add(update('a', [1]), 0)
    expect(buffer.flush()).toEqual([{ callId: 'a', reason: 'closed', events: [pendingEvent('a', 1)] }])
    expect(buffer.flush()).toEqual([])
  })

  it('never loses, duplicates or reorders an event', () => {
    const step = fc.record({
      leg: fc.constantFrom('a', 'b', 'c', 'd'),
      hasAccount: fc.boolean(),
      events: fc.integer({ min: 0, max: 4 }),
      ended: fc.boolean(),
      afterMs: fc.integer({ min: 0, max: 700 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const buffer = createAccountBuffer(limits)
        const out = new Map<string, number[]>()
        const given = new Map<string, number[]>()
        const release = (callId: string, times: readonly number[]) =>
          out.set(callId, [...(out.get(callId) ?? []), ...times])
        let nowMs = 0
        let serial = 0
        for (const { leg, hasAccount, events, ended, afterMs } of steps) {
          nowMs += afterMs
          for (const { callId, events } of buffer.expire(nowMs).unknown)
            release(
              callId,
              events.map((d) => d.timestampMs),
            )
          const times = Array.from({ length: events }, () => ++serial)
          given.set(leg, [...(given.get(leg) ?? []), ...times])
          const released = buffer.add(
            update(leg, times, hasAccount ? { accountId: 'x', isEnded: ended } : { isEnded: ended }),
            nowMs,
          )
          for (const event of released.ready) release(event.callId, [event.timestampMs ?? -1])
          for (const { callId, events } of released.unknown)
            release(
              callId,
              events.map((d) => d.timestampMs),
            )
          expect(buffer.size()).toBeLessThanOrEqual(limits.maxLegs)
        }
        for (const { callId, events } of buffer.flush())
          release(
            callId,
            events.map((d) => d.timestampMs),
          )
        for (const [leg, times] of given) expect(out.get(leg) ?? []).toEqual(times)
      }),
    )
  })
})
