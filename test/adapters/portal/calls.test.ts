/** Calls, their deliveries and the live list as the page says them, in both languages. */
import type {
  Attempt,
  Call,
  CallEvent,
  Explanation,
  Payload,
  StreamAttempt,
  StreamRate,
} from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import de from '../../../adapters/portal/app/locales/de.json'
import en from '../../../adapters/portal/app/locales/en.json'
import {
  activityFilter,
  attemptFilters,
  deliveryFilters,
  resultIn,
} from '../../../adapters/portal/app/text/activity.js'
import { explain } from '../../../adapters/portal/app/text/explanation.js'
import {
  buildLadder,
  hitText,
  type LadderEvent,
  ladderText,
  legName,
  legParty,
  missingOf,
  withWebhooks,
} from '../../../adapters/portal/app/text/ladder.js'
import {
  addItems,
  addToRate,
  emptyRate,
  itemOf,
  type LiveItem,
  MAX_ROWS,
  passes,
  rateFigures,
  withAttempts,
} from '../../../adapters/portal/app/text/live-items.js'
import { outcomeOf, retryAfterMs, sameOutcomes } from '../../../adapters/portal/app/text/outcome.js'
import { partiesText, partyName } from '../../../adapters/portal/app/text/parties.js'
import { formatMessage } from '../../../adapters/portal/app/text/plural.js'

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

describe('the sentences about a delivery', () => {
  const AT = Date.UTC(2026, 0, 31, 14, 36, 0)
  const said = (
    explanation: Partial<Explanation>,
    context: { readonly attempts?: number; readonly sameAnswers?: number } = {},
    language: 'en' | 'de' = 'en',
  ) => {
    const { lead, rest } = explain(
      explanation as Explanation,
      { atMs: AT, attempts: explanation.attempts ?? 0, ...context },
      {
        say: (key, parameters) => formatMessage(language === 'en' ? en : de, language, key, parameters),
        cause: (name) => `<${name}>`,
        clock: (ms) => new Date(ms).toISOString().slice(11, 19),
      },
    )
    return [lead, rest].join(' | ')
  }

  it('begin with what the server did, and then say what happens next', () => {
    const paused = { code: 'paused', seconds: 10, failures: 3, reason: 'status 503' } as const
    expect(said(paused, { attempts: 3, sameAnswers: 3 })).toBe(
      'Your server has answered 503 to all 3 tries. | This webhook is paused; the next try is at 14:36:10.',
    )
    expect(said(paused, { attempts: 3, sameAnswers: 1 })).toMatch(
      /^Your server answered 503 at the last of 3 tries\. \|/,
    )
    expect(said(paused)).toMatch(/^Your server last answered 503\. \|/)
    expect(said({ code: 'retry', seconds: 5, attempts: 1, reason: 'timeout_answer' })).toBe(
      'Last try: <timeout_answer>. | The next try is at 14:36:05.',
    )
    expect(said({ code: 'receiver_pause', seconds: 240, reason: 'status 429' })).toBe(
      'Your server last answered 429. | Your server asks us to wait until 14:40:00.',
    )
  })

  it('begin with the end of a delivery that has ended', () => {
    expect(said({ code: 'exhausted', attempts: 6, reason: 'status 404' })).toBe(
      'Not delivered: 6 tries failed. | Your server answered 404 at the last of 6 tries.',
    )
    expect(said({ code: 'exhausted', attempts: 1, reason: 'status 404' })).toBe(
      'Not delivered: 1 try failed. | Your server answered 404.',
    )
    expect(said({ code: 'delivered', attempts: 1 })).toBe('Delivered at the first try. | ')
    expect(said({ code: 'delivered', attempts: 2, reason: 'status 503' })).toBe('Delivered at try 2. | ')
    expect(said({ code: 'expired' })).toBe('Too old: its time was over before it could be sent. | ')
    expect(said({ code: 'expired', attempts: 2, reason: 'refused' })).toBe(
      'Too old: 2 tries failed, and then its time was over. | Last try: <refused>.',
    )
  })

  it('say that a fault was ours, and how late a server answers', () => {
    expect(said({ code: 'retry', seconds: 1, attempts: 1, reason: 'own fault' })).toMatch(
      /^The fault was ours\./,
    )
    expect(said({ code: 'retry', seconds: 1, attempts: 1, reason: 'interrupted' })).toMatch(
      /^The fault was ours\./,
    )
    // Nothing is promised for what has ended.
    expect(said({ code: 'expired', attempts: 1, reason: 'interrupted' })).toBe(
      'Too old: 1 try failed, and then its time was over. | ',
    )
    expect(said({ code: 'due', took: 12.3, timeout: 10 })).toBe(
      'It is sent any moment now. | Your server answers after 12.3 s, the limit is 10 s.',
    )
  })

  it('are German throughout', () => {
    expect(said({ code: 'exhausted', attempts: 2, reason: 'status 500' }, { sameAnswers: 2 }, 'de')).toBe(
      'Nicht zugestellt: 2 Versuche sind gescheitert. | Ihr Server hat beide Versuche mit 500 beantwortet.',
    )
    expect(said({ code: 'call_order', ahead: 1 }, {}, 'de')).toBe(
      'Wartet auf 1 früheres Ereignis dieses Anrufs. | ',
    )
    expect(said({ code: 'endpoint_cap', limit: 10 }, {}, 'de')).toBe(
      'Wartet auf einen freien Platz: 10 Anfragen an Ihren Server laufen. | ',
    )
  })
})

