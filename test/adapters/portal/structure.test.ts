import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  healthSeries,
  percent,
  percentText,
  type StatsDocument,
} from '../../../adapters/portal/app/text/health-series.js'
import {
  linearScale,
  linePath,
  nearestIndex,
  niceMaximum,
  timeTicks,
  valueTicks,
} from '../../../adapters/portal/app/text/plot-geometry.js'
import { formatRoute, parseRoute } from '../../../adapters/portal/app/text/routes.js'
import { sparkPaths } from '../../../adapters/portal/app/text/spark-paths.js'
import {
  rowAt,
  rowEdges,
  scrollToShow,
  virtualRange,
} from '../../../adapters/portal/app/text/virtual-range.js'

describe('addresses', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['#/acme/webhooks', { screen: 'webhooks', accountId: 'acme', query: {} }],
    [
      '#/acme/webhooks?state=failing&q=a+b',
      { screen: 'webhooks', accountId: 'acme', query: { state: 'failing', q: 'a b' } },
    ],
    ['#/acme/webhooks/new', { screen: 'new', accountId: 'acme', query: {} }],
    [
      '#/acme/webhooks/W1/attempts',
      { screen: 'webhook', accountId: 'acme', id: 'W1', tab: 'attempts', query: {} },
    ],
    ['#/acme/deliveries/D1', { screen: 'delivery', accountId: 'acme', id: 'D1', query: {} }],
    ['#/acme/calls/a%2Fb%3Fc%23d', { screen: 'call', accountId: 'acme', id: 'a/b?c#d', query: {} }],
    ['#/acme/live', { screen: 'live', accountId: 'acme', query: {} }],
    ['#/acme/match', { screen: 'match', accountId: 'acme', query: {} }],
    ['#/acme/search?q=leg-1', { screen: 'search', accountId: 'acme', query: { q: 'leg-1' } }],
    ['#/operator', { screen: 'operator', query: {} }],
  ]

  it('name their screen, and screens their address', () => {
    for (const [hash, route] of cases) {
      expect(parseRoute(hash)).toEqual(route)
      expect(formatRoute(route as ReturnType<typeof parseRoute>)).toBe(hash)
    }
  })

  it('lead to the list without a path, and nowhere where they are wrong', () => {
    expect(parseRoute('').screen).toBe('webhooks')
    expect(parseRoute('#/').screen).toBe('webhooks')
    expect(formatRoute({ screen: 'webhooks', query: { q: 'x' } })).toBe('#/?q=x')
    for (const hash of [
      '#/a/b',
      '#/a/webhooks/W/t/x',
      '#/a/calls',
      '#/a/live/x',
      '#/%ff',
      '#/a/deliveries/D/x',
    ]) {
      expect(parseRoute(hash).screen, hash).toBe('unknown')
    }
  })

  it('hold any id', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        expect(parseRoute(formatRoute({ screen: 'call', accountId: 'a', id }))).toMatchObject({
          screen: 'call',
          id,
        })
      }),
    )
  })
})

describe('the rows in the document', () => {
  const even = (count: number) => rowEdges(count, () => 44)

  it('are the visible ones and one around them', () => {
    expect(virtualRange(even(100_000), 0, 440)).toEqual({ first: 0, end: 12, above: 0, below: 99_988 * 44 })
    const middle = virtualRange(even(100_000), 44_000, 440)
    expect([middle.first, middle.end]).toEqual([999, 1_012])
    expect(virtualRange(even(100), 1e9, 440)).toMatchObject({ first: 98, end: 100, below: 0 })
    // The table begins below the visible part.
    expect(virtualRange(even(100), -500, 440)).toMatchObject({ first: 0, above: 0 })
    expect(virtualRange(even(0), 0, 440)).toEqual({ first: 0, end: 0, above: 0, below: 0 })
  })

  it('cover the window at every position whatever their heights, and the height of all never changes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 30, max: 400 }), { minLength: 1, maxLength: 300 }),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 4_000 }),
        (heights, position, viewport) => {
          const edges = rowEdges(heights.length, (index) => heights[index]!)
          const all = heights.reduce((sum, height) => sum + height, 0)
          const top = position % all
          const { first, end, above, below } = virtualRange(edges, top, viewport)
          const rendered = heights.slice(first, end).reduce((sum, height) => sum + height, 0)
          expect(above + rendered + below).toBe(all)
          expect(above).toBeLessThanOrEqual(top)
          expect(above + rendered).toBeGreaterThanOrEqual(Math.min(all, top + viewport))
          expect(end - first).toBeLessThanOrEqual(Math.ceil(viewport / 30) + 4)
        },
      ),
    )
  })

  it('are found by their position', () => {
    const edges = rowEdges(3, (index) => [10, 20, 30][index]!)
    expect([-5, 0, 9, 10, 29, 30, 59, 60, 999].map((position) => rowAt(edges, position))).toEqual([
      0, 0, 0, 1, 1, 2, 2, 2, 2,
    ])
  })

  it('scroll no further than needed to show one', () => {
    expect(scrollToShow(even(100), 0, 100, 440)).toBe(-100)
    expect(scrollToShow(even(100), 5, 0, 440)).toBe(0)
    expect(scrollToShow(even(100), 20, 0, 440)).toBe(21 * 44 - 440)
  })
})

