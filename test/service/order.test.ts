/** The delivery guarantee: order within a call, and no waiting for other receivers. */
import { createServer } from 'node:net'
import { gate, hang, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, listen, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('order within a call', () => {
  it('an event is first sent after the previous one has ended, with retries too', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const attempts = new Map<string, number>()
    // Each event fails twice, then succeeds.
    receiver.on('/hook', ({ rawHeaders }) => {
      const id = rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'webhook-id') + 1]!
      attempts.set(id, (attempts.get(id) ?? 0) + 1)
      return status(attempts.get(id)! < 3 ? 500 : 200)
    })
    await createWebhook('/hook', { hook: 'all', retries: 5 })
    const delivered = nextEvents(hs, 'delivered', 12)
    for (const n of [1, 2, 3, 4])
      for (const call of ['a', 'b', 'c'])
        await hs.publish(channelCreate(call, { callerIdName: `${call}${n}` }))
    await delivered
    for (const call of ['a', 'b', 'c']) {
      const names = receiver.requests
        .map(({ body }) => JSON.parse(body))
        .filter(({ call_id }) => call_id === call)
        .map(({ caller_id_name, sequence }) => `${caller_id_name}/${sequence}`)
      expect(names).toEqual([1, 2, 3, 4].flatMap((n) => [1, 2, 3].map(() => `${call}${n}/${n}`)))
    }
  })

  it('an exhausted event does not block the call', async () => {
    const { hs, receiver, createWebhook } = await startService()
    receiver.on('/hook', [status(500), status(500), status(200)])
    await createWebhook('/hook', { retries: 1 })
    const ends = Promise.all([nextEvents(hs, 'exhausted'), nextEvents(hs, 'delivered')])
    await hs.publish(channelCreate('call', { callerIdName: 'first' }))
    await hs.publish(channelCreate('call', { callerIdName: 'second' }))
    await ends
    expect(receiver.requests.map(({ body }) => JSON.parse(body).caller_id_name)).toEqual([
      'first',
      'first',
      'second',
    ])
  })

  it('calls never wait for each other', async () => {
    const { hs, receiver, createWebhook, callApi } = await startService()
    const held = gate()
    receiver.on('/hook', [held, status(200)])
    const id = await createWebhook('/hook')
    await hs.publish(channelCreate('stuck'))
    await receiver.next()
    await hs.publish(channelCreate('stuck'))
    const delivered = nextEvents(hs, 'delivered', 5)
    for (const call of ['a', 'b', 'c', 'd', 'e']) await hs.publish(channelCreate(call))
    await delivered
    expect(receiver.requests).toHaveLength(6)
    const waiting = await callApi('GET', `/v1/accounts/parent/webhooks/${id}/deliveries?filter_state=waiting`)
    expect(waiting.json.data).toMatchObject([
      { call_id: 'stuck', explain: expect.stringContaining('call order') },
    ])
    const rest = nextEvents(hs, 'delivered', 2)
    held.release()
    await rest
  })

  it('a webhook with ordering none does not wait', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate()
    receiver.on('/hook', [held])
    await createWebhook('/hook', { ordering: 'none' })
    const delivered = nextEvents(hs, 'delivered', 3)
    for (let n = 0; n < 3; n += 1) await hs.publish(channelCreate('call'))
    await receiver.next(3)
    held.release()
    await delivered
  })
})

describe('a dead or slow receiver', () => {
  it('does not delay a healthy one, whether it hangs, refuses connections or fails', async () => {
    // Longer than any test, so that no attempt times out.
    const { hs, receiver, createWebhook } = await startService({ attemptTimeoutMs: 600_000 })
    const dead = createServer()
    const port = await listen(dead as never)
    await new Promise((resolve) => dead.close(resolve))
    receiver.on('/hangs', [hang()])
    receiver.on('/fails', [status(500)])
    receiver.on('/healthy', [status(200)])
    const hangs = await createWebhook('/hangs')
    await createWebhook('/fails', { retries: 10 })
    await createWebhook('/refuses', { uri: `http://127.0.0.1:${port}/`, retries: 10 })
    const healthy = await createWebhook('/healthy')
    const calls = Array.from({ length: 50 }, (_, n) => `call-${n}`)
    const ended = new Promise<void>((resolve) => {
      let left = calls.length
      hs.events.on('delivered', ({ webhookId }) => {
        if (webhookId === healthy && --left === 0) resolve()
      })
    })
    await Promise.all(calls.map((call) => hs.publish(channelCreate(call))))
    await ended
    const received = receiver.requests
      .filter(({ path }) => path === '/healthy')
      .map(({ body }) => JSON.parse(body).call_id)
    expect(received.sort()).toEqual(calls.sort())
    expect(await hs.webhooks.attempts('parent', hangs)).toEqual([])
    expect(receiver.requests.filter(({ path }) => path === '/hangs').length).toBeLessThanOrEqual(10)
  })

  it('does not delay publish', async () => {
    const { hs, receiver, createWebhook } = await startService()
    receiver.on('*', [hang()])
    await createWebhook('/hangs')
    for (let n = 0; n < 30; n += 1) await hs.publish(channelCreate(`call-${n}`))
    // At most ten are in flight; the others are stored, and publish has resolved.
    expect(receiver.requests.length).toBeLessThanOrEqual(10)
  })
})
