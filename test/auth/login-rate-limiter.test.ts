import { describe, expect, it } from 'vitest'
import { loginRateLimiter } from '../../src/auth/login-rate-limiter.js'
import { manualClock } from '../../src/testkit/clock.js'
import { rateLimitSource } from '../../src/values/rate-limit-source.js'
import { codeOf } from './auth-harness.js'

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