describe('the outcome of attempts', () => {
  it('is what is known of it, and those in a row that are the same are counted', () => {
    expect(outcomeOf({ result: 'failure', client_error: 'timeout', reason: 'x' })).toBe('timeout')
    expect(outcomeOf({ result: 'failure' })).toBe('failure')
    const [a, b] = [attempt({ resp_status_code: '503' }), attempt({ cause: 'refused' })]
    expect([[], [a], [b, a, a], [a, b]].map(sameOutcomes)).toEqual([0, 1, 2, 1])
  })

  it('may ask for a time to wait', () => {
    expect(retryAfterMs('300')).toEqual({ waitMs: 300_000 })
    expect(retryAfterMs('1.5')).toEqual({ waitMs: 1_500 })
    expect(retryAfterMs('Sat, 31 Jan 2026 02:31:07 GMT')).toEqual({
      untilMs: Date.UTC(2026, 0, 31, 2, 31, 7),
    })
    for (const value of ['', 'soon', '-1', '99999999999', 'GMT'])
      expect(retryAfterMs(value), value).toBeUndefined()
  })
})

describe('the parties of a call', () => {
  it('are numbers and users without their domains', () => {
    expect(['+12025550123@carrier.example', 'sip:mia@x', '2031', '@x'].map(partyName)).toEqual([
      '+12025550123',
      'mia',
      '2031',
      '@x',
    ])
    expect(partiesText({ from: '+1@x', to: '200@y' })).toBe('+1 → 200')
    expect(partiesText({ to: '200@y' })).toBe('200')
    expect([partiesText({}), partiesText()]).toEqual([undefined, undefined])
    expect(legParty({ call_id: 'a', from: '+1@x', to: '200@y' })).toBe('+1')
    expect(legParty({ call_id: 'a', from: '+1@x', to: '200@y', direction: 'outbound' })).toBe('200')
    expect(legParty({ call_id: 'a' })).toBeUndefined()
  })
})

