/** The delivery guarantees, one by one, as far as a store in memory can give them. */
import { memoryStore } from 'hookswitch'
import { gate, reset, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const PATH = '/v1/accounts/parent/webhooks'

describe('accepted means stored', () => {
  it('the memory store declares that it is not durable', () => {
    expect(memoryStore().supports.durable).toBe(false)
  })

  it('when publish resolves, the event has one delivery for each webhook that matched', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate()
    receiver.on('*', [held])
    const ids = await Promise.all([
      createWebhook('/a'),
      createWebhook('/b'),
      createWebhook('/c', { hook: 'channel_destroy' }),
    ])
    const ended = nextEvents(hs, 'delivered', 40)
    const published = await Promise.all(
      Array.from({ length: 20 }, (_, n) => hs.publish(channelCreate(`call-${n}`))),
    )
    const events = published.map(({ eventId }) => eventId).sort()
    for (const id of ids.slice(0, 2)) {
      const stored = await hs.webhooks.deliveries('parent', id)
      expect(stored.map(({ eventId }) => eventId).sort()).toEqual(events)
    }
    expect(await hs.webhooks.deliveries('parent', ids[2]!)).toEqual([])
    held.release()
    expect(new Set((await ended).map(({ eventId }) => eventId))).toEqual(new Set(events))
  })

  it('a rejected event leaves nothing behind', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const id = await createWebhook('/a')
    await expect(hs.publish(channelCreate('call', { typo: 1 }))).rejects.toMatchObject({
      code: 'InvalidInput',
    })
    await expect(hs.publish({ ...channelCreate('call'), accountId: 'unknown' })).rejects.toMatchObject({
      code: 'NotFound',
    })
    await hs.publish(channelCreate('after'))
    expect((await receiver.next()).body).toContain('"after"')
    expect(await hs.webhooks.deliveries('parent', id)).toHaveLength(1)
    expect(receiver.requests).toHaveLength(1)
  })

  it('nothing is refused for what others wait: above its share a webhook loses its oldest, visibly', async () => {
    const { hs, receiver, createWebhook } = await startService({
      maxPending: 6,
      maxPendingPerAccount: 5,
      maxPendingPerWebhook: 4,
      inFlightPerEndpoint: 1,
    })
    const held = gate()
    receiver.on('/silent', [held])
    const silent = await createWebhook('/silent')
    const healthy = await createWebhook('/healthy', { hook: 'channel_answer' })
    const callIds = Array.from({ length: 50 }, (_, index) => `call ${index}`)
    for (const callId of callIds) await hs.publish(channelCreate(callId))
    await hs.publish({ ...channelCreate('healthy'), hook: 'channel_answer' })
    await expect
      .poll(async () => (await hs.webhooks.deliveries('parent', healthy))[0]?.state)
      .toBe('delivered')
    const endsOf = async (state: 'expired' | 'delivered') =>
      (await hs.webhooks.deliveries('parent', silent, { states: [state], ascending: true })).map(
        ({ callId, reason }) => [callId, reason],
      )
    const expired = callIds.slice(1, 46).map((callId) => [callId, 'queue_full'])
    await expect.poll(() => endsOf('expired')).toEqual(expired)
    held.release()
    await expect.poll(async () => (await endsOf('delivered')).length).toBe(5)
    expect(await endsOf('expired')).toEqual(expired)
    await hs.replays.start({ accountId: 'parent', webhookId: silent, result: 'expired' })
    await expect.poll(async () => (await endsOf('delivered')).length).toBe(50)
  })
})

describe('at least once', () => {
  it('a delivery is retried until its receiver responds 2xx, whatever it responded before', async () => {
    const { hs, receiver, createWebhook, callApi } = await startService()
    // A reset of a connection that was used before would be sent again within its attempt.
    const last = { headers: { connection: 'close' } }
    receiver.on('/hook', [status(500, last), reset(), status(302), status(404), status(204)])
    await createWebhook('/hook', { retries: 10 })
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    expect(await delivered).toMatchObject([{ attempts: 5 }])
    const { json } = await callApi('GET', `${PATH}/attempts?ascending=true`)
    expect(
      json.data.map((item: Record<string, unknown>) => [
        item.attempt,
        item.retries_left,
        item.result,
        item.reason,
      ]),
    ).toEqual([
      [1, 10, 'failure', 'bad response code'],
      // The reset costs no retry.
      [2, 10, 'failure', 'kazoo http client error'],
      [3, 9, 'failure', 'bad response code'],
      [4, 8, 'failure', 'bad response code'],
      [5, 7, 'success', undefined],
    ])
    expect(receiver.requests).toHaveLength(5)
  })

  it('exhausted, expired and cancelled deliveries have a reason, appear in the attempts and can be replayed', async () => {
    const { hs, receiver, createWebhook, callApi } = await startService()
    const held = gate()
    receiver.on('/exhausted', [status(500), status(500), status(200)])
    receiver.on('/cancelled', [held, status(200)])
    receiver.on('/expired', [status(429, { headers: { 'retry-after': '2' } }), status(200)])
    const exhausted = await createWebhook('/exhausted', { retries: 1 })
    const expired = await createWebhook('/expired', { maxAgeSeconds: 1, hook: 'channel_answer' })
    const disabled = await createWebhook('/cancelled', { hook: 'channel_destroy' })
    const ends = Promise.all([nextEvents(hs, 'exhausted'), nextEvents(hs, 'expired')])
    await hs.publish(channelCreate('call'))
    await hs.publish(channelCreate('call', { hook: 'channel_answer' }))
    await ends
    await hs.publish(channelCreate('call', { hook: 'channel_destroy' }))
    await hs.publish(channelCreate('call', { hook: 'channel_destroy' }))
    await receiver.received(({ path }) => path === '/cancelled')
    const cancelled = nextEvents(hs, 'cancelled')
    await hs.webhooks.patch('parent', disabled, { enabled: false })
    // The second one ends after the first one, which is of the same call.
    held.release()
    await cancelled
    await hs.webhooks.patch('parent', disabled, { enabled: true })

    for (const [id, state] of [
      [exhausted, 'exhausted'],
      [expired, 'expired'],
      [disabled, 'cancelled'],
    ] as const) {
      const [delivery] = await hs.webhooks.deliveries('parent', id, { states: [state] })
      const { json } = await callApi('GET', `${PATH}/${id}/attempts?filter_delivery_id=${delivery!.id}`)
      expect(json.data[0]).toMatchObject({ result: 'failure', reason: expect.any(String) })
      const delivered = nextEvents(hs, 'delivered')
      const replay = await callApi('PUT', `${PATH}/${id}/replay`, { data: { delivery_id: delivery!.id } })
      expect(replay.status).toBe(202)
      const replayId = replay.json.data.delivery_ids[0]
      await receiver.received(({ headers }) => headers['webhook-id'] === replayId)
      await delivered
    }
  })
})

