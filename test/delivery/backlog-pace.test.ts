import { describe, expect, it } from 'vitest'
import { type BacklogPace, createBacklogPace } from '../../src/delivery/backlog-pace.js'
import type { QueueEndpoint } from '../../src/delivery/queue/queue-endpoint.js'
import type { QueuedDelivery } from '../../src/delivery/queue/queued-delivery.js'

const delivery = (acceptedMs: number, attempts = 0) => ({ acceptedMs, attempts }) as QueuedDelivery
const many = (count: number, of: QueuedDelivery) => new Array<QueuedDelivery>(count).fill(of)
const OLD = delivery(0, 1)
const endpoint = (id: string, accountId = id) => ({ id, webhook: { accountId } }) as QueueEndpoint
const ENDPOINT = endpoint('w')
const endpoints = (count: number) => Array.from({ length: count }, (_, index) => endpoint(`w${index}`))

/** So many pauses end at a time. */
function endPauses(pace: BacklogPace, count: number, now: number): void {
  for (let index = 0; index < count; index++) pace.pauseEnded(now)
}

/** Many pauses have just ended, and so many older deliveries were sent. */
function afterOutage(sent = 0, now = 100_000) {
  const pace = createBacklogPace()
  endPauses(pace, 20, now)
  pace.sent(many(sent, OLD), now)
  return pace
}

describe('the pace of backlogs', () => {
  it('limits nothing until twenty pauses have ended within a minute', () => {
    const pace = createBacklogPace()
    endPauses(pace, 19, 100_000)
    expect(pace.useTurn(ENDPOINT, 100_000)).toBe(Number.POSITIVE_INFINITY)
    pace.pauseEnded(159_999)
    expect(pace.useTurn(ENDPOINT, 159_999)).toBe(50)
    const slow = createBacklogPace()
    for (let index = 0; index < 200; index++) slow.pauseEnded(100_000 + index * 3200)
    expect(slow.useTurn(ENDPOINT, 100_000 + 199 * 3200)).toBe(Number.POSITIVE_INFINITY)
  })

  it('ends a minute after the last pauses have ended', () => {
    const pace = afterOutage()
    expect(pace.useTurn(ENDPOINT, 159_999)).toBe(50)
    expect(pace.useTurn(ENDPOINT, 160_000)).toBe(Number.POSITIVE_INFINITY)
  })

  it('lets nearly a thousand older deliveries a second leave, and never more in any second', () => {
    const pace = afterOutage()
    const counts: number[] = []
    for (let now = 100_000; now < 130_000; now += 10) {
      const count = pace.useTurn(ENDPOINT, now)
      expect(count).toBeGreaterThanOrEqual(0)
      // A probe leaves whatever is allowed.
      const probes = now % 50 === 0 ? 1 : 0
      pace.sent(many(count + probes, OLD), now)
      counts.push(count + probes)
    }
    const sum = (some: readonly number[]) => some.reduce((total, count) => total + count, 0)
    const seconds = counts.slice(0, -100).map((_, from) => sum(counts.slice(from, from + 100)))
    expect(Math.max(...seconds)).toBeLessThanOrEqual(1_000)
    expect(sum(counts)).toBeGreaterThan(28_000)
  })

  it('counts retries and what was accepted more than 10 s before, not live ones', () => {
    const pace = afterOutage()
    pace.sent(many(500, delivery(90_000)), 100_000)
    expect(pace.useTurn(ENDPOINT, 100_000)).toBe(50)
    pace.sent([delivery(89_999), delivery(100_000, 1), delivery(100_000)], 100_000)
    expect(pace.useTurn(ENDPOINT, 100_000)).toBe(48)
  })

  it('does not count what leaves while nothing limits it', () => {
    const pace = createBacklogPace()
    pace.sent(many(5000, OLD), 100_000)
    endPauses(pace, 20, 100_000)
    expect(pace.useTurn(ENDPOINT, 100_000)).toBe(50)
  })
})

