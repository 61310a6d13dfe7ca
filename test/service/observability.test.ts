/** What the whole service measures and traces: it adds up with what receivers saw, and holds neither secrets nor input. */
import { constant, createHookswitch, type Metrics, memoryStore, type Sender } from 'hookswitch'
import { openTelemetry } from 'hookswitch/opentelemetry'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { gate, reset, status } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { otelWorld } from '../adapters/observability/otel-world.js'
import { parseExposition } from '../adapters/observability/parse-exposition.js'
import { created, services, told } from './running.js'

const running = services()

let otel: ReturnType<typeof otelWorld> | undefined
afterEach(() => otel?.close())

/** Both adapters at once: the service has one door. */
function observed() {
  otel = otelWorld()
  const { metrics, tracing } = openTelemetry(otel)
  const prometheus = prometheusMetrics()
  const both: Metrics = {
    count(name, by, label) {
      metrics.count(name, by, label)
      prometheus.count(name, by, label)
    },
    observe(name, seconds) {
      metrics.observe(name, seconds)
      prometheus.observe(name, seconds)
    },
    watch(read, ended) {
      metrics.watch(read, ended)
      prometheus.watch(read, ended)
    },
  }
  const scrape = async () => parseExposition(await prometheus.text())
  return { otel, prometheus, scrape, options: { metrics: both, tracing } }
}

describe('a trace', () => {
  it('leads from who publishes over the publish and each attempt to the receiver', async () => {
    const { otel, options } = observed()
    const { hs, receiver, webhook } = await running(options)
    await webhook('/calls', { retries: 2 })
    receiver.on('/calls', [status(500), status(200)])
    const delivered = told(hs, 'delivered')
    const host = await otel.inSpan(async (own) => {
      await hs.publish(created('leg-1'))
      return own
    })
    await delivered
    const requests = receiver.requests.map(({ headers }) => headers.traceparent)

    const spans = otel.spans()
    const [publish] = spans.filter(({ name }) => name === 'publish')
    const attempts = spans.filter(({ name }) => name === 'attempt')
    expect(publish!.parentSpanContext).toMatchObject(host)
    expect(attempts.map(({ parentSpanContext }) => parentSpanContext!.spanId)).toEqual(
      attempts.map(() => publish!.spanContext().spanId),
    )
    expect(requests).toEqual(attempts.map((span) => `00-${host.traceId}-${span.spanContext().spanId}-01`))
    expect(attempts.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([500, 200])
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['500', undefined])
    expect(attempts[0]!.attributes).toMatchObject({
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(receiver.url('/')).port),
    })
  })
})

