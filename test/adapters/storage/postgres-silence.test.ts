/** A server that says nothing any more: calls do not wait for the time limits of their statements. */
import { type AddressInfo, connect, createServer } from 'node:net'
import { createHookswitch, errorCode } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ServerSilent } from '../../../adapters/storage/postgres/errors.js'
import { createQuestion } from '../../../adapters/storage/postgres/silence-question.js'
import { createSilenceWatch } from '../../../adapters/storage/postgres/silence-watch.js'
import { type PgServer, postgresForTests } from './pg-cluster.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = (await postgresForTests()) as PgServer
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (thrown: Error) => thrown,
  )

describe.skipIf(!server)('a store whose server is silent', () => {
  let proxy: TcpProxy
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    proxy = await tcpProxy({ port: server.port })
  })
  afterEach(async () => {
    proxy.heal()
    for (const close of closing.splice(0)) await close()
  })
  afterAll(async () => {
    await proxy.close()
    await server.end()
  })

  /** The time limits are so long that no test could wait for one. */
  async function start(maxConnections = 4) {
    const connectionString = server.urlOf({ port: proxy.port })
    const schema = server.freshSchema()
    const store = postgresStore({
      connectionString,
      maxConnections,
      schema,
      answerWithinMs: 600_000,
    })
    const hs = createHookswitch({ store, secret: 'x'.repeat(32) })
    await hs.start()
    closing.push(() => hs.close({ drainMs: 0 }))
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    return { hs, schema }
  }

  it('gives up what waits, refuses the rest at once, and works again when the server answers', async () => {
    const { hs } = await start()
    await hs.webhooks.create('acme', { name: 'w', uri: 'https://a.example.com/', hook: 'channel_create' })
    proxy.stall()
    const event = { hook: 'channel_create', accountId: 'acme', callId: 'a', idempotencyKey: 'once' } as const
    const publishing = refusal(hs.publish(event))
    const reading = await refusal(hs.accounts.get('acme'))
    // Whether it was accepted is not known.
    expect(errorCode(await publishing)).toBe('StoreUnavailable')
    expect(reading).toMatchObject({
      code: 'StoreUnavailable',
      message: expect.stringContaining('hangs, or the network'),
    })
    // The question is repeated: nothing else waits, and still nothing is asked of the server by a call.
    const untilMs = performance.now() + 1_000
    let refused = 0
    for (; performance.now() < untilMs; refused += 1) {
      const began = performance.now()
      expect(errorCode(await refusal(hs.accounts.get('acme')))).toBe('StoreUnavailable')
      expect(performance.now() - began).toBeLessThan(500)
      await sleep(20)
    }
    expect(refused).toBeGreaterThan(5)
    const late = { ...event, callId: 'b', idempotencyKey: 'late' }
    expect(errorCode(await refusal(hs.publish(late)))).toBe('StoreUnavailable')
    proxy.heal()
    while (await refusal(hs.accounts.get('acme'))) await sleep(20)
    // Repeating it with the same key is safe.
    const { eventId } = await hs.publish(event)
    expect((await hs.publish(event)).eventId).toBe(eventId)
    const { deliveries } = await hs.operator.search({ accountId: 'acme' })
    expect(deliveries.filter(({ callId }) => callId === 'a')).toHaveLength(1)
    await hs.publish(late)
  })

  it('answers although a new connection takes longer than a question may', async () => {
    const slow = createServer((client) => {
      const upstream = connect(server.port)
      upstream.on('error', () => client.destroy())
      client.on('error', () => upstream.destroy())
      upstream.pipe(client)
      setTimeout(() => client.pipe(upstream), 1_200)
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    closing.push(async () => void slow.close())
    const { port } = slow.address() as AddressInfo
    const question = await createQuestion({ connectionString: server.urlOf({ port }) })
    closing.push(question.close)
    expect(await question.ask()).toBe(true)
  })

  it('is not taken for silent where statements take long on all connections', async () => {
    const { hs, schema } = await start(2)
    const locking = server.sql(
      `begin; lock table ${schema}.account in access exclusive mode; select pg_sleep(4); commit`,
    )
    await sleep(200)
    const results = await Promise.all([1, 2, 3, 4].map(() => refusal(hs.accounts.get('acme'))))
    await locking
    expect(results).toEqual([undefined, undefined, undefined, undefined])
  })
})

/** A server or pooler that opens connections. The test decides which queries it answers. */
async function fakeServer() {
  const state = { login: 'opened' as 'opened' | 'refused' | 'none', isAnswering: true }
  const message = (type: string, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts)
    const head = Buffer.alloc(5, type)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const ready = message('Z', Buffer.from('I'))
  const fake = createServer((socket) => {
    let isOpen = false
    socket.on('error', () => {})
    socket.on('data', () => {
      if (isOpen && state.isAnswering)
        socket.write(Buffer.concat([message('C', Buffer.from('SELECT 0\0')), ready]))
      if (isOpen || state.login === 'none') return
      isOpen = true
      if (state.login === 'refused')
        socket.end(message('E', Buffer.from('SFATAL\0C53300\0Mtoo many clients already\0\0')))
      else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]))
    })
  })
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void fake.close())
  const { port } = fake.address() as AddressInfo
  const question = await createQuestion({ connectionString: `postgres://u@127.0.0.1:${port}/d` })
  onTestFinished(() => question.close())
  return { state, ask: question.ask }
}

describe('the question to the server', () => {
  it('is answered by a connection that is opened, although its query waits for one that is free', async () => {
    const { state, ask } = await fakeServer()
    state.isAnswering = false
    expect(await ask()).toBe(true)
    expect(await ask()).toBe(true)
  })

  it('is not answered on a connection that was opened before', async () => {
    const { state, ask } = await fakeServer()
    expect(await ask()).toBe(true)
    state.isAnswering = false
    expect(await ask()).toBe(false)
    state.login = 'refused'
    expect(await ask()).toBe(true)
    state.login = 'none'
    expect(await ask()).toBe(false)
  }, 20_000)
})

describe('the watch over silence', () => {
  const wait = (watch: ReturnType<typeof createSilenceWatch>) => {
    let end = () => {}
    const given = new Promise<Error>((resolve) => {
      end = watch.suspect(resolve)
    })
    return { given, end: () => end() }
  }

  it('gives up everything that waits once a question has had no answer, until the server answers one', async () => {
    let answer = (_isAnswered: boolean) => {}
    const watch = createSilenceWatch(
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    )
    watch.check()
    const [first, second, ended] = [wait(watch), wait(watch), wait(watch)]
    ended.end()
    expect(await Promise.all([first.given, second.given])).toEqual([new ServerSilent(), new ServerSilent()])
    expect(() => watch.check()).toThrow(ServerSilent)
    expect(await wait(watch).given).toBeInstanceOf(ServerSilent)
    answer(true)
    for (let isSilent = true; isSilent; ) {
      await sleep(1)
      try {
        watch.check()
        isSilent = false
      } catch {}
    }
    watch.close()
  })

  it.each(['the question', 'a statement'])('gives no alarm where %s is answered', async (what) => {
    let asked = 0
    const watch: ReturnType<typeof createSilenceWatch> = createSilenceWatch(() => {
      asked += 1
      if (what === 'the question') return Promise.resolve(true)
      watch.answered()
      return new Promise(() => {})
    })
    const { given, end } = wait(watch)
    expect(await Promise.race([given, sleep(1_500).then(() => 'waits')])).toBe('waits')
    expect(asked).toBeGreaterThan(0)
    watch.check()
    end()
    watch.close()
  })
})