describe('turns of endpoints that wait for the pace of backlogs', () => {
  it('are given in the order of waiting, one for each delivery that may leave', () => {
    const pace = afterOutage(50)
    const waiting = endpoints(30)
    for (const each of waiting) pace.wait(each)
    pace.wait(waiting[0]!)
    expect(pace.takeTurns(100_000, 50)).toEqual([])
    expect(pace.hasTurns(100_000)).toBe(false)
    expect(pace.hasTurns(100_011)).toBe(true)
    expect(pace.takeTurns(100_011, 50)).toEqual(waiting.slice(0, 10))
    expect(pace.takeTurns(100_011, 50)).toEqual([])
    pace.endTurns()
    pace.sent(many(10, OLD), 100_011)
    expect(pace.takeTurns(100_011, 50)).toEqual([])
    expect(pace.takeTurns(100_022, 50)).toEqual(waiting.slice(10, 20))
  })

  it('are no more than slots, and one account gets them after the other', () => {
    const pace = afterOutage()
    const large = endpoints(100).map(({ id }) => endpoint(id, 'large'))
    const small = endpoint('small', 'small')
    for (const each of [...large, small]) pace.wait(each)
    expect(pace.takeTurns(100_000, 3)).toEqual([large[0], small, large[1]])
    expect(pace.takeTurns(100_000, 3)).toEqual([])
    expect(pace.useTurn(small, 100_000)).toBe(1)
    expect(pace.takeTurns(100_000, 3)).toEqual([large[2]])
    pace.endTurns()
    expect(pace.takeTurns(100_000, 100)).toEqual(large.slice(3, 53))
  })

  it('are for one delivery each, and others get nothing while endpoints wait', () => {
    const pace = afterOutage(40)
    const [first, second, third, other] = endpoints(4)
    for (const each of [first!, second!, third!]) pace.wait(each)
    pace.takeTurns(100_000, 50)
    // While no endpoint waits, one without a turn gets the rest.
    expect(pace.useTurn(other!, 100_000)).toBe(7)
    expect(pace.useTurn(first!, 100_000)).toBe(1)
    pace.wait(first!)
    expect(pace.useTurn(other!, 100_000)).toBe(0)
    expect(pace.useTurn(first!, 100_000)).toBe(0)
    expect(pace.useTurn(second!, 100_000)).toBe(1)
  })

  it('are used once, and lost when they end', () => {
    const pace = afterOutage(40)
    const [first, second] = endpoints(2)
    for (const each of [first!, second!]) pace.wait(each)
    pace.takeTurns(100_000, 50)
    expect(pace.useTurn(first!, 100_000)).toBe(1)
    expect(pace.useTurn(first!, 100_000)).toBe(9)
    pace.endTurns()
    expect(pace.useTurn(second!, 100_000)).toBe(10)
  })

  it('come when ten deliveries may leave together, and at once when nothing limits them any more', () => {
    const pace = afterOutage(50)
    expect(pace.nextTurnMs(100_000)).toBeUndefined()
    pace.wait(ENDPOINT)
    expect(pace.nextTurnMs(100_000)).toBe(100_011)
    expect(pace.nextTurnMs(100_020)).toBe(100_020)
    expect(pace.nextTurnMs(160_000)).toBe(160_000)
    expect(pace.hasTurns(160_000)).toBe(true)
    expect(pace.takeTurns(160_000, 50)).toEqual([ENDPOINT])
    expect(pace.useTurn(ENDPOINT, 160_000)).toBe(Number.POSITIVE_INFINITY)
    expect(pace.nextTurnMs(160_000)).toBeUndefined()
  })
})

describe('the answer of an origin', () => {
  it('is news once in five seconds', () => {
    const pace = createBacklogPace()
    const isNews = (now: number, origin = 'https://a.example') => pace.isNews(origin, now)
    expect([0, 1, 4999, 5000, 9999, 10_000].map((now) => isNews(now))).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
    ])
    expect(isNews(10_001, 'https://b.example')).toBe(true)
  })

  it('is forgotten for the origin that was heard of least lately, when there are many', () => {
    const pace = createBacklogPace()
    for (let index = 0; index < 1000; index++) pace.isNews(`https://${index}.example`, 0)
    expect(pace.isNews('https://0.example', 1)).toBe(false)
    expect(pace.isNews('https://more.example', 1)).toBe(true)
    expect(pace.isNews('https://1.example', 1)).toBe(false)
    expect(pace.isNews('https://0.example', 1)).toBe(true)
  })
})