describe('the bars of a sparkline', () => {
  it('have the height of their share of the highest, failures on top, and a line where there is nothing', () => {
    expect(sparkPaths([10, 0, 5, 0], [0, 0, 5, 1])).toEqual({
      ok: 'M0 24v-24h3v24zM8 24v-12h3v12z',
      failed: 'M8 12v-12h3v12zM12 24v-2.4h3v2.4z',
      none: 'M4 24v-1h3v1z',
    })
    expect(sparkPaths([0], [0])).toEqual({ ok: '', failed: '', none: 'M0 24v-1h3v1z' })
  })
})

const GREG = 63_937_000_000

describe('statistics', () => {
  const stats: StatsDocument = {
    step: 60,
    start: [GREG, GREG + 60, GREG + 120],
    ok: [9, 0, 1],
    failed: [1, 0, 9],
    outcomes: { http_5xx: [1, 0, 7], timeout: [0, 0, 2], refused: [0, 0, 0], delivered: [9, 0, 1] },
    latency_ms: { p50: [10, null, 20], p95: [20, null, 30], p99: [30, null, 40] },
  }

  it('become series with gaps, totals and causes by frequency', () => {
    const series = healthSeries(stats)
    expect(series.okPercent).toEqual([90, null, 10])
    expect([series.total, series.totalOkPercent]).toEqual([20, 50])
    expect(series.causes).toEqual([
      { cause: 'http_5xx', count: 8 },
      { cause: 'timeout', count: 2 },
    ])
    expect(series.times[1]! - series.times[0]!).toBe(60)
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

  it('have gaps where values are missing, and dots between gaps', () => {
    expect(linePath([0, 1, 2, 3, 4], [1, 2, null, 4, null], x, y)).toBe(
      'M0 30L10 20M30 0m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0',
    )
    expect(linePath([], [], x, y)).toBe('')
  })

  it('end at a round value', () => {
    expect([0, 0.3, 1, 7, 42, 812, 5_000, Number.NaN].map(niceMaximum)).toEqual([
      1, 0.5, 1, 10, 50, 1_000, 5_000, 1,
    ])
    expect(valueTicks(0, 4, y, String).map(({ label }) => label)).toEqual(['0', '1', '2', '3', '4'])
  })

  it('have ticks at round times that do not overlap', () => {
    const from = Date.UTC(2026, 0, 31, 2, 31) / 1_000
    for (const hours of [1, 24, 168, 720]) {
      const scale = linearScale(from, from + hours * 3_600, 64, 600)
      const ticks = timeTicks(from, from + hours * 3_600, scale, 'utc')
      expect(ticks.length).toBeGreaterThan(1)
      for (const [index, { at }] of ticks.entries())
        if (index > 0) expect(at - ticks[index - 1]!.at).toBeGreaterThanOrEqual(69)
    }
    const day = timeTicks(from, from + 86_400, linearScale(from, from + 86_400, 64, 600), 'utc')
    expect(day[0]!.label).toBe('06:00')
  })

  it('find the nearest slot', () => {
    expect(nearestIndex([0, 5, 10], 60, x)).toBe(1)
    expect(nearestIndex([], 60, x)).toBe(-1)
  })
})
