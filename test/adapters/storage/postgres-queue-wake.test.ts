import type { ReadyEndpoint, Webhook } from 'hookswitch/store'
import { shardOf } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { privatePostgres } from './pg-cluster.js'
import { gate, type Interference, LEASE_MS, openNode, type QueueNode } from './postgres-queue-world.js'

const server = await privatePostgres()
afterAll(() => server?.end())

const isPoll = (text: string) => text.includes('.nudge where shard')

describe.skipIf(!server)('a node that does not own an endpoint', () => {
  const direct = server!
  let clock: ManualClock
  let publisher: QueueNode
  let owner: QueueNode
  /** Of the owner. */
  let interference: { -readonly [Name in keyof Interference]: Interference[Name] }
  let woken: (readonly ReadyEndpoint[] | undefined)[]

  beforeEach(async () => {
    const schema = direct.freshSchema()
    clock = manualClock()
    interference = {}
    woken = []
    publisher = await openNode(direct, { schema, clock, owner: 'node-1' })
  })
  afterEach(async () => {
    await Promise.all([publisher.close(), owner.close()])
  })

  /** The other node opens, takes half, and hears. */
  async function begin(): Promise<Webhook> {
    const { schema } = publisher
    owner = await openNode(direct, { schema, clock, owner: 'node-2', interference })
    owner.store.deliveries.subscribe((ready) => void woken.push(ready))
    for (const { store, owner: name } of [publisher, owner, publisher, owner]) {
      await store.deliveries.renew(name, LEASE_MS)
    }
    const { shards } = await owner.store.deliveries.renew(owner.owner, LEASE_MS)
    for (;;) {
      const webhook = await publisher.webhook()
      if (shards.includes(shardOf(webhook.id))) return webhook
    }
  }
  const endpoints = () => woken.flatMap((ready) => ready ?? [])
  const looks = () => woken.filter((ready) => ready === undefined).length

  it('tells its owner what it accepts, which hears it without looking', async () => {
    const looking = gate()
    interference.before = (text) => (isPoll(text) ? looking.passed : undefined)
    const webhook = await begin()
    await publisher.accept([webhook])
    await expect.poll(endpoints).toEqual([
      {
        webhookId: webhook.id,
        accountId: 'account',
        origin: 'https://receiver.example.com',
        failing: false,
        dueMs: clock.now(),
      },
    ])
    looking.open()
  })

  it('leaves it to be found by an owner who hears nothing', async () => {
    interference.before = (text) => {
      if (text.startsWith('LISTEN')) throw new Error('Connection terminated unexpectedly')
    }
    const webhook = await begin()
    await publisher.accept([webhook])
    await expect.poll(() => endpoints().map(({ webhookId }) => webhookId)).toEqual([webhook.id])
    const [left] = await direct.sql(`select count(*)::int as count from "${owner.schema}".nudge`)
    expect(left).toEqual({ count: 0 })
  })

  it('lets it be found when its owner hears again, after the connection was cut', async () => {
    const webhook = await begin()
    const cut = () =>
      direct.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%'")
    expect(await cut()).not.toHaveLength(0)
    await publisher.accept([webhook])
    await expect.poll(() => endpoints().map(({ webhookId }) => webhookId)).toContain(webhook.id)
    // Hears again.
    await expect
      .poll(async () => {
        const rows = await direct.sql("select from pg_stat_activity where query like 'LISTEN%'")
        return rows.length
      })
      .toBeGreaterThan(0)
  })

  for (const hears of [true, false]) {
    it(`tells what it withdraws to an owner who ${hears ? 'hears it' : 'hears nothing'}`, async () => {
      interference.before = (text) => {
        if (!hears && text.startsWith('LISTEN')) throw new Error('Connection terminated unexpectedly')
      }
      const webhook = await begin()
      await publisher.accept([webhook])
      await expect.poll(endpoints).toHaveLength(1)
      const before = looks()
      const settings = { ...webhook.settings, enabled: false }
      await publisher.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
      await expect.poll(looks).toBeGreaterThan(before)
      expect(await owner.store.deliveries.stale(owner.owner, 9)).toHaveLength(1)
    })
  }

  it('says much of it at once: one message for what comes within a moment', async () => {
    const told: string[] = []
    await publisher.close()
    const { schema } = publisher
    publisher = await openNode(direct, {
      schema,
      clock,
      owner: 'node-1',
      interference: { before: (text) => void (text.includes('pg_notify') && told.push(text)) },
    })
    const webhook = await begin()
    await Promise.all(Array.from({ length: 50 }, () => publisher.accept([webhook])))
    await expect.poll(() => endpoints().length).toBeGreaterThan(0)
    expect(told.length).toBeLessThan(10)
  })

  it('costs an idle owner one statement a second at most', async () => {
    let statements = 0
    await begin()
    interference.before = () => {
      statements += 1
    }
    const began = performance.now()
    await expect.poll(() => statements).toBeGreaterThan(2)
    expect(statements).toBeLessThanOrEqual((performance.now() - began) / 1000 + 1)
  })
})
