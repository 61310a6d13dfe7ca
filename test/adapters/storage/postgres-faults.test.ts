import { createHookswitch, errorCode, exponential, type Hookswitch } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Clock } from 'hookswitch/store'
import { gate, type ScriptedReceiver, scriptedReceiver, until } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.js'
import { privatePostgres } from './pg-cluster.js'
import { type TcpProxy, tcpProxy } from './tcp-proxy.js'

const server = await privatePostgres()

/** The whole service over a server that has trouble. */
describe.skipIf(!server)('a service over PostgreSQL', () => {
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
      receiver = scriptedReceiver({ patienceMs: 25_000 })
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
  /** As a host does that must lose nothing: again with the same key until it is acknowledged. */
  async function insist(hs: Hookswitch, callId: string) {
    for (;;) {
      try {
        return await hs.publish(event(callId), { idempotencyKey: `key of ${callId}` })
      } catch (thrown) {
        if (errorCode(thrown) !== 'StoreUnavailable') throw thrown
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const callsSeen = () =>
    receiver.requests.map(({ body }) => (JSON.parse(body) as { call_id: string }).call_id)

  it('loses nothing that it acknowledged when the server crashes and is started again', async () => {
    const { hs } = await service()
    const acknowledged: string[] = []
    const publisher = async (name: string) => {
      for (let index = 0; index < 60; index += 1) {
        await insist(hs, `${name}-${index}`)
        acknowledged.push(`${name}-${index}`)
      }
    }
    const publishers = Promise.all(['a', 'b', 'c'].map(publisher))
    for (const [after, how] of [
      [30, 'immediate'],
      [90, 'fast'],
    ] as const) {
      await until(() => acknowledged.length >= after)
      await direct.stop(how)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await direct.start()
    }
    await publishers
    await expect.poll(() => new Set(callsSeen()).size).toBe(180)
    await expect.poll(async () => Number(await pendingOf(hs))).toBe(0)
  })

  it('accepts an event once whose commit was not answered', async () => {
    const { hs } = await service()
    await insist(hs, 'before')
    const cut = proxy.cutAt('COMMIT\0', 'answering', 'accept_write')
    const first = hs.publish(event('a'), { idempotencyKey: 'key' })
    await cut
    expect(await first.then(() => undefined, errorCode)).toBe('StoreUnavailable')
    const again = await hs.publish(event('a'), { idempotencyKey: 'key' })
    expect(again).toMatchObject({ sequence: 1, duplicate: true })
    await receiver.received(({ body }) => body.includes('"call_id":"a"'))
    expect(callsSeen().filter((callId) => callId === 'a')).toHaveLength(1)
  })

  it('delivers what was claimed by a call that was not answered', async () => {
    const { hs } = await service()
    await insist(hs, 'before')
    await receiver.received(({ body }) => body.includes('before'))
    const cut = proxy.cutAt('claim_take', 'answering')
    await insist(hs, 'a')
    await cut
    await receiver.received(({ body }) => body.includes('"call_id":"a"'))
  })

  it('ends a delivery once whose settlement was not answered', async () => {
    const { hs } = await service()
    const ends: string[] = []
    hs.events.on('delivered', ({ callId }) => ends.push(callId ?? ''))
    const held = gate()
    receiver.on('/w', [held])
    await insist(hs, 'a')
    await receiver.received(({ body }) => body.includes('"call_id":"a"'))
    const cut = proxy.cutAt('COMMIT\0', 'answering', 'settle_write')
    held.release()
    await cut
    await expect.poll(() => ends).toEqual(['a'])
    const [webhook] = await hs.webhooks.list('acme')
    const attempts = await hs.webhooks.attempts('acme', webhook!.id, { limit: 9 })
    expect(attempts.map(({ result, attempt }) => [result, attempt])).toEqual([['success', 1]])
    expect(callsSeen()).toEqual(['a'])
  })

  it('goes on when every connection is cut, again and again', async () => {
    const { hs } = await service()
    for (let round = 0; round < 10; round += 1) {
      const publishing = Promise.all([0, 1, 2, 3].map((index) => insist(hs, `${round}-${index}`)))
      proxy.cutAll()
      await publishing
    }
    await expect.poll(() => new Set(callsSeen()).size).toBe(40)
  })

  it('answers within its bound while the server has vanished, and delivers when it is back', async () => {
    const { hs } = await service({ answerWithinMs: 500 })
    await insist(hs, 'before')
    await receiver.received(({ body }) => body.includes('before'))
    proxy.stall()
    const startMs = performance.now()
    expect(await hs.publish(event('lost')).then(() => undefined, errorCode)).toBe('StoreUnavailable')
    // 5 s for a connection, and for each of the few statements of a publish its bound.
    expect(performance.now() - startMs).toBeLessThan(15_000)
    proxy.heal()
    await insist(hs, 'after')
    await receiver.received(({ body }) => body.includes('after'))
  })

  it('closes while the server has vanished', async () => {
    const { hs } = await service({ answerWithinMs: 500 })
    await insist(hs, 'before')
    proxy.stall()
    const startMs = performance.now()
    await hs.close()
    expect(performance.now() - startMs).toBeLessThan(20_000)
  })

  it('waits for a server that is read-only for a while', async () => {
    const { hs } = await service()
    await insist(hs, 'before')
    const readOnly = async (value: 'on' | 'off') => {
      await direct.sql(`alter system set default_transaction_read_only = ${value}`)
      await direct.sql('select pg_reload_conf()')
      await expect
        .poll(async () => (await direct.sql('show default_transaction_read_only'))[0])
        .toEqual({ default_transaction_read_only: value })
    }
    await readOnly('on')
    await expect
      .poll(() => hs.publish(event('refused')).then(() => undefined, errorCode))
      .toBe('StoreUnavailable')
    await readOnly('off')
    await insist(hs, 'after')
    await receiver.received(({ body }) => body.includes('after'))
  })

  it.each([600_000, -600_000])('works with a clock that is %i ms beside the server’s', async (besideMs) => {
    const clock: Clock = { ...systemClock(), now: () => Date.now() + besideMs }
    const { hs, schema } = await service({ clock })
    receiver.on('/w', [
      { name: 'fails once', play: ({ write }) => write('HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n') },
      { name: 'then not', play: ({ write }) => write('HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n') },
    ])
    await insist(hs, 'a')
    const [first, second] = await receiver.next(2)
    expect([first?.body, second?.body]).toEqual([first?.body, first?.body])

    // Another node, of the right time, steals nothing of what this one holds, nor the other way round.
    const shards = () => direct.sql(`select id, owner from "${schema}".shard order by id`)
    const before = await shards()
    const owner = before[0]?.owner
    await service({ schema })
    const after = await shards()
    const moved = after.filter((shard, index) => shard.owner !== before[index]?.owner)
    expect(new Set(before.map((shard) => shard.owner))).toEqual(new Set([owner]))
    expect(moved).toEqual([])
  })

  async function pendingOf(hs: Hookswitch): Promise<number> {
    const [webhook] = await hs.webhooks.list('acme')
    const rows = await hs.webhooks.deliveries('acme', webhook!.id, {
      states: ['waiting', 'in_flight'],
      limit: 500,
    })
    return rows.length
  }
})
