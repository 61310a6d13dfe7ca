/** Disabling or deleting a webhook while its requests wait for a connection, on real sockets. */
import { createServer, type Socket } from 'node:net'
import type { Resolution } from 'hookswitch/adapter'
import { gate, status, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, listen, nextEvents, type RunningService, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

/** A resolver that answers the first lookup at once, and the others when the test releases them. */
function slowResolver() {
  const waiting: (() => void)[] = []
  const resolution: Resolution = { kind: 'addresses', addresses: ['127.0.0.1'] }
  let lookups = 0
  return {
    waiting,
    resolve: () =>
      new Promise<Resolution>((resolve) => {
        lookups += 1
        if (lookups === 1) resolve(resolution)
        else waiting.push(() => resolve(resolution))
      }),
    close() {},
  }
}

/** Ten deliveries to a webhook: the first is on the wire, nine wait for the address of its receiver. */
async function withNineWaiting(response = status(200)) {
  const resolver = slowResolver()
  // Longer than any test, so that no attempt times out.
  const service = await startService({ resolver, attemptTimeoutMs: 600_000 })
  const { hs, receiver, createWebhook } = service
  const held = gate(response)
  receiver.on('/hook', [held])
  const id = await createWebhook('/hook', {
    uri: receiver.url('/hook').replace('127.0.0.1', 'hooks.example.com'),
    retries: 5,
  })
  for (let n = 0; n < 10; n += 1) await hs.publish(channelCreate(`call-${n}`))
  await receiver.next()
  await until(() => resolver.waiting.length === 9)
  return { ...service, id, held, resolver }
}

async function expectNineUnsent({ hs, receiver }: RunningService, id: string, first: string) {
  const deliveries = await hs.webhooks.deliveries('parent', id, { ascending: true })
  expect(deliveries.map(({ state, attempts }) => [state, attempts])).toEqual([
    [first, 1],
    ...new Array(9).fill(['cancelled', 0]),
  ])
  const attempts = await hs.webhooks.attempts('parent', id)
  expect(attempts.filter(({ attempt }) => attempt !== undefined)).toHaveLength(1)
  expect(attempts.filter(({ reason }) => reason === 'cancelled')).toHaveLength(9)
  expect(receiver.requests).toHaveLength(1)
}

describe('a webhook whose requests wait for a connection', () => {
  it('is disabled: they end unsent at once; the one on the wire is delivered', async () => {
    const service = await withNineWaiting()
    const { hs, receiver, id, held, resolver } = service
    const cancelled = nextEvents(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    for (const { attempts } of await cancelled) expect(attempts).toBe(0)
    const delivered = nextEvents(hs, 'delivered')
    held.release()
    await delivered
    // The late addresses are not connected to.
    for (const release of resolver.waiting) release()
    await hs.close()
    expect(receiver.connections).toBe(1)
    expect(receiver.requests).toHaveLength(1)
  })

  it('is disabled: deliveries and attempts show one attempt, and nine ends without an attempt', async () => {
    const service = await withNineWaiting()
    const { hs, id, held } = service
    const cancelled = nextEvents(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    await cancelled
    const delivered = nextEvents(hs, 'delivered')
    held.release()
    await delivered
    await expectNineUnsent(service, id, 'delivered')
  })

  it('is deleted over HTTP: they end unsent too', async () => {
    const service = await withNineWaiting()
    const { hs, callApi, id, held } = service
    const cancelled = nextEvents(hs, 'cancelled', 9)
    expect((await callApi('DELETE', `/v1/accounts/parent/webhooks/${id}`)).status).toBe(200)
    await cancelled
    const delivered = nextEvents(hs, 'delivered')
    held.release()
    await delivered
    expect(
      (await hs.webhooks.attempts('parent')).filter(({ attempt }) => attempt !== undefined),
    ).toHaveLength(1)
  })

  it('gets a 410: they end unsent too', async () => {
    const service = await withNineWaiting(status(410))
    const { hs, id, held } = service
    const cancelled = nextEvents(hs, 'cancelled', 10)
    held.release()
    await cancelled
    await expectNineUnsent(service, id, 'cancelled')
  })

  it('is enabled again: nothing published before is sent, everything published after is', async () => {
    const service = await withNineWaiting()
    const { hs, receiver, id, held, resolver } = service
    const cancelled = nextEvents(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    await hs.webhooks.patch('parent', id, { enabled: true })
    await cancelled
    const delivered = nextEvents(hs, 'delivered', 2)
    held.release()
    await hs.publish(channelCreate('after'))
    await until(() => resolver.waiting.length === 10 || receiver.requests.length === 2)
    for (const release of resolver.waiting) release()
    await delivered
    expect(receiver.requests.map(({ body }) => JSON.parse(body).call_id)).toEqual(['call-0', 'after'])
  })
})

describe('a webhook whose TLS handshake hangs', () => {
  it('is disabled: the connection is destroyed and the delivery ends unsent', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()))
    const port = await listen(silent as never)
    try {
      const { hs, createWebhook } = await startService({ attemptTimeoutMs: 600_000 })
      const id = await createWebhook('/', { uri: `https://127.0.0.1:${port}/` })
      await hs.publish(channelCreate('call'))
      await until(() => sockets.length === 1)
      const cancelled = nextEvents(hs, 'cancelled')
      await hs.webhooks.patch('parent', id, { enabled: false })
      expect(await cancelled).toMatchObject([{ attempts: 0 }])
      await until(() => sockets[0]!.readableEnded || sockets[0]!.destroyed)
    } finally {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => silent.close(resolve))
    }
  })
})
