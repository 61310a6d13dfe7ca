import type { ReadyEndpoint, Webhook } from 'hookswitch/store'
import { shardOf } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { gate, LEASE_MS, openNode, type QueryHooks, type QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const isPoll = (text: string) => text.includes('.nudge where shard')

describe.skipIf(!server)('notifications between nodes', () => {
  const direct = server!
  let clock: ManualClock
  let publisher: QueueNode
  let owner: QueueNode
  /** Hooks of the owner. */
  let hooks: { -readonly [Name in keyof QueryHooks]: QueryHooks[Name] }
  /** Arguments of the owner's listener. */
  let notified: (readonly ReadyEndpoint[] | undefined)[]

  beforeEach(async () => {
    const schema = direct.freshSchema()
    clock = manualClock()
    hooks = {}
    notified = []
    publisher = await openNode(direct, { schema, clock, owner: 'node-1' })
  })
  afterEach(async () => {
    await Promise.all([publisher.close(), owner.close()])
  })

  /** Opens the owner, which takes half of the shards and subscribes. Returns a webhook in one of them. */
  async function openOwner(): Promise<Webhook> {
    const { schema } = publisher
    owner = await openNode(direct, { schema, clock, owner: 'node-2', hooks })
    owner.store.deliveries.subscribe((ready) => void notified.push(ready))
    for (const { store, owner: name } of [publisher, owner, publisher, owner]) {
      await store.deliveries.renew(name, LEASE_MS)
    }
    const { shards } = await owner.store.deliveries.renew(owner.owner, LEASE_MS)
    for (;;) {
      const webhook = await publisher.webhook()
      if (shards.includes(shardOf(webhook.id))) return webhook
    }
  }
  const endpoints = () => notified.flatMap((ready) => ready ?? [])
  const scanRequests = () => notified.filter((ready) => ready === undefined).length

  it('notify the owner of accepted deliveries, without its poll', async () => {
    const polling = gate()
    hooks.before = (text) => (isPoll(text) ? polling.passed : undefined)
    const webhook = await openOwner()
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
    polling.open()
  })

  it('are replaced by the poll when the owner cannot listen', async () => {
    hooks.before = (text) => {
      if (text.startsWith('LISTEN')) throw new Error('Connection terminated unexpectedly')
    }
    const webhook = await openOwner()
    await publisher.accept([webhook])
    await expect.poll(() => endpoints().map(({ webhookId }) => webhookId)).toEqual([webhook.id])
    const [remaining] = await direct.sql(`select count(*)::int as count from "${owner.schema}".nudge`)
    expect(remaining).toEqual({ count: 0 })
  })

  it('are replaced by the poll after the listening connection was cut, until it is open again', async () => {
    const webhook = await openOwner()
    const cut = () =>
      direct.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%' and datname = current_database()",
      )
    expect(await cut()).not.toHaveLength(0)
    await publisher.accept([webhook])
    await expect.poll(() => endpoints().map(({ webhookId }) => webhookId)).toContain(webhook.id)
    // It listens again.
    await expect
      .poll(async () => {
        const rows = await direct.sql(
          "select from pg_stat_activity where query like 'LISTEN%' and datname = current_database()",
        )
        return rows.length
      })
      .toBeGreaterThan(0)
  })

  describe.each([
    ['whose poll fails', isPoll],
    ['that cannot listen', (text: string) => text.startsWith('LISTEN')],
  ])('from another node to an owner %s', (_, fails) => {
    /** A webhook of the owner with one waiting delivery, of which the owner knows. */
    async function openOwnerWithDelivery(): Promise<Webhook> {
      hooks.before = (text) => {
        if (fails(text)) throw new Error('Connection terminated unexpectedly')
      }
      const webhook = await openOwner()
      await publisher.accept([webhook])
      await expect.poll(endpoints).toHaveLength(1)
      return webhook
    }

    it('request a scan for the deliveries of a disabled webhook', async () => {
      const webhook = await openOwnerWithDelivery()
      const before = scanRequests()
      const settings = { ...webhook.settings, enabled: false }
      await publisher.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
      await expect.poll(scanRequests).toBeGreaterThan(before)
      expect(await owner.store.deliveries.stale(owner.owner, 9)).toHaveLength(1)
    })

    it('bring the new origin of an edited webhook', async () => {
      const webhook = await openOwnerWithDelivery()
      const settings = { ...webhook.settings, uri: 'https://moved.example.com/calls' }
      await publisher.store.webhooks.replace({ ...webhook, settings, revision: 2 }, 1)
      await expect
        .poll(() => endpoints().at(-1))
        .toMatchObject({
          webhookId: webhook.id,
          origin: 'https://moved.example.com',
        })
    })
  })

  it('are batched: one message for acceptances in quick succession', async () => {
    const messages: string[] = []
    await publisher.close()
    const { schema } = publisher
    publisher = await openNode(direct, {
      schema,
      clock,
      owner: 'node-1',
      hooks: { before: (text) => void (text.includes('pg_notify') && messages.push(text)) },
    })
    const webhook = await openOwner()
    await Promise.all(Array.from({ length: 50 }, () => publisher.accept([webhook])))
    await expect.poll(() => endpoints().length).toBeGreaterThan(0)
    expect(messages.length).toBeLessThan(10)
  })

  it('cost an idle owner at most one statement a second', async () => {
    let statements = 0
    await openOwner()
    hooks.before = () => {
      statements += 1
    }
    const began = performance.now()
    await expect.poll(() => statements).toBeGreaterThan(2)
    expect(statements).toBeLessThanOrEqual((performance.now() - began) / 1000 + 1)
  })
})
