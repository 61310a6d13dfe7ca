import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountHold } from '../../../../adapters/telephony/source/account-hold.js'
import type { ChannelDraft, LegNews } from '../../../../adapters/telephony/source/leg-news.js'

const draft = (callId: string, timestampMs: number, hook = 'channel_create'): ChannelDraft => ({
  hook,
  callId,
  timestampMs,
})
const news = (callId: string, times: readonly number[], rest: Partial<LegNews> = {}): LegNews => ({
  callId,
  accountId: undefined,
  drafts: times.map((ms) => draft(callId, ms)),
  ended: false,
  ...rest,
})
const limits = { holdMs: 1_000, maxPerLeg: 3, maxLegs: 2 }

describe('what waits for its account', () => {
  it('is let go in order, with its own times, by the news that knows the account', () => {
    const hold = accountHold(limits)
    expect(hold.take(news('a', [10]), 0)).toEqual({ ready: [], unknown: [] })
    expect(hold.take(news('a', [20]), 5)).toEqual({ ready: [], unknown: [] })
    const { ready } = hold.take(news('a', [30], { accountId: 'acme' }), 9)
    expect(ready.map(({ accountId, timestampMs }) => [accountId, timestampMs])).toEqual([
      ['acme', 10],
      ['acme', 20],
      ['acme', 30],
    ])
    expect(hold.size()).toBe(0)
  })

  it('is let go by a news that tells the account and nothing else', () => {
    const hold = accountHold(limits)
    hold.take(news('a', [10]), 0)
    expect(hold.take(news('a', [], { accountId: 'acme' }), 1).ready).toHaveLength(1)
  })

  it('is given back when the leg ends, with everything that waited', () => {
    const hold = accountHold(limits)
    hold.take(news('a', [10]), 0)
    expect(hold.take(news('a', [20], { ended: true }), 1).unknown).toEqual([
      { callId: 'a', reason: 'ended', drafts: [draft('a', 10), draft('a', 20)] },
    ])
    expect(hold.size()).toBe(0)
  })

  it('is given back after its time and not before', () => {
    const hold = accountHold(limits)
    hold.take(news('a', [10]), 100)
    hold.take(news('a', [20]), 900)
    expect(hold.nextMs()).toBe(1_100)
    expect(hold.expire(1_099)).toEqual([])
    expect(hold.expire(1_100)).toEqual([
      { callId: 'a', reason: 'waited', drafts: [draft('a', 10), draft('a', 20)] },
    ])
    expect(hold.nextMs()).toBeUndefined()
  })

  it('is given back when a leg has too many events, and when there are too many legs: the oldest', () => {
    const hold = accountHold(limits)
    expect(hold.take(news('a', [1, 2, 3]), 0).unknown).toEqual([])
    expect(hold.take(news('a', [4]), 0).unknown).toMatchObject([{ callId: 'a', reason: 'too_many' }])
    hold.take(news('b', [1]), 0)
    hold.take(news('c', [1]), 0)
    expect(hold.take(news('d', [1]), 0).unknown).toEqual([
      { callId: 'b', reason: 'too_many', drafts: [draft('b', 1)] },
    ])
  })

  it('is given back when the source is closed', () => {
    const hold = accountHold(limits)
    hold.take(news('a', [1]), 0)
    expect(hold.flush()).toEqual([{ callId: 'a', reason: 'closed', drafts: [draft('a', 1)] }])
    expect(hold.flush()).toEqual([])
  })

  it('goes one way or the other, whatever comes: nothing is lost, doubled or out of order', () => {
    const step = fc.record({
      leg: fc.constantFrom('a', 'b', 'c', 'd'),
      knows: fc.boolean(),
      events: fc.integer({ min: 0, max: 4 }),
      ended: fc.boolean(),
      afterMs: fc.integer({ min: 0, max: 700 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const hold = accountHold(limits)
        const out = new Map<string, number[]>()
        const given = new Map<string, number[]>()
        const say = (callId: string, times: readonly number[]) =>
          out.set(callId, [...(out.get(callId) ?? []), ...times])
        let nowMs = 0
        let serial = 0
        for (const { leg, knows, events, ended, afterMs } of steps) {
          nowMs += afterMs
          for (const { callId, drafts } of hold.expire(nowMs))
            say(
              callId,
              drafts.map((d) => d.timestampMs),
            )
          const times = Array.from({ length: events }, () => ++serial)
          given.set(leg, [...(given.get(leg) ?? []), ...times])
          const released = hold.take(news(leg, times, knows ? { accountId: 'x', ended } : { ended }), nowMs)
          for (const event of released.ready) say(event.callId, [event.timestampMs ?? -1])
          for (const { callId, drafts } of released.unknown)
            say(
              callId,
              drafts.map((d) => d.timestampMs),
            )
          expect(hold.size()).toBeLessThanOrEqual(limits.maxLegs)
        }
        for (const { callId, drafts } of hold.flush())
          say(
            callId,
            drafts.map((d) => d.timestampMs),
          )
        for (const [leg, times] of given) expect(out.get(leg) ?? []).toEqual(times)
      }),
    )
  })
})
