import { expect, it } from 'vitest'
import { newCounts } from '../../src/stats/columns.js'
import { completeToMs, seriesOf } from '../../src/stats/series.js'

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

it('a series has the 20 most frequent causes of its range, and the rest as other', () => {
  const causes = Object.fromEntries(Array.from({ length: 22 }, (_, index) => [400 + index, index + 1]))
  const row = { accountId: 'a', webhookId: 'w', step: 60, counts: newCounts() } as const
  const rows = [
    { ...row, startMs: 60_000, causes: { ...causes, other: 4 } },
    { ...row, startMs: 120_000, causes: { 400: 1, 421: 2 } },
  ]
  const series = seriesOf(rows, 60, [0, 60_000, 120_000], 0).causes
  expect(Object.keys(series)).toHaveLength(21)
  expect(series[421]).toEqual([0, 22, 2])
  expect(series[402]).toEqual([0, 3, 0])
  // Those of 400 and 401 are the rarest.
  expect(series.other).toEqual([0, 4 + 1 + 2, 1])
  expect(seriesOf([{ ...row, startMs: 60_000 }], 60, [60_000], 0).causes).toEqual({})
})