describe('same id, same bytes', () => {
  it('every attempt has the id, body and method of the first, however the webhook changes', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate(status(500))
    receiver.on('/hook', [held, status(500), status(200)])
    const id = await createWebhook('/hook', { customData: { tenant: '7' } })
    await hs.publish(channelCreate('call', { callerIdName: 'Grüße 電話 😀 "quoted" \\' }))
    const first = await receiver.next()
    await hs.webhooks.patch('parent', id, {
      customData: { tenant: '8' },
      format: 'form-data',
      httpVerb: 'put',
    })
    const delivered = nextEvents(hs, 'delivered')
    held.release()
    await delivered
    const all = [first, ...(await receiver.next(2))]
    expect(new Set(all.map(({ body }) => body)).size).toBe(1)
    expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(all.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST'])
    expect(all.map(({ headers }) => headers['x-hook-attempt'])).toEqual(['1', '2', '3'])
    const times = all.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(JSON.parse(first.body)).toMatchObject({ tenant: '7', caller_id_name: 'Grüße 電話 😀 "quoted" \\' })
  })

  it('each webhook gets the same bytes in its own format on every attempt and replay', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const forms = [
      ['/plain', {}],
      ['/merged', { customData: { tenant: '7' } }],
      ['/pairs', { format: 'form-data' }],
      ['/query', { httpVerb: 'get' }],
    ] as const
    const ids = new Map<string, string>()
    for (const [path, input] of forms) {
      receiver.on(path, [status(500), status(200)])
      ids.set(path, await createWebhook(path, input))
    }
    const delivered = nextEvents(hs, 'delivered', forms.length)
    await hs.publish(channelCreate('call', { callerIdName: 'A & B' }))
    const ended = await delivered
    const again = nextEvents(hs, 'delivered', forms.length)
    for (const { webhookId, deliveryId } of ended) await hs.webhooks.replay('parent', webhookId, deliveryId)
    await again
    const bytes = forms.map(([path]) => {
      const sent = receiver.requests.filter((request) => request.path === path)
      expect(sent).toHaveLength(3)
      expect(new Set(sent.map(({ body, query }) => body + query)).size).toBe(1)
      return sent[0]!.body + sent[0]!.query
    })
    expect(new Set(bytes.map((text) => text.slice(0, 1) + text.includes('tenant'))).size).toBe(3)
    expect(bytes[2]).toBe(bytes[3])
  })
})

describe('in order within a call', () => {
  it('an event is first sent after the previous one has ended, and other calls do not wait', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate(status(500))
    receiver.on('/hook', ({ rawHeaders, body }) => {
      const attempt = rawHeaders[rawHeaders.indexOf('X-Hook-Attempt') + 1]
      if (JSON.parse(body.toString()).call_id === 'other') return status(200)
      return attempt === '1' ? held : status(attempt === '2' ? 503 : 200)
    })
    await createWebhook('/hook', { hook: 'all', retries: 5 })
    const [delivered, other] = [nextEvents(hs, 'delivered', 6), nextEvents(hs, 'delivered', 3)]
    const hooks = ['channel_create', 'channel_answer', 'channel_destroy'] as const
    for (const hook of hooks) {
      await hs.publish(channelCreate('call', { hook }))
      await hs.publish(channelCreate('other', { hook }))
    }
    expect((await other).map(({ callId }) => callId)).toEqual(['other', 'other', 'other'])
    expect(receiver.requests.filter(({ body }) => JSON.parse(body).call_id === 'call')).toHaveLength(1)
    held.release()
    await delivered
    const bodiesOfCall = receiver.requests
      .map(({ body }) => JSON.parse(body))
      .filter((e) => e.call_id === 'call')
    expect(bodiesOfCall.map((event) => event.hook_event)).toEqual(hooks.flatMap((hook) => [hook, hook, hook]))
    expect(bodiesOfCall.map((event) => event.sequence)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3])
  })
})
