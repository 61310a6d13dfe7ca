/** The promise of delivery: close drains, gives back the rest, and leaves nothing behind. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { gate, hang, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { ask } from './client.js'
import { ACCOUNTS, created, listen, services, shut, told } from './running.js'

const running = services()

/** Handles of sockets, servers and look-ups; how many of each name. */
const handles = () =>
  process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS|UDP|Get|Query|Channel|Connect)/.test(name))

/** Notes every timer made until it is told to stop; those that are still running and hold the process open. */
function watchTimers() {
  const { setTimeout: wait, setInterval: repeat } = globalThis
  const made: { readonly timer: NodeJS.Timeout; readonly where: string | undefined }[] = []
  const noting = (make: (...args: never[]) => NodeJS.Timeout) =>
    ((...args: never[]) => {
      const timer = make(...args)
      made.push({ timer, where: new Error('a timer that was left').stack })
      return timer
    }) as typeof wait
  globalThis.setTimeout = noting(wait as never)
  globalThis.setInterval = noting(repeat as never)
  return {
    stop() {
      globalThis.setTimeout = wait
      globalThis.setInterval = repeat
    },
    left: () =>
      made
        .filter(({ timer }) => !(timer as unknown as { _destroyed: boolean })._destroyed && timer.hasRef())
        .map(({ where }) => where),
  }
}

it('what is in flight is finished, and nothing new is begun', async () => {
  const { hs, receiver, webhook } = await running()
  const held = gate()
  receiver.on('/hook', [held, status(200)])
  const id = await webhook('/hook')
  const delivered = told(hs, 'delivered')
  await hs.publish(created('call'))
  await hs.publish(created('call'))
  await receiver.next()
  const closed = hs.close()
  await expect(hs.publish(created('late'))).rejects.toMatchObject({ code: 'Closing' })
  held.release()
  await closed
  expect(await delivered).toMatchObject([{ attempts: 1, webhookId: id }])
  expect(receiver.requests).toHaveLength(1)
})

it('what does not end in time is given back: the next start sends it again, and the cut attempt is on record', async () => {
  const store = memoryStore()
  const secret = 'a secret that outlives the instance'
  const before = await running({ store, secret })
  before.receiver.on('/hook', [hang()])
  const id = await before.webhook('/hook')
  await before.hs.publish(created('call', { callerIdName: 'first' }))
  await before.hs.publish(created('call', { callerIdName: 'second' }))
  const cut = await before.receiver.next()
  await before.hs.close({ drainMs: 0 })
  await until(() => before.receiver.openConnections === 0)

  const after = scriptedReceiver({ port: Number(new URL(before.receiver.url()).port) })
  await before.close()
  await after.start()
  try {
    const { hs } = await running({ store, secret })
    const [first, second] = await after.next(2)
    expect(first!.body).toBe(cut.body)
    expect(first!.headers['webhook-id']).toBe(cut.headers['webhook-id'])
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

it('leaves no socket, timer, look-up or other handle', async () => {
  await until(() => handles().length === 0)
  const receiver = scriptedReceiver()
  await receiver.start()
  receiver.on('/hangs', [hang()])
  receiver.on('/fails', [status(500)])
  const timers = watchTimers()
  try {
    // An attempt may take longer than any test: what hangs ends because it is cut.
    const hs = createHookswitch({ store: memoryStore(), allowLocal: true, attemptTimeoutMs: 600_000 })
    await hs.start()
    for (const account of ACCOUNTS) await hs.accounts.create({ ...account })
    const server = createServer(hs)
    const port = await listen(server)
    for (const path of ['/hangs', '/fails', '/works'])
      await hs.webhooks.create('parent', { name: path, uri: receiver.url(path), hook: 'all' })
    await hs.webhooks.create('parent', { name: 'dns', uri: 'http://does-not-exist.invalid/', hook: 'all' })
    const delivered = told(hs, 'delivered', 5)
    for (let n = 0; n < 5; n += 1) await hs.publish(created(`call-${n}`))
    await delivered
    await receiver.received(({ path }) => path === '/hangs')
    expect((await ask(port, 'GET', '/v1/webhooks')).status).toBe(200)
    expect(timers.left()).not.toEqual([])
    expect(handles()).toContain('TCPSocketWrap')

    await hs.close({ drainMs: 0 })
    expect(timers.left().filter((where) => /\/(src|undici)\//.test(where ?? ''))).toEqual([])
    await shut(server)
    // Idle connections would be kept for longer.
    await until(() => receiver.openConnections === 0, { timeoutMs: 5000 })
    await receiver.close()
    await until(() => handles().length === 0)
  } finally {
    timers.stop()
  }
})

it('closing twice, or without a start, is closing once', async () => {
  const { hs, ask: asked } = await running()
  await Promise.all([hs.close(), hs.close()])
  await hs.close()
  expect((await asked('GET', '/v1/accounts/parent/webhooks')).status).toBe(503)
  await createHookswitch({ store: memoryStore() }).close()
})
