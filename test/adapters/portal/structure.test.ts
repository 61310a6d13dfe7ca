import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from '../../../adapters/portal/app/text/routes.js'
import { sparkPaths } from '../../../adapters/portal/app/text/spark-paths.js'
import {
  resizeRows,
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

  it('move when others turn out higher or lower', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(100), { minLength: 1, maxLength: 50 }),
        fc.dictionary(fc.nat(49).map(String), fc.nat(100), { minKeys: 1 }),
        (heights, changes) => {
          const known = Object.entries(changes).filter(([index]) => Number(index) < heights.length)
          if (known.length === 0) return
          const edges = rowEdges(heights.length, (index) => heights[index]!)
          resizeRows(edges, new Map(known.map(([index, height]) => [Number(index), height])))
          const wanted = heights.map((height, index) => changes[index] ?? height)
          expect([...edges]).toEqual([...rowEdges(wanted.length, (index) => wanted[index]!)])
        },
      ),
    )
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
