import { createHookswitch, errorCode, type HookswitchOptions, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import type { Metrics } from '../src/metrics.js'
import type { Tracing } from '../src/ports.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const GIVEN = `00-${TRACE}-00f067aa0ba902b7-01`
const OF_SPAN = `00-${TRACE}-1111111111111111-01`

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A service with doors that note what they are told; `acme` has one webhook at a receiver. */
async function world(
  options: Partial<HookswitchOptions<ReturnType<typeof memoryStore>>> = {},
  traceparent?: string,
) {
  const counted: Record<string, number> = {}
  const metrics: Metrics = {
    count(name, by, label) {
      if (!name.startsWith('hookswitch_events_')) return
      const key = label === undefined ? name.slice(18) : `${name.slice(18)} ${label}`
      counted[key] = (counted[key] ?? 0) + by
    },
    observe() {},
    watch() {},
  }
  const spans: { parent: string | undefined; facts: object; end?: unknown[] }[] = []
  const tracing: Tracing = {
    begin(name, parent, facts) {
      if (name === 'attempt') return { traceparent: undefined, end() {} }
      const span: (typeof spans)[number] = { parent, facts }
      spans.push(span)
      return {
        traceparent,
        end(more, failure) {
          span.end = failure === undefined ? [more] : [more, failure]
        },
      }
    },
  }
  const receiver = scriptedReceiver()
  await receiver.start()
  const hs = createHookswitch({
    store: memoryStore(),
    allowLocal: true,
    ingest: true,
    metrics,
    tracing,
    ...options,
  })
  await hs.start()
  cleanups.push(() => hs.close())
  cleanups.push(() => receiver.close())
  const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'channel_create' })
  const { token } = await hs.auth.signIn({ apiKey })
  const ingest = (data: unknown, headers: Record<string, string>) =>
    hs.handle({
      method: 'PUT',
      url: '/v1/accounts/acme/events',
      headers: { 'content-type': 'application/json', 'x-auth-token': token, ...headers },
      body: JSON.stringify({ data }),
    })
  return { hs, receiver, counted, spans, ingest }
}

const call = (callId = 'leg-1') => ({ hook: 'channel_create', accountId: 'acme', callId }) as const
const event = (callId: string) => ({ hook: 'channel_create', call_id: callId })

describe('events are counted', () => {
  it('when they are accepted, once each', async () => {
    const { hs, counted, ingest } = await world()
    await hs.publish(call('a'))
    await hs.publish(call('b'), { idempotencyKey: 'k' })
    await hs.publish(call('b'), { idempotencyKey: 'k' })
    expect((await ingest([event('c'), event('d'), event('e')], {})).status).toBe(202)
    expect(counted).toEqual({ accepted_total: 5 })
  })

  it('when they are refused, by reason', async () => {
    const { hs, counted, ingest } = await world({ maxPending: 1 })
    const codes: unknown[] = []
    const refused = async (work: Promise<unknown>) => void codes.push(await work.catch(errorCode))
    await refused(hs.publish({ ...call(), hook: 'nobody_knows' as never }))
    await refused(hs.publish({ ...call(), accountId: 'nobody' }))
    await refused(hs.publish(null as never))
    await refused(hs.publish(call(), { tx: {} }))
    expect(codes).toEqual(['InvalidInput', 'NotFound', 'InvalidInput', 'Unsupported'])
    expect((await ingest([event('c'), event('d')], {})).status).toBe(429)
    expect(counted).toEqual({
      'refused_total invalid': 3,
      'refused_total other': 1,
      'refused_total queue_full': 2,
    })
    await hs.close()
    expect(await hs.publish(call()).catch(errorCode)).toBe('Closing')
    expect(counted['refused_total other']).toBe(2)
  })

  it('when the store is out', async () => {
    const store = memoryStore()
    const out = () =>
      Promise.reject(Object.assign(new Error('out'), { name: 'HookswitchError', code: 'StoreUnavailable' }))
    const { hs, counted, spans } = await world({
      store: { ...store, deliveries: { ...store.deliveries, accept: out } },
    })
    await hs.publish(call()).catch(() => {})
    expect(counted).toEqual({ 'refused_total store': 1 })
    expect(spans[0]!.end).toEqual([{ 'messaging.batch.message_count': 1 }, 'StoreUnavailable'])
  })
})

describe('the trace of an event', () => {
  it('is that of its publish span, which begins under the given one', async () => {
    const { hs, receiver, spans } = await world({}, OF_SPAN)
    const { eventId } = await hs.publish(call(), { traceparent: GIVEN })
    expect(spans).toEqual([
      {
        parent: GIVEN,
        facts: {
          'messaging.system': 'hookswitch',
          'messaging.operation.name': 'publish',
          'messaging.operation.type': 'send',
        },
        end: [
          {
            'messaging.destination.name': 'channel_create',
            'messaging.message.id': eventId,
            'hookswitch.account_id': 'acme',
            'hookswitch.call_id': 'leg-1',
          },
        ],
      },
    ])
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(OF_SPAN)
  })

  it('is the given one where no span is recorded, and none where none is given', async () => {
    const { hs, receiver } = await world()
    await hs.publish(call('a'), { traceparent: GIVEN })
    await hs.publish(call('b'))
    const seen = await receiver.next(2)
    const of = (id: string) => seen.find(({ body }) => JSON.parse(body).call_id === id)!.headers.traceparent
    expect([of('a'), of('b')]).toEqual([GIVEN, undefined])
  })

  it('is the given one without tracing', async () => {
    const { hs, receiver } = await world({ tracing: undefined as never })
    await hs.publish(call(), { traceparent: GIVEN })
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(GIVEN)
  })

  it.each(['', 'x', GIVEN.toUpperCase(), `ff${GIVEN.slice(2)}`, 7, null])(
    'must be one when the host gives it: %j',
    async (traceparent) => {
      const { hs, counted, spans } = await world()
      const refusal = await hs
        .publish(call(), { traceparent: traceparent as never })
        .catch((thrown) => thrown)
      expect([errorCode(refusal), refusal.field]).toEqual(['InvalidInput', 'traceparent'])
      expect([counted, spans]).toEqual([{ 'refused_total invalid': 1 }, []])
    },
  )

  it('comes over HTTP in the header of that name; a malformed one is taken for none', async () => {
    const { ingest, receiver, spans } = await world()
    await ingest([event('a'), event('b')], { traceparent: GIVEN })
    for (const traceparent of ['x', `${GIVEN}, ${GIVEN}`, '']) {
      expect((await ingest(event('c'), { traceparent })).status).toBe(202)
    }
    expect(spans.map(({ parent }) => parent)).toEqual([GIVEN, undefined, undefined, undefined])
    expect(spans[0]!.end).toEqual([{ 'messaging.batch.message_count': 2 }])
    const seen = await receiver.next(5)
    for (const { body, headers } of seen)
      expect(headers.traceparent).toBe(JSON.parse(body).call_id === 'c' ? undefined : GIVEN)
  })

  it('is lost by a tracer that throws, the event is not', async () => {
    const tracing: Tracing = {
      begin() {
        throw new Error('no tracer')
      },
    }
    const { hs, receiver } = await world({ tracing })
    await hs.publish(call(), { traceparent: GIVEN })
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(GIVEN)
  })
})
