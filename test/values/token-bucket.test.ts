import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charge, type RateLimit, refill, type TokenBucket, take } from '../../src/values/token-bucket.js'
import { propertyRuns } from '../support/property-runs.js'

/** Ten tokens, one more every 500 ms. */
const limit: RateLimit = { burst: 10, refillPerSecond: 2 }
const bucketOf = (tokens: number, atMs = 0): TokenBucket => Object.freeze({ tokens, atMs })

describe('refill', () => {
  it('fills a new bucket', () => {
    expect(refill(undefined, 123, limit)).toEqual({ tokens: 10, atMs: 123 })
  })

  it('adds tokens by the time that has passed, fractions included', () => {
    expect(refill(bucketOf(3, 1_000), 1_000, limit)).toEqual({ tokens: 3, atMs: 1_000 })
    expect(refill(bucketOf(3, 1_000), 1_250, limit)).toEqual({ tokens: 3.5, atMs: 1_250 })
    expect(refill(bucketOf(3, 1_000), 3_000, limit)).toEqual({ tokens: 7, atMs: 3_000 })
  })

  it('stops at the burst', () => {
    expect(refill(bucketOf(9), 499, limit).tokens).toBeLessThan(10)
    expect(refill(bucketOf(9), 500, limit)).toEqual({ tokens: 10, atMs: 500 })
    expect(refill(bucketOf(9), 60_000, limit)).toEqual({ tokens: 10, atMs: 60_000 })
  })

  it('pays back debt first', () => {
    expect(refill(bucketOf(-4), 1_000, limit)).toEqual({ tokens: -2, atMs: 1_000 })
    expect(refill(bucketOf(-4), 3_000, limit)).toEqual({ tokens: 2, atMs: 3_000 })
  })

  it('lowers a bucket to a burst that has become smaller', () => {
    expect(refill(bucketOf(10), 0, { burst: 4, refillPerSecond: 2 }).tokens).toBe(4)
  })
})

describe('take', () => {
  it('grants the burst of a new bucket at once, and no more', () => {
    const { bucket, ...first } = take(undefined, 10, 0, limit)
    expect(first).toEqual({ isGranted: true, waitMs: 0 })
    expect(bucket).toEqual({ tokens: 0, atMs: 0 })
    expect(take(bucket, 1, 0, limit)).toEqual({ isGranted: false, waitMs: 500, bucket })
  })

  it('refills the bucket first', () => {
    expect(take(bucketOf(0), 1, 1_500, limit)).toEqual({
      isGranted: true,
      waitMs: 0,
      bucket: { tokens: 2, atMs: 1_500 },
    })
  })

  it('takes nothing when it rejects, so that repeated attempts do not prolong the wait', () => {
    let bucket: TokenBucket = bucketOf(1)
    const waits: number[] = []
    for (const nowMs of [0, 125, 250, 875]) {
      const result = take(bucket, 3, nowMs, limit)
      expect(result.isGranted).toBe(false)
      bucket = result.bucket
      waits.push(result.waitMs)
    }
    expect(waits).toEqual([1_000, 875, 750, 125])
    expect(take(bucket, 3, 1_000, limit).isGranted).toBe(true)
  })

  it('rounds the wait up to whole milliseconds', () => {
    expect(take(bucketOf(0), 1, 0, { burst: 10, refillPerSecond: 3 }).waitMs).toBe(334)
    expect(take(bucketOf(0), 1, 0, { burst: 10, refillPerSecond: 4 }).waitMs).toBe(250)
  })

  it('waits also for the debt to be paid back', () => {
    expect(take(bucketOf(-2), 1, 0, limit)).toMatchObject({ isGranted: false, waitMs: 1_500 })
  })

  it('forgives a rounding error of a millionth of a token, but no more', () => {
    expect(take(bucketOf(1 - 5e-7), 1, 0, limit)).toMatchObject({ isGranted: true, waitMs: 0 })
    expect(take(bucketOf(1 - 2e-6), 1, 0, limit)).toMatchObject({ isGranted: false, waitMs: 1 })
  })

  it('never grants more than the burst', () => {
    expect(take(undefined, 11, 0, limit)).toMatchObject({ isGranted: false, waitMs: 500 })
    expect(take(bucketOf(10), 11, 1_000_000, limit)).toMatchObject({ isGranted: false, waitMs: 500 })
  })

  it('grants nothing for nothing unless the bucket is in debt', () => {
    expect(take(bucketOf(0), 0, 0, limit)).toMatchObject({ isGranted: true, bucket: { tokens: 0 } })
    expect(take(bucketOf(-1), 0, 0, limit)).toMatchObject({ isGranted: false, waitMs: 500 })
  })
})

