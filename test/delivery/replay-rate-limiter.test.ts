import * as fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createReplayRateLimiter, REPLAY_LIMIT_DEFAULTS } from '../../src/delivery/replay-rate-limiter.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'

/** Consumes until the limiter refuses; returns how often it allowed, and what it threw. */
function exhaust(limiter: ReturnType<typeof createReplayRateLimiter>, webhook = 'acc/w1', max = 1000) {
  for (let allowed = 0; allowed < max; allowed++) {
    try {
      limiter.consume(webhook)
    } catch (thrown) {
      return { allowed, thrown: thrown as HookswitchError }
    }
  }
  return { allowed: max, thrown: undefined }
}

describe('the replay rate limiter', () => {
  it('allows 20 at once and one a second by default', async () => {
    expect(REPLAY_LIMIT_DEFAULTS).toEqual({ replayBurst: 20, replayRefillPerSecond: 1 })
    expect(Object.isFrozen(REPLAY_LIMIT_DEFAULTS)).toBe(true)
    const clock = manualClock()
    const limiter = createReplayRateLimiter(clock)
    expect(exhaust(limiter).allowed).toBe(20)
    await clock.advance(999)
    expect(exhaust(limiter).allowed).toBe(0)
    await clock.advance(1)
    expect(exhaust(limiter).allowed).toBe(1)
    await clock.advance(3_600_000)
    expect(exhaust(limiter).allowed).toBe(20)
  })

  it('refuses with a code and the seconds after which it allows one', async () => {
    const clock = manualClock()
    const limiter = createReplayRateLimiter(clock, { replayBurst: 2, replayRefillPerSecond: 0.1 })
    const { thrown } = exhaust(limiter)
    expect(errorCode(thrown)).toBe('TooManyReplays')
    expect(thrown).toMatchObject({ retryAfterSeconds: 10 })
    await clock.advance(4500)
    expect(exhaust(limiter).thrown).toMatchObject({ retryAfterSeconds: 6 })
    await clock.advance(5500)
    expect(exhaust(limiter).allowed).toBe(1)
  })

  it('allows one after the returned waiting time, whatever the rates are', async () => {
    const rates = fc.double({ min: 0.001, max: 1000, noNaN: true })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), rates, async (burst, rate) => {
        const clock = manualClock()
        const limiter = createReplayRateLimiter(clock, { replayBurst: burst, replayRefillPerSecond: rate })
        const { allowed, thrown } = exhaust(limiter)
        expect(allowed).toBe(burst)
        expect(thrown!.retryAfterSeconds).toBeGreaterThanOrEqual(1)
        expect(Number.isInteger(thrown!.retryAfterSeconds)).toBe(true)
        await clock.advance(thrown!.retryAfterSeconds! * 1000)
        expect(exhaust(limiter, 'acc/w1', 1).allowed).toBe(1)
      }),
    )
  })

  it('never allows more than burst and rate, whatever the arrival times', async () => {
    const pauses = fc.array(fc.nat(5000), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(pauses, async (list) => {
        const clock = manualClock()
        const limiter = createReplayRateLimiter(clock, { replayBurst: 5, replayRefillPerSecond: 2 })
        let allowed = 0
        for (const pauseMs of list) {
          await clock.advance(pauseMs)
          allowed += exhaust(limiter, 'acc/w1', 3).allowed
        }
        const seconds = list.reduce((sum, item) => sum + item, 0) / 1000
        expect(allowed).toBeLessThanOrEqual(5 + 2 * seconds + 1e-6)
      }),
      { numRuns: 50 },
    )
  })

  it('counts each webhook separately, also the same id in another account', () => {
    const limiter = createReplayRateLimiter(manualClock())
    expect(exhaust(limiter, 'acc/w1').allowed).toBe(20)
    expect(exhaust(limiter, 'acc/w2').allowed).toBe(20)
    expect(exhaust(limiter, 'sub/w1').allowed).toBe(20)
    expect(exhaust(limiter, 'acc/w1').allowed).toBe(0)
  })

  it('charges nothing for a refusal: repeated requests do not prolong it', async () => {
    const clock = manualClock()
    const limiter = createReplayRateLimiter(clock, { replayBurst: 1, replayRefillPerSecond: 1 })
    limiter.consume('w')
    for (let n = 0; n < 100; n++) {
      expect(() => limiter.consume('w')).toThrow()
      await clock.advance(9)
    }
    await clock.advance(100)
    expect(() => limiter.consume('w')).not.toThrow()
  })

  it('has no limit when the burst is Infinity, whatever the rate', () => {
    const limiter = createReplayRateLimiter(manualClock(), {
      replayBurst: Number.POSITIVE_INFINITY,
      replayRefillPerSecond: 0.001,
    })
    expect(exhaust(limiter, 'w', 5000).allowed).toBe(5000)
  })

  it('is not affected by a wall clock that jumps', async () => {
    const clock = manualClock()
    const limiter = createReplayRateLimiter(clock)
    exhaust(limiter)
    clock.jumpWall(86_400_000)
    expect(exhaust(limiter).allowed).toBe(0)
    clock.jumpWall(-2 * 86_400_000)
    await clock.advance(1000)
    expect(exhaust(limiter).allowed).toBe(1)
  })

  it('removes only the buckets of many webhooks that are full again', async () => {
    const clock = manualClock()
    const limiter = createReplayRateLimiter(clock, { replayBurst: 2, replayRefillPerSecond: 1 })
    exhaust(limiter, 'exhausted')
    for (let n = 0; n < 9_000; n++) limiter.consume(`early-${n}`)
    await clock.advance(1500)
    // These trigger the sweep: the early buckets are full by then, the exhausted one is not.
    for (let n = 0; n < 9_000; n++) limiter.consume(`late-${n}`)
    expect(exhaust(limiter, 'exhausted').allowed).toBe(1)
    expect(exhaust(limiter, 'early-5').allowed).toBe(2)
    expect(exhaust(limiter, 'late-5').allowed).toBe(1)
  })
})