describe('metrics', () => {
  it('add up with what receivers saw, and gauges go back to 0', async () => {
    const { otel, scrape, options } = observed()
    const { hs, receiver, webhook } = await running(options)
    const door = gate()
    await webhook('/good', { hook: 'channel_create' })
    await webhook('/late', { hook: 'channel_create', retries: 3 })
    await webhook('/bad', { hook: 'channel_create', retries: 1 })
    await webhook('/gated', { hook: 'channel_destroy' })
    receiver.on('/late', [status(503, { headers: { 'retry-after': '0' } }), reset(), status(200)])
    receiver.on('/bad', [status(500)])
    receiver.on('/gated', [door])

    const delivered = told(hs, 'delivered', 2)
    const exhausted = told(hs, 'exhausted', 1)
    await hs.publish(created('leg-1'))
    await Promise.all([delivered, exhausted])
    const gated = told(hs, 'delivered', 1)
    await hs.publish({ ...created('leg-2'), hook: 'channel_destroy' })
    await expect.poll(() => door.waiting).toBe(1)
    const during = await scrape()
    expect(during.value('hookswitch_in_flight')).toBe(1)
    expect(during.value('hookswitch_deliveries_pending')).toBe(1)
    door.release()
    await gated

    const { value } = await scrape()
    const sum = (name: string, label: string, values: readonly string[]) =>
      values.reduce((all, one) => all + value(name, { [label]: one })!, 0)
    expect(value('hookswitch_events_accepted_total')).toBe(2)
    expect(value('hookswitch_deliveries_accepted_total')).toBe(4)
    expect(value('hookswitch_deliveries_ended_total', { state: 'delivered' })).toBe(3)
    expect(value('hookswitch_deliveries_ended_total', { state: 'exhausted' })).toBe(1)
    expect(value('hookswitch_attempts_total', { outcome: 'delivered' })).toBe(3)
    expect(value('hookswitch_attempts_total', { outcome: 'http' })).toBe(3)
    expect(value('hookswitch_attempts_total', { outcome: 'connection' })).toBe(1)
    expect(sum('hookswitch_attempts_total', 'outcome', ['delivered', 'http', 'connection'])).toBe(
      receiver.requests.length,
    )
    expect(value('hookswitch_attempt_duration_seconds_count')).toBe(receiver.requests.length)
    expect(value('hookswitch_delivery_latency_seconds_count')).toBe(3)
    await expect.poll(async () => (await scrape()).value('hookswitch_in_flight')).toBe(0)
    for (const name of ['hookswitch_deliveries_pending', 'hookswitch_oldest_due_seconds'])
      expect((await scrape()).value(name)).toBe(0)
    expect(await otel.value('hookswitch.attempts', { outcome: 'http' })).toBe(3)
    expect(await otel.value('hookswitch.deliveries_pending')).toBe(0)
  })

  it('show gauges from the start to the close', async () => {
    const { scrape, options } = observed()
    const hs = createHookswitch({ store: memoryStore(), ...options })
    expect((await scrape()).value('hookswitch_in_flight')).toBeUndefined()
    await hs.start()
    expect((await scrape()).value('hookswitch_in_flight')).toBe(0)
    await hs.close()
    expect((await scrape()).value('hookswitch_in_flight')).toBeUndefined()
  })

  it('show what the node knows, and every counter, while the store is out', async () => {
    const { scrape, options } = observed()
    const store = memoryStore()
    const pending = () => Promise.reject(new Error('the store is out'))
    const { hs } = await running({
      ...options,
      store: { ...store, deliveries: { ...store.deliveries, pending } },
    })
    await hs.publish(created('leg-1'))
    const { value } = await scrape()
    expect(value('hookswitch_deliveries_pending')).toBeUndefined()
    expect(value('hookswitch_in_flight')).toBe(0)
    expect(value('hookswitch_events_accepted_total')).toBe(1)
  })

  it('that throw hold up no delivery', async () => {
    const failing = () => {
      throw new Error('no metrics')
    }
    const { hs, webhook } = await running({ metrics: { count: failing, observe: failing, watch: failing } })
    await webhook('/calls')
    const delivered = told(hs, 'delivered')
    await hs.publish(created('leg-1'))
    await delivered
  })
})

/** Answers at once, so that thousands of receivers can be called. */
const sender = (statusOf: (url: string) => number): Sender => ({
  send: async ({ url }) => ({
    kind: 'response',
    status: statusOf(url),
    headers: [],
    body: '',
    bodyEnd: 'complete',
  }),
  close: async () => {},
})

