/** The delivery guarantee: order within a call, and no waiting for other receivers. */
import { createServer } from 'node:net'
import { gate, hang, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, listen, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('order within a call', () => {
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
