import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../src/delivery/backoff.js'
import { constant, MAX_DELAY_MS, POLICY_PRESETS, schedule } from '../../src/delivery/policy.js'
import { anyPolicy } from './fixtures.js'

const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('backoffMs', () => {
  it('is never NaN, negative or above the cap, and stays within the jitter', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 500 }), fractions, (policy, tries, random) => {
        const delay = backoffMs(policy, tries, random)
        const withoutJitter = backoffMs({ ...policy, jitter: 0 }, tries, random)
        const capMs = policy.kind === 'exponential' ? policy.capMs : MAX_DELAY_MS
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(withoutJitter * (1 - policy.jitter)) - 1)
        expect(delay).toBeLessThanOrEqual(Math.min(capMs, Math.ceil(withoutJitter * (1 + policy.jitter)) + 1))
      }),
    )
  })

  it('is 5 s, 30 s, 2 min, 10 min, 30 min, then 1 h, ±20 %, for the default policy', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 30].map((tries) => backoffMs(POLICY_PRESETS.standard, tries, 0.5))
    expect(delays).toEqual([5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000])
    expect([1, 6].map((tries) => backoffMs(POLICY_PRESETS.standard, tries, 0))).toEqual([4000, 2_880_000])
    expect([1, 6].map((tries) => backoffMs(POLICY_PRESETS.standard, tries, 0.999_999_9))).toEqual([
      6000, 4_320_000,
    ])
  })

  it('is longer than 10 min if the policy says so', () => {
    expect(backoffMs(constant(3_600_000, { jitter: 0 }), 1, 0.5)).toBe(3_600_000)
    expect(backoffMs(schedule([1000, 86_400_000], { jitter: 0 }), 2, 0.5)).toBe(86_400_000)
  })

  it('is never longer than a week', () => {
    expect(backoffMs(constant(MAX_DELAY_MS), 1, 0.9)).toBe(MAX_DELAY_MS)
  })

  it('repeats the last delay of a schedule', () => {
    const policy = schedule([10, 20], { jitter: 0 })
    expect([1, 2, 3, 9].map((tries) => backoffMs(policy, tries, 0))).toEqual([10, 20, 20, 20])
  })
})
