import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHookswitch, memoryStore, verify } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import {
  type HandlerReport,
  type ScriptedDeliveries,
  type ScriptedDeliveriesOptions,
  scriptedDeliveries,
  type WebhookRequest,
} from '../../../src/testkit/handler/index.js'
import { scriptedReceiver } from '../../../src/testkit/receiver.js'

const kinds = (report: HandlerReport) => [...new Set(report.problems.map(({ kind }) => kind))].sort()
const idOf = ({ headers }: WebhookRequest) => headers['webhook-id'] ?? ''

/** Creates a correct handler, or one with a fault. */
function createHandler(
  script: ScriptedDeliveries,
  fault?:
    | 'does not verify'
    | 'processes duplicates'
    | 'loses an event'
    | 'rejects duplicates'
    | 'reverses the order'
    | 'checks before an await'
    | 'accepts old timestamps',
) {
  const seen = new Set<string>()
  const stored: string[] = []
  const handle = async (request: WebhookRequest): Promise<number> => {
    const toleranceSeconds = fault === 'accepts old timestamps' ? 86_400 : 300
    const checked = verify(request, script.secrets, { toleranceSeconds })
    if (!checked.ok && fault !== 'does not verify') return 401
    const id = idOf(request)
    const isDuplicate = seen.has(id)
    if (isDuplicate && fault !== 'processes duplicates') return fault === 'rejects duplicates' ? 409 : 204
    // A handler that awaits between check and write processes both of two concurrent requests.
    if (fault === 'checks before an await') await Promise.resolve()
    seen.add(id)
    if (fault === 'loses an event' && stored.length === 5) {
      stored.push('another')
      return 204
    }
    if (fault === 'reverses the order') stored.unshift(id)
    else stored.push(id)
    return 204
  }
  return { handle, stored: () => stored }
}

async function runHandler(
  fault: Parameters<typeof createHandler>[1],
  options: ScriptedDeliveriesOptions = {},
): Promise<HandlerReport> {
  const script = scriptedDeliveries({ seed: 3, ...options })
  const { handle, stored } = createHandler(script, fault)
  return script.deliverTo(handle, { stored })
}

