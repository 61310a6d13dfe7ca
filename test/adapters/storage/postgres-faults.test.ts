import { createHookswitch, errorCode, exponential, type Hookswitch } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Clock } from 'hookswitch/store'
import { gate, type ScriptedReceiver, scriptedReceiver, until } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { privatePostgres } from './pg-cluster.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await privatePostgres()

/** The whole service while the server or the network fails. */
describe.skipIf(!server)('a service with a PostgreSQL store', () => {
  const direct = server!
  let proxy: TcpProxy
  let receiver: ScriptedReceiver
  const running: Hookswitch[] = []

  beforeAll(async () => {
    proxy = await tcpProxy({ port: direct.port })
  })
  afterEach(async () => {
    proxy.heal()
    proxy.delay(0)
    for (const hs of running.splice(0)) await hs.close()
    await receiver.close()
  })
  afterAll(async () => {
    await proxy.close()
    await direct.end()
  })

  async function service(changes: { schema?: string; clock?: Clock; answerWithinMs?: number } = {}) {
    const { schema = direct.freshSchema(), clock, answerWithinMs = 10_000 } = changes
    if (running.length === 0) {
      receiver = scriptedReceiver({ timeoutMs: 25_000 })
      await receiver.start()
    }
    const connectionString = direct.urlOf({ port: proxy.port })
    const hs = createHookswitch({
      store: postgresStore({ connectionString, schema, answerWithinMs }),
      secret: 'a secret of the tests',
      allowLocal: true,
      retryPolicy: exponential({ baseMs: 50 }),
      ...(clock ? { clock } : {}),
    })
    await hs.start()
    running.push(hs)
    if (running.length === 1) {
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
    }
    return { hs, schema }
  }
  const event = (callId: string) => ({ hook: 'channel_create' as const, accountId: 'acme', callId })
  /** Publishes like a host that must lose nothing: repeats with the same key until it is acknowledged. */
  async function publishReliably(hs: Hookswitch, callId: string) {
    for (;;) {
      try {
        return await hs.publish(event(callId), { idempotencyKey: `key of ${callId}` })
      } catch (thrown) {
        if (errorCode(thrown) !== 'StoreUnavailable') throw thrown
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const receivedCalls = () =>
    receiver.requests.map(({ body }) => (JSON.parse(body) as { call_id: string }).call_id)

  it('loses no acknowledged event when the server crashes and restarts', async () => {
    const { hs } = await service()
    const acknowledged: string[] = []
    const publisher = async (name: string) => {
      for (let index = 0; index < 60; index += 1) {
        await publishReliably(hs, `${name}-${index}`)
        acknowledged.push(`${name}-${index}`)
      }
    }
    const publishers = Promise.all(['a', 'b', 'c'].map(publisher))
    for (const [after, mode] of [
      [30, 'immediate'],
      [90, 'fast'],
    ] as const) {
      await until(() => acknowledged.length >= after)
      await direct.stop(mode)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await direct.start()
    }
    await publishers
    await expect.poll(() => new Set(receivedCalls()).size).toBe(180)
    await expect.poll(async () => Number(await pendingOf(hs))).toBe(0)
  })

  it('accepts an event once when its group gets no answer', async () => {
    const { hs } = await service()
    await publishReliably(hs, 'before')
    const cut = proxy.cutAt('unanswered', 'answering')
    const first = hs.publish(event('unanswered'), { idempotencyKey: 'key' })
    await cut
    expect(await first).toMatchObject({ sequence: 1, duplicate: false })
    const again = await hs.publish(event('unanswered'), { idempotencyKey: 'key' })
    expect(again).toMatchObject({ eventId: (await first).eventId, sequence: 1, duplicate: true })
    await receiver.received(({ body }) => body.includes('unanswered'))
    await expect.poll(() => pendingOf(hs)).toBe(0)
    expect(receivedCalls().filter((callId) => callId === 'unanswered')).toHaveLength(1)
  })

  it('sends a delivery once when the group of its start gets no answer', async () => {
    const { hs } = await service()
    const cut = proxy.cutAt('.start (fence', 'answering')
    await publishReliably(hs, 'a')
    await cut
    await receiver.received(({ body }) => body.includes('"call_id":"a"'))
    await expect.poll(() => pendingOf(hs)).toBe(0)
    expect(receivedCalls()).toEqual(['a'])
  })

  it('ends a delivery once when the group of its settlement gets no answer', async () => {
    const { hs } = await service()
    const ends: string[] = []
    hs.events.on('delivered', ({ callId }) => ends.push(callId ?? ''))
    const held = gate()
    receiver.on('/w', [held])
    await publishReliably(hs, 'a')
    await receiver.received(({ body }) => body.includes('"call_id":"a"'))
    const cut = proxy.cutAt('[1,"', 'answering')
    held.release()
    await cut
    await expect.poll(() => ends).toEqual(['a'])
    const [webhook] = await hs.webhooks.list('acme')
    const attempts = await hs.webhooks.attempts('acme', webhook!.id, { limit: 9 })
    expect(attempts.map(({ result, attempt }) => [result, attempt])).toEqual([['success', 1]])
    expect(receivedCalls()).toEqual(['a'])
  })

  it('continues when all connections are cut again and again', async () => {
    const { hs } = await service()
    for (let round = 0; round < 10; round += 1) {
      const publishing = Promise.all([0, 1, 2, 3].map((index) => publishReliably(hs, `${round}-${index}`)))
      proxy.cutAll()
      await publishing
    }
    await expect.poll(() => new Set(receivedCalls()).size).toBe(40)
  })

  it('rejects within its time limit while the server has vanished, and delivers when it is back', async () => {
    const { hs } = await service({ answerWithinMs: 500 })
    await publishReliably(hs, 'before')
    await receiver.received(({ body }) => body.includes('before'))
    proxy.stall()
    const startMs = performance.now()
    expect(await hs.publish(event('lost')).then(() => undefined, errorCode)).toBe('StoreUnavailable')
    // 5 s for a connection, and the time limit of each of the few statements of a publish.
    expect(performance.now() - startMs).toBeLessThan(15_000)
    proxy.heal()
    await publishReliably(hs, 'after')
    await receiver.received(({ body }) => body.includes('after'))
  })

  it.each([600_000, -600_000])(
    'works with a clock that differs from the server’s by %i ms',
    async (offsetMs) => {
      const clock: Clock = { ...systemClock(), now: () => Date.now() + offsetMs }
      const { hs, schema } = await service({ clock })
      receiver.on('/w', [
        { name: 'fails once', play: ({ write }) => write('HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n') },
        { name: 'then not', play: ({ write }) => write('HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n') },
      ])
      await publishReliably(hs, 'a')
      const [first, second] = await receiver.next(2)
      expect([first?.body, second?.body]).toEqual([first?.body, first?.body])

      // Another node with the right time takes no shard from this one, nor the other way round.
      const shards = () => direct.sql(`select id, owner from "${schema}".shard order by id`)
      const before = await shards()
      const owner = before[0]?.owner
      await service({ schema })
      const after = await shards()
      const moved = after.filter((shard, index) => shard.owner !== before[index]?.owner)
      expect(new Set(before.map((shard) => shard.owner))).toEqual(new Set([owner]))
      expect(moved).toEqual([])
    },
  )

  async function pendingOf(hs: Hookswitch): Promise<number> {
    const [webhook] = await hs.webhooks.list('acme')
    const rows = await hs.webhooks.deliveries('acme', webhook!.id, {
      states: ['waiting', 'in_flight'],
      limit: 500,
    })
    return rows.length
  }
})
