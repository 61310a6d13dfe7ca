import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countAttempt, DURATION_BOUNDS_MS, newCounts } from '../../src/stats/columns.js'
import { quantileMs } from '../../src/stats/quantile.js'
import { newRecord } from './records.js'

function countsOf(durations: readonly number[]): number[] {
  const counts = newCounts()
  for (const durationMs of durations) countAttempt(counts, newRecord({ durationMs }))
  return counts
}

describe('a quantile', () => {
  it('is undefined without durations', () => {
    expect(quantileMs(newCounts(), 0.5)).toBeUndefined()
  })

  it('is interpolated within its bucket', () => {
    expect(quantileMs(countsOf([60, 70, 80, 90]), 0.5)).toBe(75)
    expect(quantileMs(countsOf([60, 70, 80, 90]), 1)).toBe(100)
    expect(quantileMs(countsOf([1, 1, 60, 60]), 0.5)).toBe(5)
    expect(quantileMs(countsOf([1]), 0.5)).toBe(3)
  })

  it('above the last bound is that bound', () => {
    expect(quantileMs(countsOf([20_000, 30_000]), 0.99)).toBe(10_000)
  })

  it('is in the bucket of the exact quantile, and grows with the fraction', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 200 }),
        fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 }),
        (durations, fractions) => {
          const counts = countsOf(durations)
          const sorted = durations.toSorted((a, b) => a - b)
          let before = 0
          for (const fraction of fractions.toSorted((a, b) => a - b)) {
            const exact = sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)]!
            const bucket = DURATION_BOUNDS_MS.findIndex((bound) => exact <= bound)
            const quantile = quantileMs(counts, fraction)!
            expect(quantile).toBeGreaterThanOrEqual(bucket === 0 ? 0 : DURATION_BOUNDS_MS[bucket - 1]!)
            expect(quantile).toBeLessThanOrEqual(DURATION_BOUNDS_MS[bucket]!)
            expect(quantile).toBeGreaterThanOrEqual(before)
            before = quantile
          }
        },
      ),
    )
  })
})
