import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loginLimits, sourceOf } from '../../src/auth/login-limits.js'
import { manualClock } from '../../src/testkit/clock.js'
import { type Bucket, charge, take } from '../../src/values/throttle.js'
import { codeOf } from './auth-world.js'

const rules = fc.record({
  burst: fc.integer({ min: 1, max: 50 }),
  refillPerSecond: fc.double({ min: 0.1, max: 100, noNaN: true }),
})
const steps = fc.array(
  fc.record({
    waitMs: fc.integer({ min: 0, max: 5_000 }),
    logins: fc.integer({ min: 1, max: 60 }),
    wrong: fc.boolean(),
  }),
  { maxLength: 20 },
)

describe('a bucket', () => {
  it('never admits more than its burst and what flowed in since, and admits again after the wait it names', () => {
    fc.assert(
      fc.property(rules, steps, (rule, history) => {
        let bucket: Bucket | undefined
        let nowMs = 0
        const admittedMs: number[] = []
        for (const { waitMs, logins, wrong } of history) {
          nowMs += waitMs
          for (let login = 0; login < logins; login += 1) {
            const taken = take(bucket, 1, nowMs, rule)
            bucket = taken.bucket
            if (!taken.granted) {
              expect(taken.waitMs).toBeGreaterThan(0)
              expect(take(bucket, 1, nowMs + taken.waitMs, rule).granted).toBe(true)
              break
            }
            admittedMs.push(nowMs)
            if (wrong) bucket = charge(bucket, 4, nowMs, rule)
            if (bucket.units < -rule.burst) throw new Error(`the debt is ${-bucket.units}`)
          }
          // In every window that ends now, however long nobody came before it.
          admittedMs.forEach((fromMs, index) => {
            const flowedIn = ((nowMs - fromMs) * rule.refillPerSecond) / 1_000
            if (admittedMs.length - index > rule.burst + flowedIn + 1e-6) {
              throw new Error(`${admittedMs.length - index} logins since ${fromMs} ms`)
            }
          })
        }
      }),
      { numRuns: 300 },
    )
  })

  it('admits its whole burst at once when full, and one more when one more has flowed in', () => {
    const rule = { burst: 3, refillPerSecond: 2 }
    let bucket: Bucket | undefined
    for (let i = 0; i < 3; i += 1) {
      const taken = take(bucket, 1, 0, rule)
      expect(taken.granted).toBe(true)
      bucket = taken.bucket
    }
    expect(take(bucket, 1, 0, rule)).toMatchObject({ granted: false, waitMs: 500 })
    expect(take(bucket, 1, 499, rule).granted).toBe(false)
    expect(take(bucket, 1, 500, rule).granted).toBe(true)
  })

  it('does not count refusals: who keeps asking gets in as soon as who waits', () => {
    const rule = { burst: 1, refillPerSecond: 1 }
    let { bucket } = take(undefined, 1, 0, rule)
    for (let ms = 0; ms < 1_000; ms += 10) {
      const taken = take(bucket, 1, ms, rule)
      expect(taken.granted).toBe(false)
      bucket = taken.bucket
    }
    expect(take(bucket, 1, 1_001, rule).granted).toBe(true)
  })

  it('goes into debt by one burst at most', () => {
    const rule = { burst: 10, refillPerSecond: 1 }
    let bucket: Bucket | undefined
    for (let i = 0; i < 100; i += 1) bucket = charge(bucket, 4, 0, rule)
    expect(take(bucket, 1, 0, rule).waitMs).toBe(11_000)
  })
})

const admitted = async (work: () => void) => (await codeOf((async () => work())())) === 'resolved'

describe('login limits', () => {
  it('count an IPv4 address in either spelling, and all of an IPv6 /64, as one source', () => {
    expect(sourceOf('::ffff:203.0.113.7')).toBe(sourceOf('203.0.113.7'))
    expect(sourceOf('2001:db8:0:1::1')).toBe(sourceOf('2001:0DB8::1:ffff:ffff:ffff:ffff'))
    expect(sourceOf('2001:db8:0:2::1')).not.toBe(sourceOf('2001:db8:0:1::1'))
    expect(sourceOf('203.0.113.8')).not.toBe(sourceOf('203.0.113.7'))
    expect(sourceOf('/run/socket'.repeat(100)).length).toBeLessThan(100)
  })

  it('say when to come back', async () => {
    const limits = loginLimits(manualClock(), { loginBurst: 1, loginRefillPerSecond: 0.1 })
    limits.admit('203.0.113.7', undefined)
    expect(() => limits.admit('203.0.113.7', 'a')).toThrow(
      expect.objectContaining({ code: 'TooManyLogins', retryAfterSeconds: 10 }),
    )
  })

  it('take from no bucket when one of them refuses', async () => {
    const clock = manualClock()
    const limits = loginLimits(clock, { loginBurst: 2, loginRefillPerSecond: 1 })
    limits.wrong('203.0.113.7', 'a')
    await clock.advance(3_000)
    // Two units in debt and three flowed in: one is there.
    expect(await admitted(() => limits.admit('203.0.113.7', 'a'))).toBe(true)
    expect(await admitted(() => limits.admit('203.0.113.7', 'b'))).toBe(false)
    await clock.advance(1_000)
    expect(await admitted(() => limits.admit('203.0.113.7', 'b'))).toBe(true)
  })

  it('keep a bounded number of buckets', async () => {
    const limits = loginLimits(manualClock(), { loginBurst: 1, loginRefillPerSecond: 1, loginBuckets: 2 })
    limits.admit('203.0.113.1', undefined)
    limits.admit('203.0.113.2', undefined)
    expect(await admitted(() => limits.admit('203.0.113.1', undefined))).toBe(false)
    limits.admit('203.0.113.3', undefined)
    expect(await admitted(() => limits.admit('203.0.113.2', undefined))).toBe(true)
  })

  it('do not limit the host itself, which has no address', async () => {
    const limits = loginLimits(manualClock(), { loginBurst: 1, loginRefillPerSecond: 1 })
    for (let i = 0; i < 10; i += 1) {
      limits.wrong(undefined, 'a')
      expect(await admitted(() => limits.admit(undefined, 'a'))).toBe(true)
    }
  })

  it('are switched off by an infinite burst', async () => {
    const limits = loginLimits(manualClock(), { loginBurst: Infinity })
    for (let i = 0; i < 10; i += 1) {
      limits.admit('203.0.113.7', 'a')
      limits.wrong('203.0.113.7', 'a')
    }
    expect(await admitted(() => limits.admit('203.0.113.7', 'a'))).toBe(true)
  })

  it.each([
    ['loginBurst', { loginBurst: 0 }],
    ['loginBurst', { loginBurst: NaN }],
    ['loginBurst', { loginBurst: '5' as unknown as number }],
    ['loginRefillPerSecond', { loginRefillPerSecond: 0 }],
    ['loginBuckets', { loginBuckets: 0 }],
  ])('name the option %s when it is wrong', (field, options) => {
    expect(() => loginLimits(manualClock(), options)).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field }),
    )
  })
})
