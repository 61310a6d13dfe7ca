import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loginRateLimiter } from '../../src/auth/login-rate-limiter.js'
import { manualClock } from '../../src/testkit/clock.js'
import { rateLimitSource } from '../../src/values/rate-limit-source.js'
import { charge, type TokenBucket, take } from '../../src/values/token-bucket.js'
import { propertyRuns } from '../support/property-runs.js'
import { codeOf } from './auth-harness.js'

const rules = fc.record({
  burst: fc.integer({ min: 1, max: 50 }),
  refillPerSecond: fc.double({ min: 0.1, max: 100, noNaN: true }),
})
const steps = fc.array(
  fc.record({
    waitMs: fc.integer({ min: 0, max: 5_000 }),
    logins: fc.integer({ min: 1, max: 60 }),
    hasFailed: fc.boolean(),
  }),
  { maxLength: 20 },
)

describe('a token bucket', () => {
  it('never grants more than its burst plus the refill since, and grants again after the wait it reports', () => {
    fc.assert(
      fc.property(rules, steps, (rule, history) => {
        let bucket: TokenBucket | undefined
        let nowMs = 0
        const grantedMs: number[] = []
        for (const { waitMs, logins, hasFailed } of history) {
          nowMs += waitMs
          for (let login = 0; login < logins; login += 1) {
            const taken = take(bucket, 1, nowMs, rule)
            bucket = taken.bucket
            if (!taken.isGranted) {
              expect(taken.waitMs).toBeGreaterThan(0)
              expect(take(bucket, 1, nowMs + taken.waitMs, rule).isGranted).toBe(true)
              break
            }
            grantedMs.push(nowMs)
            if (hasFailed) bucket = charge(bucket, 4, nowMs, rule)
            if (bucket.tokens < -rule.burst) throw new Error(`the debt is ${-bucket.tokens}`)
          }
          // For every window that ends now.
          grantedMs.forEach((fromMs, index) => {
            const refilled = ((nowMs - fromMs) * rule.refillPerSecond) / 1_000
            if (grantedMs.length - index > rule.burst + refilled + 1e-6) {
              throw new Error(`${grantedMs.length - index} logins since ${fromMs} ms`)
            }
          })
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('grants its whole burst at once when full, and one more after the refill of one', () => {
    const rule = { burst: 3, refillPerSecond: 2 }
    let bucket: TokenBucket | undefined
    for (let i = 0; i < 3; i += 1) {
      const taken = take(bucket, 1, 0, rule)
      expect(taken.isGranted).toBe(true)
      bucket = taken.bucket
    }
    expect(take(bucket, 1, 0, rule)).toMatchObject({ isGranted: false, waitMs: 500 })
    expect(take(bucket, 1, 499, rule).isGranted).toBe(false)
    expect(take(bucket, 1, 500, rule).isGranted).toBe(true)
  })

  it('does not charge rejections: repeated attempts succeed as soon as a single one', () => {
    const rule = { burst: 1, refillPerSecond: 1 }
    let { bucket } = take(undefined, 1, 0, rule)
    for (let ms = 0; ms < 1_000; ms += 10) {
      const taken = take(bucket, 1, ms, rule)
      expect(taken.isGranted).toBe(false)
      bucket = taken.bucket
    }
    expect(take(bucket, 1, 1_001, rule).isGranted).toBe(true)
  })

  it('limits its debt to one burst', () => {
    const rule = { burst: 10, refillPerSecond: 1 }
    let bucket: TokenBucket | undefined
    for (let i = 0; i < 100; i += 1) bucket = charge(bucket, 4, 0, rule)
    expect(take(bucket, 1, 0, rule).waitMs).toBe(11_000)
  })
})

const isAllowed = async (work: () => void) => (await codeOf((async () => work())())) === 'resolved'

describe('loginRateLimiter', () => {
  it('treats both spellings of an IPv4 address, and all addresses of an IPv6 /64, as one source', () => {
    expect(rateLimitSource('::ffff:203.0.113.7')).toBe(rateLimitSource('203.0.113.7'))
    expect(rateLimitSource('2001:db8:0:1::1')).toBe(rateLimitSource('2001:0DB8::1:ffff:ffff:ffff:ffff'))
    expect(rateLimitSource('2001:db8:0:2::1')).not.toBe(rateLimitSource('2001:db8:0:1::1'))
    expect(rateLimitSource('203.0.113.8')).not.toBe(rateLimitSource('203.0.113.7'))
    expect(rateLimitSource('/run/socket'.repeat(100)).length).toBeLessThan(100)
  })

  it('reports when to retry', async () => {
    const limiter = loginRateLimiter(manualClock(), { loginBurst: 1, loginRefillPerSecond: 0.1 })
    limiter.consume('203.0.113.7', undefined)
    expect(() => limiter.consume('203.0.113.7', 'a')).toThrow(
      expect.objectContaining({ code: 'TooManyLogins', retryAfterSeconds: 10 }),
    )
  })

  it('takes from no bucket when one of them rejects', async () => {
    const clock = manualClock()
    const limiter = loginRateLimiter(clock, { loginBurst: 2, loginRefillPerSecond: 1 })
    limiter.penalize('203.0.113.7', 'a')
    await clock.advance(3_000)
    // Two tokens of debt and a refill of three: one is available.
    expect(await isAllowed(() => limiter.consume('203.0.113.7', 'a'))).toBe(true)
    expect(await isAllowed(() => limiter.consume('203.0.113.7', 'b'))).toBe(false)
    await clock.advance(1_000)
    expect(await isAllowed(() => limiter.consume('203.0.113.7', 'b'))).toBe(true)
  })

  it('keeps a bounded number of buckets', async () => {
    const limiter = loginRateLimiter(manualClock(), {
      loginBurst: 1,
      loginRefillPerSecond: 1,
      loginBuckets: 2,
    })
    limiter.consume('203.0.113.1', undefined)
    limiter.consume('203.0.113.2', undefined)
    expect(await isAllowed(() => limiter.consume('203.0.113.1', undefined))).toBe(false)
    limiter.consume('203.0.113.3', undefined)
    expect(await isAllowed(() => limiter.consume('203.0.113.2', undefined))).toBe(true)
  })

  it('does not limit logins by the host itself, which have no address', async () => {
    const limiter = loginRateLimiter(manualClock(), { loginBurst: 1, loginRefillPerSecond: 1 })
    for (let i = 0; i < 10; i += 1) {
      limiter.penalize(undefined, 'a')
      expect(await isAllowed(() => limiter.consume(undefined, 'a'))).toBe(true)
    }
  })

  it('is disabled by an infinite burst', async () => {
    const limiter = loginRateLimiter(manualClock(), { loginBurst: Infinity })
    for (let i = 0; i < 10; i += 1) {
      limiter.consume('203.0.113.7', 'a')
      limiter.penalize('203.0.113.7', 'a')
    }
    expect(await isAllowed(() => limiter.consume('203.0.113.7', 'a'))).toBe(true)
  })

  it.each([
    ['loginBurst', { loginBurst: 0 }],
    ['loginBurst', { loginBurst: NaN }],
    ['loginBurst', { loginBurst: '5' as unknown as number }],
    ['loginRefillPerSecond', { loginRefillPerSecond: 0 }],
    ['loginBuckets', { loginBuckets: 0 }],
  ])('rejects an invalid option and names it: %s', (field, options) => {
    expect(() => loginRateLimiter(manualClock(), options)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field }),
    )
  })
})
