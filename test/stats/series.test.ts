import { expect, it } from 'vitest'
import { completeToMs } from '../../src/stats/series.js'

it.each([
  // The longest attempt, and two intervals of 10 s in which counts are written; then the start of its minute.
  { nowMs: 159_999, attemptTimeoutMs: 20_000, expected: 60_000 },
  { nowMs: 160_000, attemptTimeoutMs: 20_000, expected: 120_000 },
  { nowMs: 160_000, attemptTimeoutMs: 20_001, expected: 60_000 },
  { nowMs: 149_999, attemptTimeoutMs: 10_000, expected: 60_000 },
  { nowMs: 150_000, attemptTimeoutMs: 10_000, expected: 120_000 },
  { nowMs: 440_000, attemptTimeoutMs: 300_000, expected: 120_000 },
  { nowMs: 440_000, attemptTimeoutMs: 10_000, oldestUnwrittenMs: 180_000, expected: 180_000 },
  { nowMs: 160_000, attemptTimeoutMs: 20_000, oldestUnwrittenMs: 180_000, expected: 120_000 },
])(
  'counts are complete up to $expected at $nowMs with attempts of up to $attemptTimeoutMs ms',
  ({ nowMs, attemptTimeoutMs, oldestUnwrittenMs, expected }) => {
    expect(completeToMs(nowMs, attemptTimeoutMs, oldestUnwrittenMs)).toBe(expected)
  },
)