describe('scriptedDeliveries', () => {
  it('reports no problems of a correct handler, with any concurrency', async () => {
    for (const concurrency of [1, 7]) {
      const script = scriptedDeliveries({ seed: 3, calls: 30, overlaps: 0.3, duplicates: 0.3 })
      const { handle, stored } = createHandler(script)
      const report = await script.deliverTo(handle, { stored, concurrency })
      expect(report.problems).toEqual([])
      expect(stored()).toHaveLength(script.deliveries.length)
      const sent = new Set(report.exchanges.map(({ kind }) => kind))
      expect([...sent].sort()).toEqual(
        [
          ...['first', 'duplicate', 'overlap'],
          ...['no signature', 'wrong secret', 'altered id', 'altered body', 'too old', 'too new'],
        ].sort(),
      )
    }
  })

  it.each([
    ['does not verify', ['defect accepted', 'defect processed']],
    ['accepts old timestamps', ['defect accepted', 'defect processed']],
    ['processes duplicates', ['processed twice']],
    ['loses an event', ['not processed']],
    ['rejects duplicates', ['duplicate refused']],
    ['reverses the order', ['out of order']],
  ] as const)('finds a handler that %s', async (fault, expected) => {
    const report = await runHandler(fault)
    expect(kinds(report)).toEqual(expected)
    expect(report.problems[0]?.message).toMatch(/channel_\w+ of call .+ \(webhook-id [0-9a-f]{32}\)/)
  })

  it('finds each kind of defect whose event was processed', async () => {
    for (const defect of [
      'no signature',
      'wrong secret',
      'altered id',
      'altered body',
      'too old',
      'too new',
    ] as const) {
      const { problems } = await runHandler('does not verify', {
        defects: [defect],
        defective: 1,
        duplicates: 0,
        calls: 1,
      })
      const processed = problems.filter(({ kind }) => kind === 'defect processed')
      expect(processed.length).toBeGreaterThan(1)
      expect(processed.filter(({ message }) => !message.startsWith(`${defect}: `))).toEqual([])
      expect(problems).toHaveLength(2 * processed.length)
    }
  })

  it('finds a handler that awaits between check and write only if attempts overlap', async () => {
    expect(kinds(await runHandler('checks before an await', { duplicates: 0.5 }))).toEqual([])
    expect(kinds(await runHandler('checks before an await', { overlaps: 0.5 }))).toEqual(['processed twice'])
  })

  it('retries a refused request with the same id and body, as often as the webhook allows', async () => {
    const script = scriptedDeliveries({ calls: 1, defective: 0, duplicates: 0, webhook: { retries: 3 } })
    let calls = 0
    const first = await script.deliverTo(() => {
      calls += 1
      if (calls === 1) throw new Error('the database is down')
      return calls === 2 ? { status: 503 } : { status: 200 }
    })
    expect(first.problems).toEqual([])
    const [exchange1, exchange2, exchange3] = first.exchanges
    expect(
      [exchange1, exchange2, exchange3].map((sent) => [sent?.kind, sent?.status ?? sent?.error]),
    ).toEqual([
      ['first', 'the database is down'],
      ['retry', 503],
      ['retry', 200],
    ])
    expect([exchange1, exchange2, exchange3].map((sent) => sent?.request.headers['x-hook-attempt'])).toEqual([
      '1',
      '2',
      '3',
    ])
    expect(
      new Set([exchange1, exchange2, exchange3].map((sent) => `${idOf(sent!.request)} ${sent!.request.body}`))
        .size,
    ).toBe(1)

    const failing = await script.deliverTo(() => 500)
    expect(kinds(failing)).toEqual(['refused'])
    expect(failing.exchanges).toHaveLength(4 * script.deliveries.length)
    const disabled = await script.deliverTo(() => 410)
    expect(disabled.exchanges).toHaveLength(script.deliveries.length)
    expect(disabled.problems[0]?.message).toMatch(/status 410, which disables the webhook$/)
  })

  it('lets calls overtake each other, but keeps the order of each call', async () => {
    const script = scriptedDeliveries({ seed: 5, calls: 12 })
    const { exchanges } = await script.deliverTo(({ headers }) => (headers['webhook-signature'] ? 200 : 401))
    const firsts = exchanges.filter(({ kind }) => kind === 'first').map(({ deliveryId }) => deliveryId)
    const accepted = script.deliveries.map(({ id }) => id)
    expect([...firsts].sort()).toEqual([...accepted].sort())
    expect(firsts).not.toEqual(accepted)
    const inLane = (ids: readonly string[], lane: string) =>
      ids.filter((id) => script.deliveries.find((delivery) => delivery.id === id)?.lane === lane)
    for (const { lane } of script.deliveries) expect(inLane(firsts, lane)).toEqual(inLane(accepted, lane))
    // A duplicate is sent before the next event of its call.
    const sent = exchanges.filter(({ kind }) => ['first', 'retry', 'duplicate', 'overlap'].includes(kind))
    for (const { lane } of script.deliveries) {
      const ids = inLane(
        sent.map(({ deliveryId }) => deliveryId),
        lane,
      )
      expect([...new Set(ids)].flatMap((id) => ids.filter((other) => other === id))).toEqual(ids)
    }
  })

  it('orders calls by the seed', async () => {
    const events = [1, 2, 3, 4, 5, 6].map((number) => ({
      hook: 'channel_create' as const,
      accountId: 'acme',
      callId: `leg-${number}`,
    }))
    const orders = await Promise.all(
      [1, 2, 3].map(async (seed) => {
        const { exchanges } = await scriptedDeliveries({
          seed,
          events,
          defective: 0,
          duplicates: 0,
        }).deliverTo(() => 200)
        return exchanges.map(({ request }) => JSON.parse(request.body).call_id).join()
      }),
    )
    expect(new Set(orders).size).toBe(3)
  })

  it('numbers overlapping attempts, and retries after both were refused', async () => {
    const script = scriptedDeliveries({ calls: 1, defective: 0, duplicates: 0, overlaps: 1 })
    let running = 0
    let maxRunning = 0
    const { exchanges, problems } = await script.deliverTo(async ({ headers }) => {
      running += 1
      maxRunning = Math.max(maxRunning, running)
      await Promise.resolve()
      running -= 1
      return headers['x-hook-attempt'] === '3' ? 200 : 503
    })
    expect([problems, maxRunning]).toEqual([[], 2])
    expect(
      exchanges
        .slice(0, 3)
        .map(({ kind, attempt, request }) => [kind, attempt, request.headers['x-hook-attempt']]),
    ).toEqual([
      ['first', 1, '1'],
      ['overlap', 2, '2'],
      ['retry', 3, '3'],
    ])
  })

  it('accepts event ids as ids of processed events', async () => {
    const script = scriptedDeliveries({ seed: 3, duplicates: 0 })
    const stored: string[] = []
    const handle = (request: WebhookRequest) => {
      if (!verify(request, script.secrets).ok) return 401
      stored.push(JSON.parse(request.body).event_id)
      return 200
    }
    expect((await script.deliverTo(handle, { stored: () => stored })).problems).toEqual([])
    stored.push(stored[0]!)
    expect(kinds(await script.deliverTo(() => 200, { stored: () => stored }))).toContain('processed twice')
  })

  it('allows any order if the webhook has ordering none', async () => {
    const script = scriptedDeliveries({ seed: 5, calls: 3, defective: 0, webhook: { ordering: 'none' } })
    const { handle, stored } = createHandler(script, 'reverses the order')
    expect((await script.deliverTo(handle, { stored })).problems).toEqual([])
    const calls = script.deliveries.map(({ event }) => event.callId)
    expect(new Set(calls).size).toBeLessThan(calls.length)
  })

  it('makes the same requests for the same seed and time, and others for another seed', () => {
    const clock = manualClock()
    const requestsOf = (seed: number) => {
      const script = scriptedDeliveries({ seed, clock, calls: 3 })
      return script.deliveries.map((delivery) => script.request({ delivery }))
    }
    expect(requestsOf(1)).toEqual(requestsOf(1))
    expect(requestsOf(1)).not.toEqual(requestsOf(2))
  })

  it('uses given events, and numbers also those that do not match the webhook', () => {
    const call = { accountId: 'acme', callId: 'leg-1', timestampMs: 0 }
    const script = scriptedDeliveries({
      events: [
        { hook: 'channel_create', ...call },
        { event: { hook: 'queue_joined', ...call } },
        { hook: 'channel_destroy', ...call },
        { hook: 'channel_destroy', ...call, accountId: 'globex' },
      ],
      hooks: [{ id: 'queue_joined' }],
      webhook: { hook: 'channel_destroy' },
    })
    expect(script.deliveries.map(({ event, sequence }) => [event.hook, sequence])).toEqual([
      ['channel_destroy', 3],
    ])
    expect(JSON.parse(script.request().body)).toMatchObject({ hook_event: 'channel_destroy', sequence: 3 })
  })
})

