import fc from 'fast-check'
import type { Webhook } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from '../../../adapters/portal/app/text/routes.js'
import { sparkPaths } from '../../../adapters/portal/app/text/spark-paths.js'
import { troubleFirst, unique } from '../../../adapters/portal/app/text/trouble-first.js'
import {
  rowAt,
  rowEdges,
  scrollToShow,
  virtualRange,
} from '../../../adapters/portal/app/text/virtual-range.js'
import { formValues, patchOf, settingsOf } from '../../../adapters/portal/app/text/webhook-form.js'

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
  it('have the height of their share of the highest, failures at the bottom', () => {
    expect(sparkPaths([10, 0, 5, 0], [0, 0, 5, 1])).toEqual({
      ok: 'M0 20v-20h3v20zM8 10v-10h3v10z',
      failed: 'M8 20v-10h3v10zM12 20v-2h3v2z',
    })
    expect(sparkPaths([0, 0], [0, 0])).toEqual({ ok: '', failed: '' })
  })
})

describe('the order of webhooks', () => {
  it('puts failing ones first, then paused ones, and keeps the order among them', () => {
    const rows = ['ok', 'paused', 'failing', 'disabled', 'failing', 'idle', 'paused'].map((state, index) => ({
      id: `${state} ${index}`,
      state,
    }))
    expect(troubleFirst(rows).map(({ id }) => id)).toEqual([
      'failing 2',
      'failing 4',
      'paused 1',
      'paused 6',
      'ok 0',
      'disabled 3',
      'idle 5',
    ])
  })

  it('has each webhook once, where it comes first', () => {
    const items = ['b1', 'a1', 'b2', 'c1', 'a2']
    expect(unique(items, ([id]) => id!)).toEqual(['b1', 'a1', 'c1'])
  })
})

describe('the form of a webhook', () => {
  const webhook = {
    id: 'w',
    name: 'CRM',
    uri: 'https://crm.example/in',
    hook: 'all',
    http_verb: 'post',
    retries: 2,
    format: 'json',
    enabled: true,
    include_subaccounts: false,
    include_internal_legs: true,
    ordering: 'call',
    custom_data: { site: 'Berlin: Mitte' },
    custom_request_headers: { 'X-Key': 'a: b' },
    filter: { all: [{ exact: { direction: 'inbound' } }] },
    group: 'crm',
    max_age_seconds: 60,
    rate_limit: 0.5,
  } as unknown as Webhook

  it('gives back the document that it was filled with', () => {
    const { settings } = settingsOf(formValues(webhook)) as { settings: Record<string, unknown> }
    const { id: _, ...expected } = webhook as unknown as Record<string, unknown>
    expect(settings).toEqual(expected)
  })

  it('removes what was cleared, also inside objects, and keeps what it does not know', () => {
    const values = {
      ...formValues(webhook),
      group: '',
      maxAge: '',
      rate: '',
      retries: '',
      customData: 'town: Bonn',
      headers: '',
      filter: '',
    }
    const { settings } = settingsOf(values) as { settings: Record<string, unknown> }
    expect(patchOf(webhook, settings)).toMatchObject({
      group: null,
      max_age_seconds: null,
      rate_limit: null,
      retries: null,
      custom_request_headers: null,
      filter: null,
      custom_data: { site: null, town: 'Bonn' },
    })
    expect(patchOf(webhook, settings)).not.toHaveProperty('ui')
  })

  it('leaves retries, age and rate of a new webhook to the service', () => {
    const { settings } = settingsOf(formValues()) as { settings: Record<string, unknown> }
    for (const name of ['retries', 'max_age_seconds', 'rate_limit']) expect(settings).not.toHaveProperty(name)
  })

  it('replaces a filter, as the service does', () => {
    const { settings } = settingsOf({ ...formValues(webhook), filter: '{"prefix":{"caller":"49"}}' }) as {
      settings: Record<string, unknown>
    }
    expect(patchOf(webhook, settings).filter).toEqual({ prefix: { caller: '49' } })
  })

  it('names the field that cannot be read, and leaves every other check to the service', () => {
    expect(settingsOf({ ...formValues(), headers: 'no colon' })).toEqual({ problem: 'headers' })
    expect(settingsOf({ ...formValues(), customData: ': x' })).toEqual({ problem: 'customData' })
    expect(settingsOf({ ...formValues(), filter: '[]' })).toEqual({ problem: 'filter' })
    const { settings } = settingsOf({ ...formValues(), retries: 'many', only: 'a, b  c' }) as {
      settings: Record<string, unknown>
    }
    expect(settings).toMatchObject({ retries: 'many', only: ['a', 'b', 'c'], hook: 'all' })
  })
})