describe('hostile input', () => {
  const MANY = 10_000

  it('makes no series: as many after ten thousand tokens, logins, hooks and receivers as before', async () => {
    const { otel, scrape, options } = observed()
    const store = memoryStore()
    const codes = [200, 204, 302, 404, 410, 500, 503]
    const hs = createHookswitch({
      ...options,
      store,
      loginBurst: Number.POSITIVE_INFINITY,
      retryPolicy: constant(1, { jitter: 0 }),
      sender: sender((url) => codes[url.length % codes.length]!),
    })
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await otel.collected()
    const before = { prometheus: (await scrape()).series.size, otel: await otel.series() }

    const refused = (work: Promise<unknown>) => work.catch(() => {})
    for (let i = 0; i < MANY; i += 1) {
      const name = `${'x'.repeat(i % 7)}${i}`
      await refused(hs.auth.authenticate(`token-${name}`.padEnd(43, '_')))
      await refused(hs.auth.signIn({ apiKey: `key-${name}` }))
      await refused(hs.publish({ hook: `hook_${name}` as never, accountId: name, callId: name }))
      await hs.webhooks.create('acme', {
        name,
        uri: `https://${name}.example/${name}?${name}`,
        hook: 'all',
        retries: 0,
      })
    }
    const ended = (['delivered', 'exhausted', 'cancelled'] as const).map((state) => {
      const seen = { count: 0 }
      hs.events.on(state, () => {
        seen.count += 1
      })
      return seen
    })
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'leg-1' })
    await expect.poll(() => ended.reduce((sum, { count }) => sum + count, 0)).toBe(MANY)

    const { series, value } = await scrape()
    // What is only there once something was observed: two distributions.
    expect(await otel.series()).toBe(before.otel + 2)
    expect(series.size).toBe(before.prometheus)
    expect(value('hookswitch_token_lookups_total', { cache: 'miss' })).toBe(MANY)
    expect(value('hookswitch_logins_total', { result: 'failed' })).toBe(MANY)
    expect(value('hookswitch_events_refused_total', { reason: 'invalid' })).toBe(MANY)
    expect(value('hookswitch_deliveries_accepted_total')).toBe(MANY)
    await hs.close()
  }, 120_000)
})

describe('no secret', () => {
  it('reaches a metric, a span or the log', async () => {
    const { otel, prometheus, options } = observed()
    const logged: string[] = []
    const level = (fields: object, message: string) => void logged.push(JSON.stringify([fields, message]))
    const log = { debug: level, info: level, warn: level, error: level }
    const { hs, receiver, ask } = await running({ ...options, log, secret: 'secret-of-the-service' })
    const { apiKey } = await hs.accounts.create({
      id: 'canary',
      name: 'Canary',
      realm: 'canary.example',
      apiKey: 'secret-api-key'.padEnd(64, 'k'),
      users: [{ username: 'eve', password: 'secret-password' }],
    })
    const login = await ask('PUT', '/v1/api_auth', { data: { api_key: apiKey } })
    const token = login.json.auth_token as string
    await ask('PUT', '/v1/api_auth', { data: { api_key: 'secret-wrong-key' } })
    await ask('PUT', '/v1/user_auth', {
      data: { credentials: 'secret-digest', account_realm: 'canary.example' },
    })
    receiver.on('/hook', [
      status(500, { headers: { 'set-cookie': 'secret-cookie' }, body: 'secret-answer' }),
      status(200),
    ])
    const made = await hs.webhooks.create('canary', {
      name: 'w',
      uri: `${receiver.url('/hook')}?key=secret-in-the-query`,
      hook: 'all',
      retries: 2,
      customData: { secret: 'secret-custom-data' },
      customRequestHeaders: {
        Authorization: 'Bearer secret-of-the-receiver',
        'X-Other': 'secret-header-value',
      },
    })
    const signing = await hs.webhooks.secret('canary', made.id)
    // Nobody listens there: the other way that an attempt ends.
    await hs.webhooks.create('canary', {
      name: 'd',
      uri: 'http://127.0.0.1:9/?key=secret-in-the-query',
      hook: 'all',
      retries: 0,
    })
    const ends = [told(hs, 'delivered'), told(hs, 'exhausted')]
    await hs.publish(
      { hook: 'channel_create', accountId: 'canary', callId: 'leg-1', from: 'secret-caller@x.example' },
      { idempotencyKey: 'secret-idempotency-key' },
    )
    await hs
      .publish({ hook: 'secret-hook' as never, accountId: 'secret-account', callId: 'x' })
      .catch(() => {})
    await Promise.all(ends)

    const spans = otel.spans()
    expect(spans.length).toBeGreaterThan(4)
    const said = spans.map(({ name, attributes, events, links, status: code }) => [
      name,
      attributes,
      events,
      links,
      code,
    ])
    const measured = await otel.collected()
    const everything = [
      JSON.stringify(said),
      JSON.stringify([...measured]),
      await prometheus.text(),
      logged.join('\n'),
    ].join('\n')
    expect(everything).toContain(made.id)
    for (const found of ['secret-', token, signing, signing.slice(6), apiKey])
      expect(everything.includes(found), found).toBe(false)
  })
})
