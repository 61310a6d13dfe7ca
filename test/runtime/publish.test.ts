import { createHookswitch, errorCode, type HookswitchOptions, memoryStore } from 'hookswitch'
import { manualClock, scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { notWritten } from '../../src/delivery/queue-store.js'
import type { Metrics } from '../../src/metrics.js'
import type { Tracing } from '../../src/ports.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PUBLISHER_TRACE = `00-${TRACE}-00f067aa0ba902b7-01`
const SPAN_TRACE = `00-${TRACE}-1111111111111111-01`

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** An instance with recording metrics and tracing; account `acme` has one webhook at a receiver. */
async function harness(options: Partial<HookswitchOptions> = {}, traceparent?: string) {
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
  const spans: { parent: string | undefined; attributes: object; end?: unknown[] }[] = []
  const tracing: Tracing = {
    begin(name, parent, attributes) {
      if (name === 'attempt') return { traceparent: undefined, end() {} }
      const span: (typeof spans)[number] = { parent, attributes }
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

it('an unregistered hook is rejected with the closest registered one and all others', async () => {
  const { hs } = await harness({ hooks: [{ id: 'fax_sent' }] })
  const known =
    'channel_create, channel_answer, channel_bridge, channel_hold, channel_unhold, channel_destroy, ' +
    'channel_transferee, channel_transferor, parking, voicemail_new, missed_call, queue_join, queue_leave, ' +
    'queue_agent_offer, queue_agent_answer, queue_agent_no_answer, queue_agent_complete, queue_agent_login, queue_agent_logout, queue_agent_pause, queue_agent_resume, channel_dtmf, recording_started, recording_ready, conference_join, conference_leave, device_registered, device_unregistered, sms, object, fax_sent'
  for (const [hook, hint] of [
    ['channel_created', `did you mean 'channel_create'? known: ${known}`],
    ['fax_send', `did you mean 'fax_sent'? known: ${known}`],
    ['transfer', `known: ${known}`],
  ]) {
    await expect(hs.publish({ ...call(), hook: hook as never })).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'hook',
      message: `hook: '${hook}' is not a registered event (${hint})`,
    })
  }
})

it('an idempotency key is held for 24 hours after it was first published', async () => {
  const clock = manualClock()
  const { hs } = await harness({ clock })
  // No webhook wants it, so nothing is sent while time passes.
  const event = { ...call(), hook: 'channel_answer' } as const
  const publishedMs = clock.now()
  const first = await hs.publish(event, { idempotencyKey: 'k' })
  await clock.advance(publishedMs + 86_400_000 - 1 - clock.now())
  const within = await hs.publish(event, { idempotencyKey: 'k' })
  expect(within).toEqual({ ...first, duplicate: true })
  await clock.advance(publishedMs + 86_400_000 - clock.now())
  const after = await hs.publish(event, { idempotencyKey: 'k' })
  expect(after).toMatchObject({ duplicate: false })
  expect(after.eventId).not.toBe(first.eventId)
})

describe('the event counters', () => {
  it('count each accepted event once', async () => {
    const { hs, counted, ingest } = await harness()
    await hs.publish(call('a'))
    await hs.publish(call('b'), { idempotencyKey: 'k' })
    await hs.publish(call('b'), { idempotencyKey: 'k' })
    expect((await ingest([event('c'), event('d'), event('e')], {})).status).toBe(202)
    expect(counted).toEqual({ accepted_total: 5 })
  })

  it('count refused events by reason', async () => {
    const { hs, counted, ingest } = await harness()
    const codes: unknown[] = []
    const expectRefusal = async (work: Promise<unknown>) => void codes.push(await work.catch(errorCode))
    await expectRefusal(hs.publish({ ...call(), hook: 'unregistered' as never }))
    await expectRefusal(hs.publish({ ...call(), accountId: 'unknown' }))
    await expectRefusal(hs.publish(null as never))
    await expectRefusal(hs.publish(call(), { tx: {} }))
    expect(codes).toEqual(['InvalidInput', 'NotFound', 'InvalidInput', 'Unsupported'])
    expect((await ingest([event('c'), { hook: 'unregistered' }], {})).status).toBe(400)
    expect(counted).toEqual({ 'refused_total invalid': 5, 'refused_total other': 1 })
    await hs.close()
    expect(await hs.publish(call()).catch(errorCode)).toBe('Closing')
    expect(counted).toMatchObject({ 'refused_total other': 1, 'refused_total closing': 1 })
  })

  it.each([
    ['StoreUnavailable', 'refused_total store'],
    ['QueueFull', 'refused_total queue_full'],
  ])('count events that the store could not accept: %s', async (code, name) => {
    const store = memoryStore()
    const commit = () =>
      Promise.reject(notWritten(Object.assign(new Error('out'), { name: 'HookswitchError', code })))
    const { hs, counted, spans } = await harness({
      store: { ...store, deliveries: { ...store.deliveries, commit } },
    })
    await hs.publish(call()).catch(() => {})
    expect(counted).toEqual({ [name]: 1 })
    expect(spans[0]!.end).toEqual([{ 'messaging.batch.message_count': 1 }, code])
  })
})

describe('the traceparent of a delivery', () => {
  it('is that of the publish span, whose parent is the given traceparent', async () => {
    const { hs, receiver, spans } = await harness({}, SPAN_TRACE)
    const { eventId } = await hs.publish(call(), { traceparent: PUBLISHER_TRACE })
    expect(spans).toEqual([
      {
        parent: PUBLISHER_TRACE,
        attributes: {
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
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(SPAN_TRACE)
  })

  it('is the given one if the span is not recorded; without a given one there is none', async () => {
    const { hs, receiver } = await harness()
    await hs.publish(call('a'), { traceparent: PUBLISHER_TRACE })
    await hs.publish(call('b'))
    const requests = await receiver.next(2)
    const traceparentOf = (id: string) =>
      requests.find(({ body }) => JSON.parse(body).call_id === id)!.headers.traceparent
    expect([traceparentOf('a'), traceparentOf('b')]).toEqual([PUBLISHER_TRACE, undefined])
  })

  it('is the given one without tracing', async () => {
    const { hs, receiver } = await harness({ tracing: undefined as never })
    await hs.publish(call(), { traceparent: PUBLISHER_TRACE })
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(PUBLISHER_TRACE)
  })

  it.each(['', 'x', PUBLISHER_TRACE.toUpperCase(), `ff${PUBLISHER_TRACE.slice(2)}`, 7, null])(
    'must be valid if the host passes one: %j',
    async (traceparent) => {
      const { hs, counted, spans } = await harness()
      const error = await hs.publish(call(), { traceparent: traceparent as never }).catch((thrown) => thrown)
      expect([errorCode(error), error.field]).toEqual(['InvalidInput', 'traceparent'])
      expect([counted, spans]).toEqual([{ 'refused_total invalid': 1 }, []])
    },
  )

  it('comes from the header of an HTTP request; a malformed header is ignored', async () => {
    const { ingest, receiver, spans } = await harness()
    await ingest([event('a'), event('b')], { traceparent: PUBLISHER_TRACE })
    for (const traceparent of ['x', `${PUBLISHER_TRACE}, ${PUBLISHER_TRACE}`, '']) {
      expect((await ingest(event('c'), { traceparent })).status).toBe(202)
    }
    expect(spans.map(({ parent }) => parent)).toEqual([PUBLISHER_TRACE, undefined, undefined, undefined])
    expect(spans[0]!.end).toEqual([{ 'messaging.batch.message_count': 2 }])
    const requests = await receiver.next(5)
    for (const { body, headers } of requests)
      expect(headers.traceparent).toBe(JSON.parse(body).call_id === 'c' ? undefined : PUBLISHER_TRACE)
  })

  it('is the given one if the tracer throws', async () => {
    const tracing: Tracing = {
      begin() {
        throw new Error('no tracer')
      },
    }
    const { hs, receiver } = await harness({ tracing })
    await hs.publish(call(), { traceparent: PUBLISHER_TRACE })
    expect((await receiver.next(1))[0]!.headers.traceparent).toBe(PUBLISHER_TRACE)
  })
})
