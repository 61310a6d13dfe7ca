/** The promise of delivery, line by line, as far as a store that ends with its process can keep it: what one delivery gets. */
import { memoryStore } from 'hookswitch'
import { gate, reset, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { created, services, told } from './running.js'

const running = services()
const PATH = '/v1/accounts/parent/webhooks'

describe('accepted means kept', () => {
  it('the memory store says that it is not durable', () => {
    expect(memoryStore().supports.durable).toBe(false)
  })

  it('when publish resolves, the event has one delivery for each webhook that matched', async () => {
    const { hs, receiver, webhook } = await running()
    const held = gate()
    receiver.on('*', [held])
    const ids = await Promise.all([webhook('/a'), webhook('/b'), webhook('/c', { hook: 'channel_destroy' })])
    const ended = told(hs, 'delivered', 40)
    const published = await Promise.all(
      Array.from({ length: 20 }, (_, n) => hs.publish(created(`call-${n}`))),
    )
    const events = published.map(({ eventId }) => eventId).sort()
    for (const id of ids.slice(0, 2)) {
      const kept = await hs.webhooks.deliveries('parent', id)
      expect(kept.map(({ eventId }) => eventId).sort()).toEqual(events)
    }
    expect(await hs.webhooks.deliveries('parent', ids[2]!)).toEqual([])
    held.release()
    expect(new Set((await ended).map(({ eventId }) => eventId))).toEqual(new Set(events))
  })

  it('an event that is refused leaves nothing', async () => {
    const { hs, receiver, webhook } = await running()
    const id = await webhook('/a')
    await expect(hs.publish(created('call', { typo: 1 }))).rejects.toMatchObject({ code: 'InvalidInput' })
    await expect(hs.publish({ ...created('call'), accountId: 'nobody' })).rejects.toMatchObject({
      code: 'NotFound',
    })
    await hs.publish(created('after'))
    expect((await receiver.next()).body).toContain('"after"')
    expect(await hs.webhooks.deliveries('parent', id)).toHaveLength(1)
    expect(receiver.requests).toHaveLength(1)
  })

  it('one too many is refused, never dropped, and is taken when there is room again', async () => {
    const { hs, receiver, webhook } = await running({ maxPending: 2 })
    const held = gate()
    receiver.on('/a', [held])
    const id = await webhook('/a')
    await hs.publish(created('first'))
    await hs.publish(created('second'))
    await expect(hs.publish(created('third'))).rejects.toMatchObject({ code: 'QueueFull' })
    expect(await hs.webhooks.deliveries('parent', id)).toHaveLength(2)
    const delivered = told(hs, 'delivered', 2)
    held.release()
    await delivered
    await hs.publish(created('third'))
    const seen = await receiver.next(3)
    expect(seen.map(({ body }) => JSON.parse(body).call_id).sort()).toEqual(['first', 'second', 'third'])
  })
})

describe('at least once', () => {
  it('a delivery is tried until its receiver answers 2xx, whatever it answered before', async () => {
    const { hs, receiver, webhook, ask } = await running()
    receiver.on('/hook', [status(500), reset(), status(302), status(404), status(204)])
    await webhook('/hook', { retries: 10 })
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
    expect(await delivered).toMatchObject([{ attempts: 5 }])
    const { json } = await ask('GET', `${PATH}/attempts?ascending=true`)
    expect(
      json.data.map((one: Record<string, unknown>) => [
        one.attempt,
        one.retries_left,
        one.result,
        one.reason,
      ]),
    ).toEqual([
      [1, 10, 'failure', 'bad response code'],
      [2, 9, 'failure', 'kazoo http client error'],
      [3, 8, 'failure', 'bad response code'],
      [4, 7, 'failure', 'bad response code'],
      [5, 6, 'success', undefined],
    ])
    expect(receiver.requests).toHaveLength(5)
  })

  it('a spent budget, an age, a withdrawal: each end has its reason, is seen in the attempts and can be replayed', async () => {
    const { hs, receiver, webhook, ask } = await running()
    const held = gate()
    receiver.on('/spent', [status(500), status(500), status(200)])
    receiver.on('/withdrawn', [held, status(200)])
    const spent = await webhook('/spent', { retries: 1 })
    const aged = await webhook('/aged', { maxAgeSeconds: 60, hook: 'channel_answer' })
    const withdrawn = await webhook('/withdrawn', { hook: 'channel_destroy' })
    const ends = Promise.all([told(hs, 'exhausted'), told(hs, 'expired')])
    await hs.publish(created('call'))
    await hs.publish(created('call', { hook: 'channel_answer', timestampMs: Date.now() - 61_000 }))
    await ends
    await hs.publish(created('call', { hook: 'channel_destroy' }))
    await hs.publish(created('call', { hook: 'channel_destroy' }))
    await receiver.received(({ path }) => path === '/withdrawn')
    const cancelled = told(hs, 'cancelled')
    await hs.webhooks.patch('parent', withdrawn, { enabled: false })
    await cancelled
    await hs.webhooks.patch('parent', withdrawn, { enabled: true })
    held.release()

    for (const [id, state] of [
      [spent, 'exhausted'],
      [aged, 'expired'],
      [withdrawn, 'cancelled'],
    ] as const) {
      const [delivery] = await hs.webhooks.deliveries('parent', id, { states: [state] })
      const { json } = await ask('GET', `${PATH}/${id}/attempts?filter_delivery_id=${delivery!.id}`)
      expect(json.data[0]).toMatchObject({ result: 'failure', reason: expect.any(String) })
      const delivered = told(hs, 'delivered')
      const replay = await ask('PUT', `${PATH}/${id}/replay`, { data: { delivery_id: delivery!.id } })
      expect(replay.status).toBe(202)
      const again = replay.json.data.delivery_ids[0]
      await receiver.received(({ headers }) => headers['webhook-id'] === again)
      await delivered
    }
  })
})

describe('same id, same bytes', () => {
  it('every attempt carries the id, body and verb of the first, whatever became of the webhook', async () => {
    const { hs, receiver, webhook } = await running()
    const held = gate(status(500))
    receiver.on('/hook', [held, status(500), status(200)])
    const id = await webhook('/hook', { customData: { tenant: '7' } })
    await hs.publish(created('call', { callerIdName: 'Grüße 電話 😀 "quoted" \\' }))
    const first = await receiver.next()
    await hs.webhooks.patch('parent', id, {
      customData: { tenant: '8' },
      format: 'form-data',
      httpVerb: 'put',
    })
    const delivered = told(hs, 'delivered')
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

  it('each webhook gets the bytes of its own form on every attempt and replay', async () => {
    const { hs, receiver, webhook } = await running()
    const forms = [
      ['/plain', {}],
      ['/merged', { customData: { tenant: '7' } }],
      ['/pairs', { format: 'form-data' }],
      ['/query', { httpVerb: 'get' }],
    ] as const
    const ids = new Map<string, string>()
    for (const [path, wish] of forms) {
      receiver.on(path, [status(500), status(200)])
      ids.set(path, await webhook(path, wish))
    }
    const delivered = told(hs, 'delivered', forms.length)
    await hs.publish(created('call', { callerIdName: 'A & B' }))
    const ended = await delivered
    const again = told(hs, 'delivered', forms.length)
    for (const { webhookId, deliveryId } of ended)
      await hs.webhooks.replay('parent', webhookId, { deliveryId })
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
  it('the next event is first sent when the one before it has ended, and other calls do not wait for it', async () => {
    const { hs, receiver, webhook } = await running()
    const held = gate(status(500))
    receiver.on('/hook', ({ rawHeaders, body }) => {
      const attempt = rawHeaders[rawHeaders.indexOf('X-Hook-Attempt') + 1]
      if (JSON.parse(body.toString()).call_id === 'other') return status(200)
      return attempt === '1' ? held : status(attempt === '2' ? 503 : 200)
    })
    await webhook('/hook', { hook: 'all', retries: 5 })
    const [delivered, other] = [told(hs, 'delivered', 6), told(hs, 'delivered', 3)]
    const wishes = ['channel_create', 'channel_answer', 'channel_destroy'] as const
    for (const hook of wishes) {
      await hs.publish(created('call', { hook }))
      await hs.publish(created('other', { hook }))
    }
    expect((await other).map(({ callId }) => callId)).toEqual(['other', 'other', 'other'])
    expect(receiver.requests.filter(({ body }) => JSON.parse(body).call_id === 'call')).toHaveLength(1)
    held.release()
    await delivered
    const ofCall = receiver.requests.map(({ body }) => JSON.parse(body)).filter((e) => e.call_id === 'call')
    expect(ofCall.map((event) => event.hook_event)).toEqual(wishes.flatMap((hook) => [hook, hook, hook]))
    expect(ofCall.map((event) => event.sequence)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3])
  })
})
