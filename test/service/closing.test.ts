/** The delivery guarantee: close drains, releases the rest and leaves nothing behind. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { gate, hang, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { deferred } from '../support/deferred.js'
import { callApi } from './api-client.js'
import {
  ACCOUNTS,
  channelCreate,
  closeServer,
  listen,
  nextEvents,
  serviceFixture,
} from './service-fixture.js'

const startService = serviceFixture()

/** Names of open handles of sockets, servers and DNS lookups. */
const handles = () =>
  process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS|UDP|Get|Query|Channel|Connect)/.test(name))

/** Records every timer created until `stop`; `left` lists those that still keep the process alive. */
function recordTimers() {
  const { setTimeout, setInterval } = globalThis
  const timers: { readonly timer: NodeJS.Timeout; readonly where: string | undefined }[] = []
  const recording = (create: (...args: never[]) => NodeJS.Timeout) =>
    ((...args: never[]) => {
      const timer = create(...args)
      timers.push({ timer, where: new Error('leaked timer').stack })
      return timer
    }) as typeof setTimeout
  globalThis.setTimeout = recording(setTimeout as never)
  globalThis.setInterval = recording(setInterval as never)
  return {
    stop() {
      globalThis.setTimeout = setTimeout
      globalThis.setInterval = setInterval
    },
    left: () =>
      timers
        .filter(({ timer }) => !(timer as unknown as { _destroyed: boolean })._destroyed && timer.hasRef())
        .map(({ where }) => where),
  }
}

it('close() finishes requests in flight and starts nothing new', async () => {
  const { hs, receiver, createWebhook } = await startService()
  const held = gate()
  receiver.on('/hook', [held, status(200)])
  const id = await createWebhook('/hook')
  const delivered = nextEvents(hs, 'delivered')
  await hs.publish(channelCreate('call'))
  await hs.publish(channelCreate('call'))
  await receiver.next()
  const closed = hs.close()
  await expect(hs.publish(channelCreate('late'))).rejects.toMatchObject({ code: 'Closing' })
  held.release()
  await closed
  expect(await delivered).toMatchObject([{ attempts: 1, webhookId: id }])
  expect(receiver.requests).toHaveLength(1)
})

it('a publish that is still being matched when the store is closed is refused because the service is closing', async () => {
  const store = memoryStore()
  const { promise: reading, resolve: goOn } = deferred()
  let isRead = false
  const webhooks = {
    ...store.webhooks,
    async candidates(...args: Parameters<typeof store.webhooks.candidates>) {
      isRead = true
      await reading
      return store.webhooks.candidates(...args)
    },
  }
  const { hs } = await startService({ store: Object.create(store, { webhooks: { value: webhooks } }) })
  const published = hs.publish(channelCreate('call'))
  await until(() => isRead)
  await hs.close()
  goOn()
  await expect(published).rejects.toMatchObject({ code: 'Closing', retryAfterSeconds: 1 })
})

it('close() releases what does not end in time: the next start sends it again, and the interrupted attempt is recorded', async () => {
  const store = memoryStore()
  const secret = 'a secret shared by both instances'
  const before = await startService({ store, secret })
  before.receiver.on('/hook', [hang()])
  const id = await before.createWebhook('/hook')
  await before.hs.publish(channelCreate('call', { callerIdName: 'first' }))
  await before.hs.publish(channelCreate('call', { callerIdName: 'second' }))
  const interrupted = await before.receiver.next()
  await before.hs.close({ drainMs: 0 })
  await until(() => before.receiver.openConnections === 0)

  const after = scriptedReceiver({ port: Number(new URL(before.receiver.url()).port) })
  await before.close()
  await after.start()
  try {
    const { hs } = await startService({ store, secret })
    const [first, second] = await after.next(2)
    expect(first!.body).toBe(interrupted.body)
    expect(first!.headers['webhook-id']).toBe(interrupted.headers['webhook-id'])
    expect(JSON.parse(second!.body).caller_id_name).toBe('second')
    await until(
      async () => (await hs.webhooks.deliveries('parent', id, { states: ['delivered'] })).length === 2,
    )
    const attempts = await hs.webhooks.attempts('parent', id, { ascending: true })
    expect(attempts.map(({ attempt, result, reason }) => [attempt, result, reason])).toEqual([
      [1, 'failure', 'interrupted'],
      [2, 'success', undefined],
      [1, 'success', undefined],
    ])
  } finally {
    await after.close()
  }
})

it('close() leaves no socket, timer, DNS lookup or other handle', async () => {
  await until(() => handles().length === 0)
  const receiver = scriptedReceiver()
  await receiver.start()
  receiver.on('/hangs', [hang()])
  receiver.on('/fails', [status(500)])
  const timers = recordTimers()
  try {
    // Longer than any test: the hanging request ends because close() interrupts it.
    const hs = createHookswitch({ store: memoryStore(), allowLocal: true, attemptTimeoutMs: 600_000 })
    await hs.start()
    for (const account of ACCOUNTS) await hs.accounts.create({ ...account })
    const server = createServer(hs)
    const port = await listen(server)
    for (const path of ['/hangs', '/fails', '/works'])
      await hs.webhooks.create('parent', { name: path, uri: receiver.url(path), hook: 'all' })
    await hs.webhooks.create('parent', { name: 'dns', uri: 'http://does-not-exist.invalid/', hook: 'all' })
    const delivered = nextEvents(hs, 'delivered', 5)
    for (let n = 0; n < 5; n += 1) await hs.publish(channelCreate(`call-${n}`))
    await delivered
    await receiver.received(({ path }) => path === '/hangs')
    expect((await callApi(port, 'GET', '/v1/webhooks')).status).toBe(200)
    expect(timers.left()).not.toEqual([])
    expect(handles()).toContain('TCPSocketWrap')

    await hs.close({ drainMs: 0 })
    expect(timers.left().filter((where) => /\/(src|undici)\//.test(where ?? ''))).toEqual([])
    await closeServer(server)
    // Shorter than the lifetime of idle connections.
    await until(() => receiver.openConnections === 0, { timeoutMs: 5000 })
    await receiver.close()
    await until(() => handles().length === 0)
  } finally {
    timers.stop()
  }
})

it('close() may be called twice, and without start()', async () => {
  const { hs, callApi } = await startService()
  await Promise.all([hs.close(), hs.close()])
  await hs.close()
  expect((await callApi('GET', '/v1/accounts/parent/webhooks')).status).toBe(503)
  await createHookswitch({ store: memoryStore() }).close()
})
