import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pace } from '../../src/delivery/pace.js'

/** How many requests are late by less than this, ms, and are caught up. */
const SLACK_MS = 20

/** Requests a second that are sent within so many milliseconds, in steps, all accepted or not. */
function rateOf(pace: Pace, fromMs: number, forMs = 60_000, isAccepted = false): number {
  let sent = 0
  for (let now = fromMs; now < fromMs + forMs; now += 1) {
    for (let allowed = pace.allowed(now); allowed > 0; allowed--) {
      if (allowed === Number.POSITIVE_INFINITY) return allowed
      pace.sent(now)
      if (isAccepted) pace.succeeded(now)
      sent++
    }
  }
  return (sent * 1000) / forMs
}

/** So many requests a second were accepted lately, when there was no pace. */
const acceptedBefore = (lately: number, minute = 0) => new Pace(undefined, { lately, minute })

/** Accepts so many requests a second until a time. */
function accept(pace: Pace, perSecond: number, fromMs: number, untilMs: number): void {
  for (let now = fromMs; now < untilMs; now += 1000 / perSecond) pace.succeeded(now)
}

/** As `acceptedBefore`, and a first 429 came at the time 0, and a second one at once after the wait. */
function acceptedThenHeld(lately: number, askedMs?: number) {
  const pace = acceptedBefore(lately)
  const againMs = pace.throttled(0, askedMs, 0)
  pace.succeeded(againMs)
  return { pace, dueMs: againMs + pace.throttled(againMs, askedMs, againMs) }
}

/** The receiver accepted so many requests a second for a minute, until the time 60,000, and then asks for fewer. */
function limited(perSecond: number, askedMs?: number) {
  const pace = new Pace()
  accept(pace, perSecond, 0, 60_000)
  const waitMs = pace.throttled(60_000, askedMs, 60_000)
  return { pace, dueMs: 60_000 + waitMs }
}

