/** Metrics and traces of the whole service: they match what receivers got, and contain neither secrets nor input. */
import * as api from '@opentelemetry/api'
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import type { Metrics, Sender } from 'hookswitch/adapter'
import { openTelemetry } from 'hookswitch/opentelemetry'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { gate, reset, status } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { otelHarness } from '../adapters/observability/otel-harness.js'
import { parseExposition } from '../adapters/observability/parse-exposition.js'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

let otel: ReturnType<typeof otelHarness> | undefined
afterEach(() => otel?.close())

/** Both metrics adapters behind one port. */
function observability() {
  otel = otelHarness()
  const { meter, tracer } = otel
  const { metrics, tracing } = openTelemetry({ api, meter, tracer })
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
  it('connects the publisher, the publish span, each attempt and the receiver', async () => {
    const { otel, options } = observability()
    const { hs, receiver, createWebhook } = await startService(options)
    await createWebhook('/calls', { retries: 2 })
    receiver.on('/calls', [status(500), status(200)])
    const delivered = nextEvents(hs, 'delivered')
    const host = await otel.inSpan(async (span) => {
      await hs.publish(channelCreate('leg-1'))
      return span
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
  it('match the requests of receivers, and gauges return to 0', async () => {
    const { otel, scrape, options } = observability()
    const { hs, receiver, createWebhook } = await startService(options)
    const held = gate()
    await createWebhook('/good', { hook: 'channel_create' })
    await createWebhook('/late', { hook: 'channel_create', retries: 3 })
    await createWebhook('/bad', { hook: 'channel_create', retries: 1 })
    await createWebhook('/gated', { hook: 'channel_destroy' })
    // The request that is reset has a new connection: over a used one it would be sent again.
    const closing = { connection: 'close' }
    receiver.on('/good', [status(200, { headers: closing })])
    receiver.on('/late', [
      status(503, { headers: { 'retry-after': '0', ...closing } }),
      reset(),
      status(200, { headers: closing }),
    ])
    receiver.on('/bad', [status(500, { headers: closing })])
    receiver.on('/gated', [held])

    const delivered = nextEvents(hs, 'delivered', 2)
    const exhausted = nextEvents(hs, 'exhausted', 1)
    await hs.publish(channelCreate('leg-1'))
    await Promise.all([delivered, exhausted])
    const gated = nextEvents(hs, 'delivered', 1)
    await hs.publish({ ...channelCreate('leg-2'), hook: 'channel_destroy' })
    await expect.poll(() => held.waiting).toBe(1)
    const during = await scrape()
    expect(during.value('hookswitch_in_flight')).toBe(1)
    expect(during.value('hookswitch_deliveries_pending')).toBe(1)
    held.release()
    await gated

    const { value } = await scrape()
    const sum = (name: string, label: string, values: readonly string[]) =>
      values.reduce((all, labelValue) => all + value(name, { [label]: labelValue })!, 0)
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

  it('have gauges from start() to close()', async () => {
    const { scrape, options } = observability()
    const hs = createHookswitch({ store: memoryStore(), ...options })
    expect((await scrape()).value('hookswitch_in_flight')).toBeUndefined()
    await hs.start()
    expect((await scrape()).value('hookswitch_in_flight')).toBe(0)
    await hs.close()
    expect((await scrape()).value('hookswitch_in_flight')).toBeUndefined()
  })

  it('have the gauges of the node and every counter while the store is unavailable', async () => {
    const { scrape, options } = observability()
    const store = memoryStore()
    const { hs } = await startService({ ...options, store })
    await hs.publish(channelCreate('leg-1'))
    await store.close()
    const { value } = await scrape()
    expect(value('hookswitch_deliveries_pending')).toBe(0)
    expect(value('hookswitch_in_flight')).toBe(0)
    expect(value('hookswitch_events_accepted_total')).toBe(1)
  })

  it('that throw do not delay deliveries', async () => {
    const failing = () => {
      throw new Error('no metrics')
    }
    const { hs, createWebhook } = await startService({
      metrics: { count: failing, observe: failing, watch: failing },
    })
    await createWebhook('/calls')
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('leg-1'))
    await delivered
  })
})

/** A sender without sockets, for thousands of receivers. */
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
  const MANY = 1_000

  it('creates no series: a thousand tokens, logins, hooks and receivers do not change their number', async () => {
    const { otel, scrape, options } = observability()
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

    const ignoreFailure = (work: Promise<unknown>) => work.catch(() => {})
    for (let i = 0; i < MANY; i += 1) {
      const name = `${'x'.repeat(i % 7)}${i}`
      await ignoreFailure(hs.auth.authenticate(`token-${name}`.padEnd(43, '_')))
      await ignoreFailure(hs.auth.signIn({ apiKey: `key-${name}` }))
      await ignoreFailure(hs.publish({ hook: `hook_${name}` as never, accountId: name, callId: name }))
      await hs.webhooks.create('acme', {
        name,
        uri: `https://${name}.example/${name}?${name}`,
        hook: 'all',
        retries: 0,
      })
    }
    const ended = (['delivered', 'exhausted', 'cancelled'] as const).map((state) => {
      const counter = { count: 0 }
      hs.events.on(state, () => {
        counter.count += 1
      })
      return counter
    })
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'leg-1' })
    await expect.poll(() => ended.reduce((sum, { count }) => sum + count, 0)).toBe(MANY)

    const { series, value } = await scrape()
    // Two histograms exist only after their first value.
    expect(await otel.series()).toBe(before.otel + 2)
    expect(series.size).toBe(before.prometheus)
    expect(value('hookswitch_token_lookups_total', { cache: 'miss' })).toBe(MANY)
    expect(value('hookswitch_logins_total', { result: 'failed' })).toBe(MANY)
    expect(value('hookswitch_events_refused_total', { reason: 'invalid' })).toBe(MANY)
    expect(value('hookswitch_deliveries_accepted_total')).toBe(MANY)
    await hs.close()
  })
})