describe('the ladder', () => {
  type DeliveryFields = Partial<CallEvent['deliveries'][number]>
  const event = (
    callId: string,
    hook: string,
    sequence: number,
    second: number,
    deliveries: readonly DeliveryFields[],
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
    records: 'part',
    unwanted: [
      { call_id: 'leg-a', sequence: 2 },
      { call_id: 'leg-a', sequence: 3 },
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
  const NOW = Date.UTC(2026, 0, 31, 14)
  const ladder = buildLadder(call, attempts, NOW)
  const words = {
    event: (hook: string) => hook.toUpperCase(),
    state: (state: string) => state,
    webhook: () => 'CRM',
    outcome: (outcome: string) => outcome,
    times: (outcome: string, count: number) => `${outcome} x${count}`,
    after: (failures: string, success: string, ms: number) => `${failures}, then ${success} after ${ms}`,
    waitsFor: (hook: string) => `waits for ${hook}`,
    waitsUntil: (ms: number) => `next ${new Date(ms).toISOString().slice(11, 19)}`,
    span: (ms: number) => `${ms} ms`,
    clock: (ms: number) => new Date(ms).toISOString().slice(11, 23),
    replay: (text: string) => `replay: ${text}`,
    unsent: ({ sequence, last }: { readonly sequence: number; readonly last: number }) =>
      `${sequence} to ${last} went nowhere`,
  }
  const hits = (deliveries: readonly DeliveryFields[], found: readonly Attempt[] = []) => {
    const { rows } = buildLadder(
      { ...call, unwanted: [], events: [event('a', 'x', 1, 0, deliveries)] },
      found,
      NOW,
    )
    return (rows[0] as LadderEvent).deliveries.map((delivery) => hitText(delivery, words))
  }

  it('has the events in order of time, with the missing numbers between them, and long pauses', () => {
    expect(
      ladder.rows.map(
        (row) => `${row.kind} ${row.callId} ${row.sequence} ${row.kind === 'event' ? row.laterMs : row.last}`,
      ),
    ).toEqual([
      'event leg-a 1 undefined',
      'unsent leg-a 2 3',
      'event leg-b 1 undefined',
      'event leg-a 4 40000',
    ])
    expect(ladder.webhookIds).toEqual(['crm'])
    expect(ladder.rows.map((row) => (row.kind === 'event' ? row.offsetMs : undefined))).toEqual([
      0,
      undefined,
      1_000,
      41_000,
    ])
  })

  it('says in a few words what became of a delivery', () => {
    const failed = (status: string) => attempt({ resp_status_code: status })
    expect(hits([{}], attempts)).toEqual(['503, then 204 after 2200'])
    expect(hits([{}], [attempts[0]!])).toEqual(['204, 31 ms'])
    expect(hits([{ state: 'exhausted' }], [failed('503'), failed('503'), failed('404')])).toEqual([
      '503 x2, 404',
    ])
    expect(hits([{ state: 'expired' }], [failed('503')])).toEqual(['503, expired'])
    expect(hits([{ last_status: '204' }])).toEqual(['204'])
    expect(hits([{}])).toEqual(['delivered'])
    expect(hits([{ state: 'cancelled' }])).toEqual(['cancelled'])
    expect(
      hits([{ state: 'waiting', next_attempt_at: '2026-01-31T14:36:10.000Z' }], [failed('503')]),
    ).toEqual(['next 14:36:10'])
    expect(
      hits([
        { state: 'exhausted', last_status: '500' },
        { id: 'd9', kind: 'replay', last_status: '204' },
      ]),
    ).toEqual(['500', 'replay: 204'])
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
    const { rows } = buildLadder(
      { ...call, unwanted: [], events },
      [attempt({ delivery_id: 'd2', resp_status_code: '503' })],
      NOW,
    )
    const texts = (rows as LadderEvent[]).map(({ deliveries }) => hitText(deliveries[0]!, words))
    expect(texts).toEqual(['exhausted', 'waiting', 'waits for CHANNEL_ANSWER', 'waiting'])
  })

  it('counts what has not arrived: an event once for each webhook, however often it was replayed', () => {
    const events = [
      event('a', 'x', 1, 1, [
        { state: 'exhausted' },
        { id: 'd2', kind: 'replay' },
        { id: 'd3', hook_id: 'other' },
      ]),
      event('a', 'y', 2, 2, [
        { id: 'd4', state: 'exhausted' },
        { id: 'd5', kind: 'replay', state: 'in_flight' },
      ]),
      event('a', 'z', 3, 3, [
        { id: 'd6', state: 'expired' },
        { id: 'd7', kind: 'replay', state: 'exhausted' },
      ]),
    ]
    const { wanted, waiting, lost } = missingOf(buildLadder({ ...call, events }, [], NOW))
    expect([wanted, waiting.map(({ id }) => id), lost.map(({ delivery }) => delivery.id)]).toEqual([
      4,
      ['d5'],
      ['d6'],
    ])
    expect(missingOf({ rows: [] })).toEqual({ wanted: 0, waiting: [], lost: [] })
  })

  it('shows at most so many webhooks, those that lack something first', () => {
    const events = [
      event('a', 'x', 1, 1, [{ hook_id: 'w1' }, { hook_id: 'w2' }, { hook_id: 'w3', state: 'waiting' }]),
    ]
    const whole = buildLadder({ ...call, events, unwanted: [] }, [], NOW)
    expect(withWebhooks(whole, 3)).toBe(whole)
    const two = withWebhooks(whole, 2)
    expect(two.webhookIds).toEqual(['w3', 'w1'])
    expect((two.rows[0] as LadderEvent).deliveries.map(({ webhookId }) => webhookId)).toEqual(['w3', 'w1'])
  })

  it('as text has no character that turns the direction or breaks a line', () => {
    const legs = [{ call_id: 'leg-a', from: '\u202Egnp.exe\nB = x', events: 0 }]
    const ofLegs = buildLadder({ ...call, legs, events: [], unwanted: [] }, [], NOW)
    const text = ladderText('leg-a', ofLegs, words)
    expect(text).toBe('leg-a\nA = leg-a (\\u{202E}gnp.exe\\u{A}B = x)\n')
  })

  it('is the same as text', () => {
    expect(ladderText('leg-a', ladder, words)).toBe(`leg-a
A = leg-a (+1@x → 200@y)
B = leg-b
02:31:00.000  A #1 CHANNEL_CREATE
              → CRM: 503, then 204 after 2200
              A 2 to 3 went nowhere
02:31:01.000  B #1 CHANNEL_CREATE
02:31:41.000  A #4 CHANNEL_DESTROY
              → CRM: waiting
`)
  })

  it('names legs with letters', () => {
    expect([0, 25, 26, 51, 52, 701, 702].map(legName)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'])
  })
})

describe('the filters of the activity', () => {
  const NOON = Date.UTC(2026, 0, 31, 12)
  const read = activityFilter

  it('show requests where a status or a cause is asked for, otherwise events', () => {
    expect(read({}).view).toBe('events')
    expect(read({ result: 'failure', status: '503' })).toMatchObject({
      view: 'requests',
      result: 'failure',
      status: '503',
    })
    expect(read({ cause: 'refused', view: 'events' }).view).toBe('events')
    expect(read({ view: 'else', result: 'success' })).toMatchObject({ view: 'events', result: '' })
  })

  it('take times of UTC only, so that an address means the same in every zone', () => {
    expect(read({ from: '2026-01-31T12:00:00.000Z', to: '2026-01-31T14:00:00Z' })).toMatchObject({
      fromMs: NOON,
      toMs: Date.UTC(2026, 0, 31, 14),
    })
    for (const from of ['neverZ', '2026-01-31T13:00', '']) expect(read({ from }).fromMs).toBeUndefined()
  })

  it('become those of the service', () => {
    const query = { result: 'failure', kind: 'channel_create', call: 'leg', status: '503' }
    expect(attemptFilters(read(query))).toEqual({
      filter_result: 'failure',
      filter_resp_status_code: '503',
      filter_hook_event: 'channel_create',
      filter_call_id: 'leg',
    })
    expect(deliveryFilters(read({ ...query, view: 'events' }))).toEqual({
      filter_state: '["exhausted","expired","quarantined"]',
      filter_reason: 'status 503',
      filter_hook_event: 'channel_create',
      filter_call_id: 'leg',
    })
    expect(deliveryFilters(read({ result: 'delivered' }))).toEqual({ filter_state: 'delivered' })
    expect(attemptFilters(read({ cause: 'refused' }))).toEqual({ filter_cause: 'refused' })
  })

  it('keep a result in the other view where it has the same one', () => {
    expect(resultIn('requests', 'delivered')).toBe('success')
    expect(resultIn('events', 'success')).toBe('delivered')
    expect(resultIn('events', 'failure')).toBe('failure')
    expect(resultIn('requests', 'waiting')).toBe('')
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
    expect(addItems([], many)).toHaveLength(MAX_ROWS)
    const event = { hook_event: 'channel_create' } as unknown as Payload
    expect(itemOf({ type: 'event', id: 'x', data: event }, 0)).toBeUndefined()
    const rate = { hook_id: 'w', ok: 3, failed: 1, timestamp: 7 } as StreamRate
    const shown = { key: 'w/7', atMs: -62_167_219_193_000, webhookId: 'w', rate: { ok: 3, failed: 1 } }
    expect(itemOf({ type: 'rate', id: 'x', data: rate }, 5)).toMatchObject(shown)
    expect(itemOf({ type: 'gap', data: { from: 'x', dropped: 812 } }, 5)).toMatchObject({ news: 'gap' })
  })

  it('are found by kind, number, name and call', () => {
    const item = attempt({
      id: '1',
      hook_event: 'channel_create',
      call_id: 'leg-7f3a',
      call: { from: '+4930555@carrier.example', to: '2001@acme.example' },
      caller_name: 'Dr. Keller',
    } as Partial<StreamAttempt>)
    const found = (kind: string, text: string) => passes(item, { kind, text })
    expect([
      found('', ''),
      found('channel_create', ''),
      found('', '555'),
      found('', ' keller'),
      found('', '7F3A'),
    ]).toEqual(Array(5).fill(true))
    expect([found('channel_answer', ''), found('', 'carrier'), found('', 'x')]).toEqual([false, false, false])
    expect(passes({ key: 'gap', atMs: 0, arrivedMs: 0, news: 'gap' }, { kind: 'x', text: '' })).toBe(true)
    expect(passes({ key: 'w', atMs: 0, arrivedMs: 0, news: 'changed' }, { kind: 'x', text: '' })).toBe(false)
  })

  it('are counted by second for a minute', () => {
    const START = 1_000_000_000
    const at = (ms: number, result: 'success' | 'failure'): LiveItem => ({
      key: `${ms}${result}`,
      atMs: ms,
      arrivedMs: ms,
      attempt: { result } as StreamAttempt,
    })
    let rate = emptyRate(START)
    rate = addToRate(
      rate,
      [at(START, 'success'), at(START + 500, 'failure'), at(START - 61_000, 'failure')],
      START + 900,
    )
    rate = addToRate(rate, [at(START + 1_000, 'success'), at(START + 9_000, 'success')], START + 1_500)
    expect([rate.ok.slice(-2), rate.failed.slice(-2)]).toEqual([
      [1, 2],
      [1, 0],
    ])
    const counted: LiveItem = { key: 'r', atMs: START + 1_000, arrivedMs: 0, rate: { ok: 300, failed: 5 } }
    rate = addToRate(rate, [counted], START + 2_000)
    expect([rate.ok.slice(-3), rate.failed.slice(-3)]).toEqual([
      [1, 302, 0],
      [1, 5, 0],
    ])
    // The two whole seconds since the list was opened.
    expect(rateFigures(rate, START)).toEqual({ perSecond: 154.5, failed: 6, total: 309 })
    const later = addToRate(rate, [], START + 62_000)
    expect(rateFigures(later, START)).toEqual({ perSecond: 0, failed: 0, total: 0 })
    expect(later.ok).toHaveLength(60)
    // A clock that was set back moves nothing.
    expect(addToRate(rate, [], START - 5_000)).toEqual(rate)
  })
})
