/** Statistics of a webhook as bars and lines. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromGregorian } from '../../../adapters/portal/app/text/gregorian-time.js'
import { percent, percentText } from '../../../adapters/portal/app/text/health-series.js'
import {
  barPaths,
  linearScale,
  linePath,
  niceMaximum,
  timeTicks,
} from '../../../adapters/portal/app/text/plot-geometry.js'
import {
  healthSeries,
  type StatsDocument,
  typicalAnswerMs,
} from '../../../adapters/portal/app/text/stats-series.js'
import { isStatus, statusText } from '../../../adapters/portal/app/text/statuses.js'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** 2026-01-31 02:00 in Gregorian seconds. */
const GREG = 62_167_219_200 + Date.UTC(2026, 0, 31, 2) / 1_000

function stats(slots: number, fields: Partial<StatsDocument> = {}): StatsDocument {
  const all = Array.from({ length: slots }, (_, index) => index)
  return {
    step: 60,
    start: all.map((slot) => GREG + slot * 60),
    ok: all.map(() => 9),
    failed: all.map(() => 1),
    causes: {},
    latency_ms: { p50: all.map(() => 10), p95: all.map(() => 20) },
    ...fields,
  }
}

describe('statistics', () => {
  it('have totals, and causes by frequency', () => {
    const causes = { timeout_answer: [0, 0, 2], 503: [1, 0, 7], refused: [0, 0, 0] }
    const series = healthSeries(stats(3, { ok: [9, 0, 1], failed: [1, 0, 9], causes }), 72)
    expect([series.ok, series.failed]).toEqual([10, 10])
    expect(series.causes).toEqual([
      { cause: '503', count: 8 },
      { cause: 'timeout_answer', count: 2 },
    ])
  })

  it('are merged into bars that begin at round times', () => {
    const series = healthSeries(stats(170), 72)
    expect(series.barMs).toBe(3 * MINUTE_MS)
    expect(series.bars).toHaveLength(57)
    expect(series.bars[0]).toEqual({
      fromMs: fromGregorian(GREG),
      toMs: fromGregorian(GREG) + 3 * MINUTE_MS,
      ok: 27,
      failed: 3,
    })
    // The last one has two minutes.
    expect(series.bars.at(-1)).toMatchObject({ ok: 18, failed: 2 })
    const odd = healthSeries(stats(170, { start: stats(170).start.map((start) => start + 60) }), 72)
    expect(odd.bars[1]!.fromMs % (3 * MINUTE_MS)).toBe(0)
  })

  it('lose no attempt in their bars', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 900 }), fc.integer({ min: 40, max: 100 }), (ok, most) => {
        const series = healthSeries(stats(ok.length, { ok }), most)
        expect(series.bars.reduce((sum, bar) => sum + bar.ok, 0)).toBe(series.ok)
        expect(series.bars.length).toBeLessThanOrEqual(most + 1)
      }),
    )
  })

  it('know how long an answer usually takes, before a time', () => {
    const document = stats(4, {
      ok: [100, 100, 0, 10],
      failed: [0, 0, 0, 0],
      latency_ms: { p50: [40, 50, null, 900], p95: [] },
    })
    expect(typicalAnswerMs(document)).toBe(50)
    expect(typicalAnswerMs(document, fromGregorian(GREG) + MINUTE_MS)).toBe(40)
    expect(typicalAnswerMs(document, fromGregorian(GREG))).toBeUndefined()
  })

  it('show 100 % and 0 % only where they are exact', () => {
    expect([100, 99.99, 61.24, 0.01, 0].map((value) => percentText(value, 'en'))).toEqual([
      '100 %',
      '99.9 %',
      '61.2 %',
      '0.1 %',
      '0 %',
    ])
    expect(percent(0, 0)).toBeUndefined()
  })
})

describe('plots', () => {
  const x = linearScale(0, 10, 0, 100)
  const y = linearScale(0, 4, 40, 0)

  it('have gaps where values are missing, and short lines between gaps', () => {
    expect(linePath([0, 1, 2, 3, 4], [1, 2, null, 4, null], x, y, 6)).toBe('M0 30L10 20M27 0h6')
    expect(linePath([], [], x, y, 6)).toBe('')
  })

  it('have failures on top of what was delivered, and show a single one', () => {
    const bar = (fromMs: number, ok: number, failed: number) => ({ fromMs, toMs: fromMs + 1, ok, failed })
    expect(barPaths([bar(0, 2, 1), bar(1, 0, 0), bar(2, 0, 0.001)], x, y)).toEqual({
      ok: 'M1 20h8v20h-8z',
      failed: 'M1 10h8v10h-8zM21 38h8v2h-8z',
    })
  })

  it('end at a round value', () => {
    expect([0, 1, 2, 3, 7, 11, 42, 51, 812, 1_170, 5_000, Number.NaN].map(niceMaximum)).toEqual([
      2, 2, 2, 4, 8, 12, 60, 60, 1_000, 1_200, 6_000, 2,
    ])
  })

  it('have ticks at round times, hours or days, and no more than there is room for', () => {
    const from = Date.UTC(2026, 0, 31, 2, 31)
    const ticksOf = (hours: number) =>
      timeTicks(from, from + hours * HOUR_MS, 8, 'utc', (ms) => `day ${new Date(ms).getUTCDate()}`)
    for (const hours of [1, 2, 3.5, 12, 24, 168, 720]) {
      expect(ticksOf(hours).length, String(hours)).toBeGreaterThan(1)
      expect(ticksOf(hours).length, String(hours)).toBeLessThanOrEqual(9)
    }
    expect(ticksOf(2)[0]!.label).toBe('02:45')
    expect(ticksOf(24)[0]!.label).toBe('03:00')
    expect(ticksOf(168)[0]!.label).toBe('day 1')
  })
})

describe('statuses', () => {
  it('have their names', () => {
    expect(['503', '204', '599', 'constructor'].map(statusText)).toEqual([
      '503 Service Unavailable',
      '204 No Content',
      '599',
      'constructor',
    ])
    expect(['503', '5030', 'refused', ''].map(isStatus)).toEqual([true, false, false, false])
  })
})