describe('a scripted request', () => {
  const SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whsec_${'A'.repeat(40)}`] as const
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const checked = (request: WebhookRequest, secret: string) => {
    const result = verify(request, secret, { nowSeconds: nowSeconds() })
    return result.ok ? 'ok' : result.reason
  }

  it('is signed with every secret of a rotation', () => {
    const request = scriptedDeliveries({ secret: SECRETS }).request()
    for (const secret of SECRETS) expect(checked(request, secret)).toBe('ok')
    expect(checked(request, `whsec_${'B'.repeat(40)}`)).toBe('no signature fits')
  })

  it.each([
    ['no signature', 'missing header'],
    ['wrong secret', 'no signature fits'],
    ['altered id', 'no signature fits'],
    ['altered body', 'no signature fits'],
    ['too old', 'timestamp too old'],
    ['too new', 'timestamp too new'],
  ] as const)('with the defect "%s" fails verify: %s', (defect, reason) => {
    const webhooks = [
      {},
      { format: 'form-data' },
      // A header value that equals a header name.
      { customRequestHeaders: { 'X-Note': 'webhook-signature' } },
    ] as const
    for (const webhook of webhooks) {
      const script = scriptedDeliveries({ webhook })
      const request = script.request({ defect })
      expect(checked(request, script.secrets[0]!)).toBe(reason)
      expect(request.body).toMatch(/^\{"hook_event":|^hook_event=/)
      const flat = Object.entries(request.headers).flat()
      expect(request.rawHeaders.map((part, at) => (at % 2 ? part : part.toLowerCase())).sort()).toEqual(
        flat.sort(),
      )
    }
  })

  it.each([
    ['json', 'post'],
    ['form-data', 'put'],
    ['json', 'get'],
    ['form-data', 'delete'],
  ] as const)(
    'equals the request that a service sends for the same event (%s with %s)',
    async (format, httpVerb) => {
      const clock = manualClock()
      const receiver = scriptedReceiver({ clock })
      await receiver.start()
      const hs = createHookswitch({ store: memoryStore(), clock, allowLocal: true })
      await hs.start()
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      const settings = {
        name: 'Calls',
        uri: receiver.url('/calls?a=b'),
        hook: 'all',
        httpVerb,
        format,
        customData: { tenant: 'übermorgen' },
        customRequestHeaders: { 'X-Own': 'yes' },
      }
      const { id } = await hs.webhooks.create('acme', settings)
      const secret = await hs.webhooks.secret('acme', id)
      const event = {
        hook: 'channel_create',
        accountId: 'acme',
        callId: 'leg-1',
        customChannelVars: { a: [1, 'b'], c: { d: true } },
      } as const
      await hs.publish(event)
      const sent = await receiver.next()
      await hs.close()
      await receiver.close()

      const script = scriptedDeliveries({ events: [event], webhook: { ...settings, id }, secret, clock })
      const [delivery] = script.deliveries
      const scripted = script.request()
      const sentBody = sent.body + sent.query
      const eventId = /event_id[^0-9a-f]+([0-9a-f]{32})/.exec(sentBody)?.[1] ?? ''
      const url = new URL(scripted.url)
      const withEventId = (text: string) => text.replace(delivery!.eventId, eventId)
      expect([
        scripted.method,
        url.pathname,
        withEventId(url.search.slice(1)),
        withEventId(scripted.body),
      ]).toEqual([sent.method, sent.path, sent.query, sent.body])
      const { 'webhook-id': _, 'webhook-signature': __, ...headers } = scripted.headers
      const { 'webhook-id': ___, 'webhook-signature': ____, ...sentHeaders } = sent.headers
      // The HTTP client adds these to frame the request.
      const { host: _____, connection: ______, 'content-length': _______, ...comparable } = sentHeaders
      expect(headers).toEqual(comparable)
      expect(checked(scripted, secret)).toBe('timestamp too old')
    },
  )
})

describe('a handler behind a URL', () => {
  it('receives the same requests over fetch', async () => {
    const script = scriptedDeliveries({ seed: 9, calls: 4 })
    const { handle, stored } = createHandler(script)
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const part of request.setEncoding('utf8')) body += part
      const status = await handle({ headers: request.headers, body } as never)
      response.writeHead(status).end(status === 401 ? 'unauthorized' : '')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/calls`
    const remote = scriptedDeliveries({ seed: 9, calls: 4, webhook: { uri } })
    const report = await remote.deliverTo({ fetch }, { stored, concurrency: 3 })
    server.closeAllConnections()
    server.close()
    expect(report.problems).toEqual([])
    expect(stored()).toEqual(expect.arrayContaining(script.deliveries.map(({ id }) => id)))
    // A closed server counts as no response, not as an error of the test.
    const unreachable = await remote.deliverTo({ fetch })
    expect(kinds(unreachable)).toEqual(['refused'])
  })

  it('receives GET without a body, with an unsigned query', async () => {
    const script = scriptedDeliveries({
      calls: 1,
      webhook: { httpVerb: 'get', uri: 'https://h.example/x?a=1' },
    })
    const calls: unknown[] = []
    await script.deliverTo({
      fetch: async (url, init) => {
        calls.push(['body' in init, url.startsWith('https://h.example/x?a=1&hook_event=channel_')])
        return { status: 200 }
      },
    })
    expect(new Set(calls.map(String))).toEqual(new Set(['false,true']))
    expect(() => script.request({ defect: 'altered body' })).toThrow(/query of GET and DELETE is not signed/)
  })
})

