/** A webhook that is disabled or deleted while its requests wait for a connection, on real sockets. */
import { createServer, type Socket } from 'node:net'
import type { Resolution } from 'hookswitch'
import { gate, status, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { created, listen, type Running, services, told } from './running.js'

const running = services()

/** DNS that answers the first look-up at once, and the others when the test says so. */
function slowResolver() {
  const waiting: (() => void)[] = []
  const answer: Resolution = { kind: 'addresses', addresses: ['127.0.0.1'] }
  let asked = 0
  return {
    waiting,
    resolve: () =>
      new Promise<Resolution>((resolve) => {
        asked += 1
        if (asked === 1) resolve(answer)
        else waiting.push(() => resolve(answer))
      }),
    close() {},
  }
}

/** Ten calls to a webhook: the first is on the wire, nine wait for the address of its receiver. */
async function nineWait(then = status(200)) {
  const resolver = slowResolver()
  // Longer than any test: nothing ends by a time-out.
  const service = await running({ resolver, attemptTimeoutMs: 600_000 })
  const { hs, receiver, webhook } = service
  const held = gate(then)
  receiver.on('/hook', [held])
  const id = await webhook('/hook', {
    uri: receiver.url('/hook').replace('127.0.0.1', 'hooks.example.com'),
    retries: 5,
  })
  for (let n = 0; n < 10; n += 1) await hs.publish(created(`call-${n}`))
  await receiver.next()
  await until(() => resolver.waiting.length === 9)
  return { ...service, id, held, resolver }
}

async function expectNineUnsent({ hs, receiver }: Running, id: string, first: string) {
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

describe('while its requests wait for a connection', () => {
  it('disabling ends them unsent at once; the one on the wire is delivered', async () => {
    const service = await nineWait()
    const { hs, receiver, id, held, resolver } = service
    const cancelled = told(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    for (const { attempts } of await cancelled) expect(attempts).toBe(0)
    const delivered = told(hs, 'delivered')
    held.release()
    await delivered
    // The addresses come too late: nobody dials them.
    for (const answer of resolver.waiting) answer()
    await hs.close()
    expect(receiver.connections).toBe(1)
    expect(receiver.requests).toHaveLength(1)
  })

  it('is seen in deliveries and attempts: one attempt, nine ends without any', async () => {
    const service = await nineWait()
    const { hs, id, held } = service
    const cancelled = told(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    await cancelled
    const delivered = told(hs, 'delivered')
    held.release()
    await delivered
    await expectNineUnsent(service, id, 'delivered')
  })

  it('deleting over HTTP does the same', async () => {
    const service = await nineWait()
    const { hs, ask, id, held } = service
    const cancelled = told(hs, 'cancelled', 9)
    expect((await ask('DELETE', `/v1/accounts/parent/webhooks/${id}`)).status).toBe(200)
    await cancelled
    const delivered = told(hs, 'delivered')
    held.release()
    await delivered
    expect(
      (await hs.webhooks.attempts('parent')).filter(({ attempt }) => attempt !== undefined),
    ).toHaveLength(1)
  })

  it('so does a receiver that is gone', async () => {
    const service = await nineWait(status(410))
    const { hs, id, held } = service
    const cancelled = told(hs, 'cancelled', 10)
    held.release()
    await cancelled
    await expectNineUnsent(service, id, 'cancelled')
  })

  it('enabling it again sends nothing of before, and everything of after', async () => {
    const service = await nineWait()
    const { hs, receiver, id, held, resolver } = service
    const cancelled = told(hs, 'cancelled', 9)
    await hs.webhooks.patch('parent', id, { enabled: false })
    await hs.webhooks.patch('parent', id, { enabled: true })
    await cancelled
    const delivered = told(hs, 'delivered', 2)
    held.release()
    await hs.publish(created('after'))
    await until(() => resolver.waiting.length === 10 || receiver.requests.length === 2)
    for (const answer of resolver.waiting) answer()
    await delivered
    expect(receiver.requests.map(({ body }) => JSON.parse(body).call_id)).toEqual(['call-0', 'after'])
  })
})

describe('while a TLS handshake hangs', () => {
  it('disabling destroys the connection, and the delivery ends unsent', async () => {
    const sockets: Socket[] = []
    const mute = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()))
    const port = await listen(mute as never)
    try {
      const { hs, webhook } = await running({ attemptTimeoutMs: 600_000 })
      const id = await webhook('/', { uri: `https://127.0.0.1:${port}/` })
      await hs.publish(created('call'))
      await until(() => sockets.length === 1)
      const cancelled = told(hs, 'cancelled')
      await hs.webhooks.patch('parent', id, { enabled: false })
      expect(await cancelled).toMatchObject([{ attempts: 0 }])
      await until(() => sockets[0]!.readableEnded || sockets[0]!.destroyed)
    } finally {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => mute.close(resolve))
    }
  })
})
