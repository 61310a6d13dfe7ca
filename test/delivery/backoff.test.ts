import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, delayBounds } from '../../src/delivery/backoff.js'
import { constant, POLICY_PRESETS, schedule } from '../../src/delivery/policy.js'
import { anyPolicy } from './fixtures.js'

const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('backoffMs', () => {
  it('is never NaN, negative or above the cap, and stays within the jitter', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 500 }), fractions, (policy, tries, random) => {
        const delay = backoffMs(policy, tries, random)
        const withoutJitter = backoffMs({ ...policy, jitter: 0 }, tries, random)
        const { capMs } = delayBounds(policy)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(withoutJitter * (1 - policy.jitter)) - 1)
        expect(delay).toBeLessThanOrEqual(Math.min(capMs, Math.ceil(withoutJitter * (1 + policy.jitter)) + 1))
      }),
    )
  })

  it('is 2 s, 6 s, 18 s … up to 10 min, ±20 %, for the default policy', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((tries) => backoffMs(POLICY_PRESETS.telephony, tries, 0.5))
    expect(delays).toEqual([2000, 6000, 18_000, 54_000, 162_000, 486_000, 600_000])
    expect(backoffMs(POLICY_PRESETS.telephony, 1, 0)).toBe(1600)
    expect(backoffMs(POLICY_PRESETS.telephony, 1, 0.999_999)).toBe(2400)
  })

  it('is longer than 10 min if the policy says so', () => {
    expect(backoffMs(constant(3_600_000, { jitter: 0 }), 1, 0.5)).toBe(3_600_000)
    expect(backoffMs(schedule([1000, 86_400_000], { jitter: 0 }), 2, 0.5)).toBe(86_400_000)
  })

  it('repeats the last delay of a schedule', () => {
    const policy = schedule([10, 20], { jitter: 0 })
    expect([1, 2, 3, 9].map((tries) => backoffMs(policy, tries, 0))).toEqual([10, 20, 20, 20])
  })
})