describe('scriptedDeliveries with invalid arguments', () => {
  it.each([
    [{ seed: {} }, 'seed'],
    [{ calls: 0 }, 'calls'],
    [{ calls: 1, events: [] }, 'calls'],
    [{ events: [] }, 'events'],
    [{ events: 'x' }, 'events'],
    [{ events: [{ hook: 'channel_crate', accountId: 'acme', callId: '1' }] }, 'events[0].hook'],
    [{ events: [{ event: { hook: 'channel_create', accountId: 'acme', callId: 1 } }] }, 'events[0].callId'],
    [{ events: [null] }, 'events[0].event'],
    [{ webhook: null }, 'webhook'],
    [{ webhook: { uri: 'ftp://x' } }, 'webhook.uri'],
    [{ webhook: { httpVerb: 'head' } }, 'webhook.httpVerb'],
    [{ webhook: { id: '' } }, 'webhook.id'],
    [{ webhook: { accountId: 'a b' } }, 'webhook.accountId'],
    [{ secret: 'tiger' }, 'secret'],
    [{ secret: [] }, 'secret'],
    [{ secret: [7] }, 'secret'],
    [{ duplicates: 2 }, 'duplicates'],
    [{ overlaps: -1 }, 'overlaps'],
    [{ defective: '1' }, 'defective'],
    [{ defects: ['unknown'] }, 'defects'],
    [{ defects: [] }, 'defects'],
    [{ defects: ['altered body'], webhook: { httpVerb: 'get' } }, 'defects'],
    [{ toleranceSeconds: -1 }, 'toleranceSeconds'],
    [{ clock: {} }, 'clock'],
    [{ hooks: {} }, 'hooks'],
    [{ hooks: [{ id: 'all' }] }, 'hooks[0].id'],
    [{ dupes: 1 }, 'dupes'],
    [7, 'options'],
  ])('rejects %j and names %s', (options, field) => {
    const make = () => scriptedDeliveries(options as never)
    expect(make).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(make).toThrow(field === 'options' ? 'options' : field.replace(/^hooks\[0\]\.id$/, 'hooks'))
  })

  it('never quotes a secret', () => {
    expect(() => scriptedDeliveries({ secret: 'tiger' })).toThrow(/^((?!tiger).)*$/)
  })

  it('rejects an invalid target, response, list of ids, and request option', async () => {
    const script = scriptedDeliveries({ calls: 1 })
    const field = (name: string) => expect.objectContaining({ field: name })
    await expect(script.deliverTo('http://x' as never)).rejects.toThrow(field('target'))
    await expect(script.deliverTo(undefined as never)).rejects.toThrow(field('target'))
    await expect(script.deliverTo((() => undefined) as never)).rejects.toThrow(field('target'))
    await expect(script.deliverTo(() => 200, { stored: (() => [1]) as never })).rejects.toThrow(
      field('stored'),
    )
    await expect(script.deliverTo(() => 200, { stored: [] as never })).rejects.toThrow(field('stored'))
    await expect(script.deliverTo(() => 200, { concurrency: 0 })).rejects.toThrow(field('concurrency'))
    expect(() => script.request({ attempt: 0 })).toThrow(field('attempt'))
    expect(() => script.request({ defect: 'unknown' as never })).toThrow(field('defect'))
    const other = scriptedDeliveries({ seed: 2, calls: 1 }).deliveries[0]!
    expect(() => script.request({ delivery: other })).toThrow(field('delivery'))
  })
})
