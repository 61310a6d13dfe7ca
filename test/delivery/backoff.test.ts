import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, delayBounds } from '../../src/delivery/backoff.js'
import { constant, custom, exponential, POLICY_PRESETS, schedule } from '../../src/delivery/policy.js'
import { policies } from './fixtures.js'

const rolls = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('backoff', () => {
  it('is never NaN, negative or above the cap, and stays inside its jitter', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 500 }), rolls, (policy, tries, roll) => {
        const delay = backoffMs(policy, tries, roll)
        const plain = backoffMs({ ...policy, jitter: 0 }, tries, roll)
        const { capMs } = delayBounds(policy)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(plain * (1 - policy.jitter)) - 1)
        expect(delay).toBeLessThanOrEqual(Math.min(capMs, Math.ceil(plain * (1 + policy.jitter)) + 1))
      }),
    )
  })

  it('of the default policy is 2 s, 6 s, 18 s … up to 10 min, ±20 %', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((tries) => backoffMs(POLICY_PRESETS.telephony, tries, 0.5))
    expect(delays).toEqual([2000, 6000, 18_000, 54_000, 162_000, 486_000, 600_000])
    expect(backoffMs(POLICY_PRESETS.telephony, 1, 0)).toBe(1600)
    expect(backoffMs(POLICY_PRESETS.telephony, 1, 0.999_999)).toBe(2400)
  })

  it('of a schedule repeats its last delay', () => {
    const policy = schedule([10, 20], { jitter: 0 })
    expect([1, 2, 3, 9].map((tries) => backoffMs(policy, tries, 0))).toEqual([10, 20, 20, 20])
  })
})

describe('a policy that is not well-formed', () => {
  it.each([
    ['baseMs', () => exponential({ baseMs: -1 })],
    ['capMs', () => exponential({ baseMs: 10, capMs: 5 })],
    ['factor', () => exponential({ factor: 0.5 })],
    ['jitter', () => exponential({ jitter: 2 })],
    ['delayMs', () => constant(Number.NaN)],
    ['delaysMs', () => schedule([])],
    ['delaysMs[1]', () => schedule([1, Number.POSITIVE_INFINITY])],
    ['name', () => custom('')],
  ])('is refused with the name of %s', (field, make) => {
    expect(make).toThrow(`retryPolicy.${field}`)
  })
})
