import fc from 'fast-check'
import type { Attempt, Call, CallEvent, Payload, StreamAttempt, StreamRate, Webhook } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import {
  healthSeries,
  percent,
  percentText,
  type StatsDocument,
} from '../../../adapters/portal/app/text/health-series.js'
import { buildLadder, deliveryText, ladderText, legName } from '../../../adapters/portal/app/text/ladder.js'
import { addItems, itemOf, withAttempts } from '../../../adapters/portal/app/text/live-items.js'
import { outcomeOf } from '../../../adapters/portal/app/text/outcome.js'
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
import { troubleFirst, unique } from '../../../adapters/portal/app/text/trouble-first.js'
import {
  resizeRows,
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
  it('have the height of their share of the highest, failures at the bottom', () => {
    expect(sparkPaths([10, 0, 5, 0], [0, 0, 5, 1])).toEqual({
      ok: 'M0 20v-20h3v20zM8 10v-10h3v10z',
      failed: 'M8 20v-10h3v10zM12 20v-2h3v2z',
    })
    expect(sparkPaths([0, 0], [0, 0])).toEqual({ ok: '', failed: '' })
  })
})

describe('items of the live stream', () => {
  const attempt = (fields: Partial<StreamAttempt>) =>
    itemOf({ type: 'attempt', id: 'p', data: fields as StreamAttempt }, 0)!
  const numbered = (id: string) => attempt({ id, sent_at: '2026-01-31T02:31:07.412Z' })

  it('are shown once, the newest first', () => {
    const first = [numbered('1'), numbered('2')]
    const items = addItems(addItems([], first), [numbered('2'), numbered('3')])
    expect(items.map(({ key }) => key)).toEqual(['3', '2', '1'])
    expect(addItems(items, first)).toBe(items)
  })

  it('change the rows of their webhooks: the newest attempt counts, and decides about failing alone', () => {
    const item = (hook_id: string, result: 'success' | 'failure', second: number) =>
      attempt({
        id: `${hook_id}${second}`,
        hook_id,
        result,
        sent_at: `2026-01-31T02:31:0${second}.000Z`,
        resp_status_code: result === 'success' ? '204' : '503',
      })
    const rows = [
      { id: 'a', state: 'ok' },
      { id: 'b', state: 'failing', failing_since: '2026-01-31T02:00:00.000Z' },
      { id: 'c', state: 'paused' },
      { id: 'd', state: 'ok', last: { sent_at: '2026-01-31T02:31:09.000Z', result: 'success' } },
      { id: 'e', state: 'idle' },
    ]
    const items = [
      item('a', 'success', 2),
      item('a', 'failure', 3),
      item('a', 'success', 1),
      item('b', 'success', 4),
      item('c', 'failure', 5),
      item('d', 'failure', 6),
    ]
    const lastOf = (second: number, result: string, resp_status_code: string) => ({
      sent_at: `2026-01-31T02:31:0${second}.000Z`,
      result,
      resp_status_code,
    })
    expect(withAttempts(rows, items)).toEqual([
      {
        id: 'a',
        state: 'failing',
        failing_since: '2026-01-31T02:31:03.000Z',
        last: lastOf(3, 'failure', '503'),
      },
      { id: 'b', state: 'ok', last: lastOf(4, 'success', '204') },
      { id: 'c', state: 'paused', last: lastOf(5, 'failure', '503') },
      rows[3],
      rows[4],
    ])
    expect(withAttempts(rows, [])).toBe(rows)
  })

  it('are bounded, and those without meaning are left out', () => {
    const many = Array.from({ length: 6_000 }, (_, index) => numbered(String(index)))
    expect(addItems([], many)).toHaveLength(5_000)
    const event = { hook_event: 'channel_create' } as unknown as Payload
    expect(itemOf({ type: 'event', id: 'x', data: event }, 0)).toBeUndefined()
    const rate = { hook_id: 'w', ok: 3, failed: 1, timestamp: 7 } as StreamRate
    const shown = { key: 'w/7', webhookId: 'w', rate: { ok: 3, failed: 1 } }
    expect(itemOf({ type: 'rate', id: 'x', data: rate }, 5)).toMatchObject(shown)
    expect(itemOf({ type: 'gap', data: { from: 'x', dropped: 812 } }, 5)).toMatchObject({ news: 'gap' })
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

const GREG = 63_937_000_000
const attempt = (fields: Partial<Attempt>): Attempt => ({
  id: `a${Math.random()}`,
  hook_id: 'crm',
  hook_event: 'channel_create',
  event_id: 'e1',
  delivery_id: 'd1',
  uri: 'https://crm.example/in',
  method: 'post',
  retries_left: 1,
  retries: 2,
  result: 'failure',
  timestamp: GREG,
  sent_at: '2026-01-31T02:31:07.000Z',
  ...fields,
})

describe('the ladder', () => {
  const event = (
    callId: string,
    hook: string,
    sequence: number,
    second: number,
    deliveries: readonly Partial<CallEvent['deliveries'][number]>[],
  ): CallEvent => ({
    id: `${callId}-${sequence}`,
    account_id: 'acme',
    call_id: callId,
    hook,
    sequence,
    timestamp: GREG + second,
    happened_at: new Date(Date.UTC(2026, 0, 31, 2, 31, second)).toISOString(),
    deliveries: deliveries.map((delivery) => ({
      id: 'd1',
      hook_id: 'crm',
      kind: 'first',
      state: 'delivered',
      attempts: 1,
      ...delivery,
    })),
  })
  const call: Call = {
    call_id: 'leg-a',
    legs: [
      { call_id: 'leg-a', from: '+1@x', to: '200@y', events: 2 },
      { call_id: 'leg-b', events: 1 },
    ],
    events: [
      event('leg-a', 'channel_destroy', 4, 41, [{ id: 'd2', state: 'waiting' }]),
      event('leg-a', 'channel_create', 1, 0, [{}]),
      event('leg-b', 'channel_create', 1, 1, []),
    ],
    truncated: false,
    unwanted: [
      { call_id: 'leg-a', sequence: 3 },
      { call_id: 'leg-a', sequence: 2 },
    ],
  }
  const attempts = [
    attempt({
      result: 'success',
      resp_status_code: '204',
      duration_ms: 31,
      sent_at: '2026-01-31T02:31:10.200Z',
    }),
    attempt({ resp_status_code: '503', duration_ms: 100, sent_at: '2026-01-31T02:31:08.000Z' }),
  ]
  const ladder = buildLadder(call, attempts)
  const words = {
    unwanted: 'no webhook matched',
    replay: 'replay',
    state: (state: string) => state,
    waitsFor: (event: string) => `waits for ${event}`,
    webhook: () => 'CRM',
  }

  it('has the events in order of time, with the missing numbers between them', () => {
    expect(ladder.rows.map(({ kind, callId, sequence }) => `${kind} ${callId} ${sequence}`)).toEqual([
      'event leg-a 1',
      'unwanted leg-a 2',
      'unwanted leg-a 3',
      'event leg-b 1',
      'event leg-a 4',
    ])
    expect(ladder.webhookIds).toEqual(['crm'])
    expect(ladder.rows.map(({ offsetMs }) => offsetMs)).toEqual([0, undefined, undefined, 1_000, 41_000])
  })

  it('shows a delivery as a chain of its tries with the waits between', () => {
    const [row] = ladder.rows
    expect(deliveryText(row!.deliveries[0]!, words)).toBe('✕ 503 ┄2.1 s┄▶ ✓ 204 31 ms')
    expect(deliveryText(ladder.rows.at(-1)!.deliveries[0]!, words)).toBe('waiting')
  })

  it('marks a replay', () => {
    const replayed = event('leg-a', 'channel_create', 1, 0, [{ kind: 'replay' }])
    const { rows } = buildLadder({ ...call, events: [replayed] }, attempts)
    expect(deliveryText(rows[0]!.deliveries[0]!, words)).toBe('replay: ✕ 503 ┄2.1 s┄▶ ✓ 204 31 ms')
  })

  it('says which event of its leg a delivery waits for', () => {
    const answer = (sequence: number, state: CallEvent['deliveries'][number]['state'], callId = 'leg-a') =>
      event(callId, 'channel_answer', sequence, sequence, [{ id: `d${sequence}`, state }])
    const events = [
      answer(1, 'exhausted'),
      answer(2, 'waiting'),
      answer(3, 'waiting'),
      answer(4, 'waiting', 'leg-b'),
    ]
    const { rows } = buildLadder({ ...call, unwanted: [], events }, [
      attempt({ delivery_id: 'd2', resp_status_code: '503' }),
    ])
    const texts = rows.map(({ deliveries }) => deliveryText(deliveries[0]!, words))
    expect(texts).toEqual(['exhausted', '✕ 503 waiting', 'waits for channel_answer #2', 'waiting'])
  })

  it('as text has no character that turns the direction or breaks a line', () => {
    const legs = [{ call_id: 'leg-a', from: '\u202Egnp.exe\nB = x', events: 0 }]
    const ofLegs = buildLadder({ ...call, legs, events: [], unwanted: [] }, [])
    const text = ladderText('leg-a', ofLegs, words)
    expect(text).toBe('leg-a\nA = leg-a (\\u{202E}gnp.exe\\u{A}B = x)\n')
  })

  it('is the same as text', () => {
    expect(ladderText('leg-a', ladder, words)).toBe(`leg-a
A = leg-a (+1@x → 200@y)
B = leg-b
+0.000     A channel_create #1
             → CRM: ✕ 503 ┄2.1 s┄▶ ✓ 204 31 ms
           A #2: no webhook matched
           A #3: no webhook matched
+1.000     B channel_create #1
+40.000    A channel_destroy #4
             → CRM: waiting
`)
  })

  it('names legs with letters, and an outcome by what is known of it', () => {
    expect([0, 25, 26, 51, 52, 701, 702].map(legName)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'])
    expect(outcomeOf({ result: 'failure', client_error: 'timeout', reason: 'x' })).toBe('timeout')
    expect(outcomeOf({ result: 'failure' })).toBe('failure')
  })
})

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