describe('secrets', () => {
  it('reach no metric, no span and no log line', async () => {
    const { otel, prometheus, options } = observability()
    const logged: string[] = []
    const level = (fields: object, message: string) => void logged.push(JSON.stringify([fields, message]))
    const log = { debug: level, info: level, warn: level, error: level }
    const { hs, receiver, callApi } = await startService({ ...options, log, secret: 'secret-of-the-service' })
    const { apiKey } = await hs.accounts.create({
      id: 'canary',
      name: 'Canary',
      realm: 'canary.example',
      apiKey: 'secret-api-key'.padEnd(64, 'k'),
      users: [{ username: 'eve', password: 'secret-password' }],
    })
    const login = await callApi('PUT', '/v1/api_auth', { data: { api_key: apiKey } })
    const token = login.json.auth_token as string
    await callApi('PUT', '/v1/api_auth', { data: { api_key: 'secret-wrong-key' } })
    await callApi('PUT', '/v1/user_auth', {
      data: { credentials: 'secret-digest', account_realm: 'canary.example' },
    })
    receiver.on('/hook', [
      status(500, { headers: { 'set-cookie': 'secret-cookie' }, body: 'secret-response' }),
      status(200),
    ])
    const webhook = await hs.webhooks.create('canary', {
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
    const signing = await hs.webhooks.secret('canary', webhook.id)
    receiver.on('/rejects', [status(500)])
    await hs.webhooks.create('canary', {
      name: 'r',
      uri: `${receiver.url('/rejects')}?key=secret-in-the-query`,
      hook: 'all',
      retries: 0,
    })
    // Nothing listens on that port: the attempt ends without a response.
    await hs.webhooks.create('canary', {
      name: 'd',
      uri: 'http://127.0.0.1:9/?key=secret-in-the-query',
      hook: 'all',
      retries: 0,
    })
    const ends = [nextEvents(hs, 'delivered'), nextEvents(hs, 'exhausted'), nextEvents(hs, 'attempt', 4)]
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
    const spanText = spans.map(({ name, attributes, events, links, status: code }) => [
      name,
      attributes,
      events,
      links,
      code,
    ])
    const measured = await otel.collected()
    const everything = [
      JSON.stringify(spanText),
      JSON.stringify([...measured]),
      await prometheus.text(),
      logged.join('\n'),
    ].join('\n')
    expect(everything).toContain(webhook.id)
    for (const secret of ['secret-', token, signing, signing.slice(6), apiKey])
      expect(everything.includes(secret), secret).toBe(false)
  })
})