describe('an endpoint that was never asked for fewer requests', () => {
  it('is not paced', () => {
    const pace = new Pace()
    expect(pace).toMatchObject({ isLimiting: false, limit: Number.POSITIVE_INFINITY })
    expect(pace.allowed(0)).toBe(Number.POSITIVE_INFINITY)
    expect(pace.dueMs).toBe(Number.NEGATIVE_INFINITY)
    for (let now = 0; now < 100; now++) pace.sent(now)
    expect(pace.allowed(100)).toBe(Number.POSITIVE_INFINITY)
  })

  it('keeps to the limit of its webhook, and is not paced once that is gone', () => {
    for (const limit of [0.5, 3, 25, 400]) {
      const pace = new Pace(limit)
      expect(pace.isLimiting).toBe(true)
      expect(rateOf(pace, 0, 60_000, true)).toBeCloseTo(limit, 0)
    }
    const pace = new Pace(1)
    pace.sent(0)
    expect([pace.allowed(979), pace.allowed(980)]).toEqual([0, 1])
    expect(pace.dueMs).toBe(1000 - SLACK_MS)
    pace.setMaxRate(2)
    pace.sent(1000)
    expect(pace.dueMs).toBe(1480)
    pace.setMaxRate()
    expect(pace.isLimiting).toBe(false)
    expect(pace.allowed(1000)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the rate of requests', () => {
  it('never exceeds what was asked for, however the times of requests are spread', () => {
    const rates = fc.double({ min: 1 / 60, max: 900, noNaN: true })
    const gaps = fc.array(fc.nat(3000), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(rates, gaps, (rate, steps) => {
        const pace = new Pace(rate)
        const times: number[] = []
        let now = 0
        for (const step of steps) {
          now += step
          const allowed = Math.min(pace.allowed(now), 2_000)
          for (let count = 0; count < allowed; count++) {
            pace.sent(now)
            times.push(now)
          }
        }
        // In no stretch more than the rate, one request, and those that were late.
        for (let first = 0; first < times.length; first += 7) {
          const within = times.length - first
          const spanMs = times.at(-1)! - times[first]!
          expect(within).toBeLessThanOrEqual((rate * (spanMs + SLACK_MS)) / 1000 + 1 + 1e-6)
        }
      }),
    )
  })

  it('lets a request be sent at its due time, and none before', () => {
    fc.assert(
      fc.property(fc.double({ min: 1 / 60, max: 900, noNaN: true }), fc.nat(10_000), (rate, now) => {
        const pace = new Pace(rate)
        pace.sent(now)
        expect(pace.allowed(pace.dueMs)).toBe(1)
        expect(pace.allowed(pace.dueMs - 0.001)).toBe(0)
      }),
    )
  })
})

describe('the first 429 after an accepted request', () => {
  it('leaves 0.9 of the rate that was accepted before', () => {
    for (const perSecond of [1, 5, 20, 100]) {
      const { pace, dueMs } = limited(perSecond)
      expect(rateOf(pace, dueMs, 18_000) / perSecond).toBeCloseTo(0.9, 1)
    }
  })

  it('leaves 0.9 of what was counted before there was a pace, and no less than 0.18 a second', () => {
    const counted = acceptedBefore(10)
    expect(rateOf(counted, counted.throttled(0, undefined, 0), 18_000)).toBeCloseTo(9, 0)
    // The average of the last minute is the floor of it.
    const average = acceptedBefore(1, 10)
    expect(rateOf(average, average.throttled(0, undefined, 0), 18_000)).toBeCloseTo(9, 0)
    const unknown = new Pace()
    expect(rateOf(unknown, unknown.throttled(0, undefined, 0), 100_000)).toBeCloseTo(0.18, 2)
  })

  it('stays below the limit of the webhook', () => {
    const pace = new Pace(2, { lately: 10, minute: 0 })
    expect(rateOf(pace, pace.throttled(0, undefined, 0), 18_000)).toBeCloseTo(2, 0)
  })

  it('leaves 0.7 of the rate if that is held, and 0.9 later', () => {
    const rateAfter = (laterMs: number) => {
      const { pace, dueMs } = acceptedThenHeld(100)
      const now = dueMs + laterMs
      pace.succeeded(now)
      pace.throttled(now, undefined, now)
      return rateOf(pace, now + 1000, 15_000)
    }
    expect(rateAfter(19_900)).toBeCloseTo(81 * 0.7, 0)
    expect(rateAfter(20_000)).toBeCloseTo(81 * 0.9, 0)
  })

  it('leaves never less than 0.9 of the average of the last minute', () => {
    const { pace } = limited(10)
    let now = 60_000
    for (let round = 0; round < 8; round++) {
      now += 1000
      pace.succeeded(now)
      pace.throttled(now, undefined, now)
    }
    expect(rateOf(pace, now + 1000, 15_000)).toBeGreaterThanOrEqual((0.9 * (10 * 52)) / 60)
  })

  it('leaves never less than one request a minute', () => {
    const pace = new Pace()
    let now = 0
    for (let round = 0; round < 60; round++) {
      pace.throttled(now, undefined, now)
      now += 61_000
      pace.succeeded(now)
    }
    expect(pace.throttled(now, undefined, now)).toBe(1000)
    pace.sent(now + 1000)
    expect(pace.dueMs - (now + 1000)).toBeLessThanOrEqual(60_000)
    expect(rateOf(pace, now + 1000, 600_000)).toBeGreaterThanOrEqual(1 / 60)
  })

  it('keeps the floor whatever a receiver answers', () => {
    const steps = fc.array(
      fc.record({
        gapMs: fc.nat(90_000),
        isAccepted: fc.boolean(),
        askedMs: fc.option(fc.constantFrom(0, 1000, 30_000, 3_600_000), { nil: undefined }),
      }),
      { maxLength: 80 },
    )
    fc.assert(
      fc.property(steps, (answers) => {
        const pace = new Pace()
        let now = 0
        for (const { gapMs, isAccepted, askedMs } of answers) {
          now += gapMs
          if (isAccepted) pace.succeeded(now)
          else {
            const waitMs = pace.throttled(now, askedMs, now)
            expect(waitMs).toBeGreaterThanOrEqual(askedMs || 1000)
            expect(pace.allowed(now + waitMs - 1)).toBe(0)
          }
          if (pace.dueMs === Number.NEGATIVE_INFINITY) continue
          now = Math.max(now, pace.dueMs)
          expect(pace.allowed(now)).toBeGreaterThanOrEqual(1)
          pace.sent(now)
          expect(pace.dueMs - now).toBeLessThanOrEqual(60_001)
        }
      }),
    )
  })

  it('counts if its request was sent after the wait: not those that were under way, or sent in the wait', () => {
    for (const sentMs of [59_999, 60_500]) {
      const { pace, dueMs } = limited(100)
      pace.succeeded(dueMs)
      pace.throttled(sentMs, undefined, dueMs)
      expect(rateOf(pace, dueMs + 1000, 18_000)).toBeCloseTo(90, -1)
    }
  })
})

describe('429s without an accepted request between them', () => {
  it('do not change the rate', () => {
    const { pace, dueMs } = limited(20)
    let now = dueMs
    for (let round = 0; round < 50; round++) now += pace.throttled(now, undefined, now)
    expect(rateOf(pace, now, 18_000)).toBeCloseTo(18, 0)
  })

  it('wait 1, 2, 4, 8, then 15 s, until a request was accepted', () => {
    const pace = new Pace()
    let now = 0
    const waits = Array.from({ length: 7 }, () => {
      const waitMs = pace.throttled(now, undefined, now)
      now += waitMs
      return waitMs
    })
    expect(waits).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
    pace.succeeded(now)
    expect(pace.throttled(now, undefined, now)).toBe(1000)
  })

  it('wait as long as the receiver asks, at least', () => {
    const pace = new Pace()
    expect(pace.throttled(0, 3000, 0)).toBe(3000)
    expect(pace.throttled(3000, 3000, 3000)).toBe(3000)
    expect(pace.throttled(6000, 3000, 6000)).toBe(4000)
    expect(pace.throttled(10_000, 3_600_000, 10_000)).toBe(3_600_000)
    // Zero says nothing.
    expect(new Pace().throttled(0, 0, 0)).toBe(1000)
  })

  it('that were under way together follow each other once', () => {
    const pace = new Pace()
    const waits = Array.from({ length: 10 }, (_, index) =>
      pace.throttled(-500 + 100 * index, undefined, index),
    )
    expect(waits).toEqual(new Array(10).fill(1000))
    expect(pace.throttled(2000, undefined, 2100)).toBe(2000)
  })

  it('are forgotten when the owner wants that what waits is sent: the wait is, the rate is not', () => {
    const { pace, dueMs } = limited(20, 60_000)
    expect(pace.allowed(dueMs - 1)).toBe(0)
    pace.endWait(61_000)
    expect(pace.allowed(61_000)).toBe(1)
    expect(rateOf(pace, 61_000, 18_000)).toBeCloseTo(18, 0)
  })

  it('never shorten a wait', () => {
    const pace = new Pace()
    pace.throttled(0, 60_000, 0)
    pace.throttled(0, 1000, 10)
    expect(pace.dueMs).toBe(60_000)
  })
})

describe('the rate that a 429 has set', () => {
  it('is held for 20 times the wait, at least 20 s, then rises by 5 % a second', () => {
    for (const [askedMs, holdMs] of [
      [undefined, 20_000],
      [1000, 20_000],
      [5000, 100_000],
    ] as const) {
      const { pace, dueMs } = acceptedThenHeld(100, askedMs)
      const endMs = dueMs + holdMs
      for (let now = dueMs; now <= endMs; now += 1000) pace.succeeded(now)
      expect(rateOf(pace, endMs, 5000)).toBeCloseTo(81, -1)
      for (let now = endMs; now <= endMs + 10_000; now += 500) pace.succeeded(now)
      expect(rateOf(pace, endMs + 10_000, 5000)).toBeCloseTo(81 * 1.05 ** 10, -1)
    }
  })

  it('rises at once if it is the first one: by 40 % per wait, at least 5 % a second', () => {
    for (const [askedMs, growth] of [
      [10, 1.4],
      [undefined, 1.4],
      [2000, 1.4 ** 0.5],
      [30_000, 1.05],
    ] as const) {
      const pace = acceptedBefore(10)
      const dueMs = pace.throttled(0, askedMs, 0)
      for (let now = dueMs; now <= dueMs + 6000; now += 100) pace.succeeded(now)
      expect(rateOf(pace, dueMs + 6000, 10_000)).toBeCloseTo(9 * growth ** 6, -0.7)
    }
  })

  it('does not rise while nothing is sent: an idle endpoint proves nothing', () => {
    const pace = acceptedBefore(10)
    pace.throttled(0, undefined, 0)
    pace.succeeded(21_000)
    pace.succeeded(3_600_000)
    expect(rateOf(pace, 3_600_000, 10_000)).toBeCloseTo(9, 0)
  })

  it('limits nothing any more when it has risen far enough', () => {
    const pace = acceptedBefore(500)
    pace.throttled(0, undefined, 0)
    for (let count = 0; count < 12; count++) pace.answered()
    for (let now = 21_000; now < 45_000; now += 100) pace.succeeded(now)
    expect(pace.allowed(45_000)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('requests at once', () => {
  /** Answers as many requests as may be sent at once. */
  const answerRound = (pace: Pace) => {
    for (let left = pace.limit; left > 0; left--) pace.answered()
  }

  it('are one after a pause, and twice as many after each round that was answered whole', () => {
    const pace = new Pace()
    pace.restart()
    expect(pace.isLimiting).toBe(true)
    const limits: number[] = []
    while (pace.isLimiting) {
      limits.push(pace.limit)
      answerRound(pace)
    }
    expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
  })

  it('do not grow by a round in which a request was not taken', () => {
    const pace = new Pace()
    pace.restart()
    answerRound(pace)
    answerRound(pace)
    expect(pace.limit).toBe(4)
    for (let round = 0; round < 9; round++) {
      for (let count = 0; count < 3; count++) pace.answered()
      pace.failed()
    }
    expect(pace.limit).toBe(4)
    answerRound(pace)
    expect(pace.limit).toBe(8)
  })

  it('are one again after each 429', () => {
    const { pace } = limited(100)
    expect(pace.limit).toBe(1)
    answerRound(pace)
    answerRound(pace)
    expect(pace.limit).toBe(4)
    pace.throttled(90_000, undefined, 90_000)
    expect(pace.limit).toBe(1)
  })
})