describe('charge', () => {
  it('charges a new bucket', () => {
    expect(charge(undefined, 4, 7, limit)).toEqual({ tokens: 6, atMs: 7 })
  })

  it('refills the bucket first, up to the burst', () => {
    expect(charge(bucketOf(2), 1, 1_000, limit)).toEqual({ tokens: 3, atMs: 1_000 })
    expect(charge(bucketOf(2), 1, 60_000, limit)).toEqual({ tokens: 9, atMs: 60_000 })
  })

  it('goes into debt of at most one burst', () => {
    expect(charge(bucketOf(2), 5, 0, limit).tokens).toBe(-3)
    expect(charge(bucketOf(2), 12, 0, limit).tokens).toBe(-10)
    expect(charge(bucketOf(2), 13, 0, limit).tokens).toBe(-10)
    expect(charge(bucketOf(-10), 1, 0, limit).tokens).toBe(-10)
  })
})

describe('any history of a bucket', () => {
  const limits = fc.record({
    burst: fc.integer({ min: 1, max: 50 }),
    refillPerSecond: fc.double({ min: 0.1, max: 100, noNaN: true }),
  })
  const steps = fc.array(
    fc.record({
      passedMs: fc.integer({ min: 0, max: 5_000 }),
      cost: fc.integer({ min: 1, max: 50 }),
      isCharged: fc.boolean(),
    }),
    { maxLength: 40 },
  )

  it('keeps it between one burst of debt and one burst, and reports the shortest wait', () => {
    fc.assert(
      fc.property(limits, steps, (rule, history) => {
        let bucket: TokenBucket | undefined
        let nowMs = 0
        for (const { passedMs, cost, isCharged } of history) {
          nowMs += passedMs
          const affordable = Math.min(cost, rule.burst)
          if (isCharged) bucket = charge(bucket, cost, nowMs, rule)
          else {
            const { isGranted, waitMs, bucket: after } = take(bucket, affordable, nowMs, rule)
            const before = refill(bucket, nowMs, rule)
            expect(after.tokens).toBe(isGranted ? before.tokens - affordable : before.tokens)
            bucket = after
            if (!isGranted) {
              expect(waitMs).toBeGreaterThan(0)
              expect(waitMs).toBeLessThanOrEqual(
                Math.ceil((2 * rule.burst * 1_000) / rule.refillPerSecond) + 1,
              )
              expect(take(after, affordable, nowMs + waitMs, rule).isGranted).toBe(true)
              // Two milliseconds, because the wait is rounded up.
              if (waitMs > 2) expect(take(after, affordable, nowMs + waitMs - 2, rule).isGranted).toBe(false)
            }
          }
          expect(bucket.atMs).toBe(nowMs)
          expect(bucket.tokens).toBeLessThanOrEqual(rule.burst)
          expect(bucket.tokens).toBeGreaterThanOrEqual(-rule.burst)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('never grants more than its burst plus the refill since, in any window of time', () => {
    fc.assert(
      fc.property(limits, steps, (rule, history) => {
        let bucket: TokenBucket | undefined
        let nowMs = 0
        const grantedMs: number[] = []
        for (const { passedMs, cost, isCharged } of history) {
          nowMs += passedMs
          // As many as are granted, each of one token.
          for (let tries = 0; tries < cost; tries += 1) {
            const taken = take(bucket, 1, nowMs, rule)
            bucket = taken.bucket
            if (!taken.isGranted) {
              expect(taken.waitMs).toBeGreaterThan(0)
              expect(take(bucket, 1, nowMs + taken.waitMs, rule).isGranted).toBe(true)
              break
            }
            grantedMs.push(nowMs)
            if (isCharged) bucket = charge(bucket, 4, nowMs, rule)
          }
          for (const [index, fromMs] of grantedMs.entries()) {
            const refilled = ((nowMs - fromMs) * rule.refillPerSecond) / 1_000
            expect(grantedMs.length - index).toBeLessThanOrEqual(rule.burst + refilled + 1e-6)
          }
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})
