import fc from 'fast-check'
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Claim, Log, NewEvent, Store, Webhook } from 'hookswitch/store'
import { type ManualClock, manualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { newDelivery, newEvent, newWebhook, WALL_MS } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { type HistoryState, OWNER, settlementOf, steps } from './postgres-retention-history.js'
import { readEverything } from './postgres-retention-snapshot.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
const DAY_MS = 86_400_000

/** Queries, pruning and erasure. */
describe.skipIf(!server)('stored deliveries in PostgreSQL', () => {
  const direct = server!
  const stores: Store[] = []
  const clients: pg.Client[] = []

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end()
    for (const store of stores.splice(0)) await store.close()
  })
  afterAll(() => direct.end())

  async function openStore(schema = direct.freshSchema()) {
    const clock = manualClock({ nowMs: WALL_MS })
    const store = postgresStore({ connectionString: direct.url, schema, clock })
    await store.open({ clock, log })
    stores.push(store)
    await store.deliveries.own(OWNER, 30 * DAY_MS)
    return { store, schema, clock, ...operationsOf(store, clock) }
  }
  /** Opens a connection for the test itself. */
  async function connect() {
    const client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    clients.push(client)
    return client
  }
  /** New tables for each history would take longer than the histories. */
  async function emptyTables(schema: string) {
    const rows = await direct.sql(`select relname from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r'
        and relname not in ('hookswitch_migration', 'shard', 'pending')`)
    await direct.sql(rows.map(({ relname }) => `delete from ${schema}.${relname};`).join('\n'))
    await direct.sql(`update ${schema}.shard set owner = null, alive_until_ms = 0, leaving = false, term = 0;
      update ${schema}.pending set deliveries = 0`)
  }
  const blocked = () =>
    direct.sql(
      `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and application_name = 'hookswitch' and datname = current_database()`,
    )

  it('are read, pruned and erased as in the memory store', async () => {
    const { schema } = await openStore()
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 50 }), async (history) => {
        const clock = manualClock({ nowMs: WALL_MS })
        await emptyTables(schema)
        const { store } = await openStore(schema)
        const model = memoryStore()
        await model.open({ clock, log })
        await model.deliveries.own(OWNER, 30 * DAY_MS)
        const state: HistoryState = {
          nameCount: 0,
          webhooks: new Map<string, Webhook>(),
          events: [] as NewEvent[],
        }
        for (const { label, plan } of history) {
          const run = plan(state)
          const [actual, expected] = [await run(store, clock), await run(model, clock)]
          expect({ label, actual }).toEqual({ label, actual: expected })
          expect({ label, ...(await readEverything(store, state.webhooks)) }).toEqual({
            label,
            ...(await readEverything(model, state.webhooks)),
          })
        }
        await stores.pop()?.close()
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  it('are read in ascending order without gaps: a page waits for rows that are being written', async () => {
    const { store, schema, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    await accept(hook, {})
    await accept(hook, {})
    const [one, two] = await claim(hook)
    await settle(one!, 'delivered')
    // Another node has inserted an attempt and not committed yet.
    const writing = await connect()
    await writing.query('begin')
    await writing.query(`insert into ${schema}.attempt (at_ms, webhook_key, account_id, delivery_id, call_id, doc)
      select at_ms, webhook_key, account_id, delivery_id, call_id, replace(doc, '"id":"', '"id":"other-')
      from ${schema}.attempt`)
    await settle(two!, 'delivered')
    const page = store.deliveries.attempts({ accountId: 'account', ascending: true, limit: 9 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await writing.query('commit')
    const ids = (await page).map(({ deliveryId }) => deliveryId)
    expect(ids).toEqual([one!.delivery.id, one!.delivery.id, two!.delivery.id])
  })

  it('show how many deliveries are ahead in a long lane, on every page', async () => {
    const { store, webhook, accept } = await openStore()
    const hook = await webhook()
    for (let index = 0; index < 30; index += 1) await accept(hook, { callId: 'long' })
    const query = { accountId: 'account', webhookId: hook.id }
    const down = await store.deliveries.deliveries({ ...query, limit: 5 })
    expect(down.map(({ ahead }) => ahead)).toEqual([29, 28, 27, 26, 25])
    const up = await store.deliveries.deliveries({ ...query, ascending: true, limit: 3 })
    expect(up.map(({ ahead }) => ahead)).toEqual([0, 1, 2])
    expect((await store.deliveries.delivery('account', down[2]!.id))?.ahead).toBe(27)
  })

  it('keep their event when they are replayed while it is being pruned', async () => {
    const { store, schema, clock, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    const event = await accept(hook, {})
    await settle((await claim(hook))[0]!, 'delivered')
    await clock.advance(1_000)
    const replaying = await connect()
    await replaying.query('begin')
    await replaying.query(`select 1 from ${schema}.event for key share`)
    const pruned = store.deliveries.prune(
      { attemptsPerWebhook: 9, beforeMs: clock.now(), limit: 9 },
      clock.now(),
    )
    await expect.poll(blocked).toHaveLength(1)
    await replaying.query(`insert into ${schema}.delivery (event, due_ms, accepted_ms, webhook_key, variant, epoch,
        shard, id, lane, encoding, http_verb)
      select event, ${clock.now()}, ${clock.now()}, webhook_key, variant, epoch, shard, 'replay', 'a lane',
        encoding, http_verb from ${schema}.delivery`)
    await replaying.query('commit')
    expect(await pruned).toBe(2)
    const [replay] = await claim(hook)
    expect([replay?.delivery.id, replay?.delivery.eventId]).toEqual(['replay', event.id])
    expect(replay?.body).toContain(event.id)
  })

  it('are pruned by several nodes at the same time, each row once', async () => {
    const { store, clock, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    for (let index = 0; index < 60; index += 1) await accept(hook, {})
    for (const one of await claim(hook)) await settle(one, 'delivered')
    await clock.advance(1_000)
    const drain = async () => {
      let removed = 0
      for (;;) {
        const limits = { attemptsPerWebhook: 50, beforeMs: clock.now(), limit: 7 }
        const count = await store.deliveries.prune(limits, clock.now())
        expect(count).toBeLessThanOrEqual(7)
        if (count === 0) return removed
        removed += count
      }
    }
    const removed = await Promise.all([drain(), drain(), drain()])
    expect(removed.reduce((sum, count) => sum + count)).toBe(120)
  })

  it('are pruned together with their deleted webhook, a minute after its deletion', async () => {
    const { store, clock, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    await accept(hook, {})
    await settle((await claim(hook))[0]!, 'delivered')
    await store.webhooks.replace({ ...hook, deletedMs: clock.now(), revision: 2, epoch: 2 }, 1)
    const prune = (beforeMs: number) =>
      store.deliveries.prune({ attemptsPerWebhook: 9, beforeMs, limit: 9 }, clock.now())
    await clock.advance(120_000)
    expect(await prune(0)).toBe(0)
    expect((await store.deliveries.webhookOf(hook.id))?.id).toBe(hook.id)
    expect(await prune(clock.now())).toBe(3)
    expect(await store.deliveries.webhookOf(hook.id)).toBeUndefined()
  })

  it('keep their call for a day after its last event, and while anything of it is stored', async () => {
    const { store, clock, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    await accept(hook, { callId: 'kept', otherLegCallId: 'leg' })
    await store.deliveries.accept(
      { events: [newEvent({ callId: 'gone', otherLegCallId: 'other' })], deliveries: [], maxPending: 9 },
      clock.now(),
    )
    const prune = (beforeMs = 0) =>
      store.deliveries.prune({ attemptsPerWebhook: 9, beforeMs, limit: 2 }, clock.now())
    const legs = async () => {
      const known = ['kept', 'leg', 'gone', 'other'].map((callId) => store.deliveries.legs('account', callId))
      return (await Promise.all(known)).map((found) => found.length)
    }
    await clock.advance(DAY_MS)
    expect(await prune()).toBe(0)
    await clock.advance(3_600_001)
    let removed = 0
    for (let count = await prune(); count > 0; count = await prune()) removed += count
    expect([removed, await legs()]).toEqual([3, [2, 0, 0, 0]])
    await settle((await claim(hook))[0]!, 'delivered')
    await clock.advance(2 * DAY_MS)
    while ((await prune(clock.now())) > 0) {}
    expect(await legs()).toEqual([0, 0, 0, 0])
  })

  it('are erased during claims and settlements without stopping a lane', async () => {
    const { store, webhook, accept, claim, settle } = await openStore()
    const hook = await webhook()
    for (let index = 0; index < 40; index += 1) {
      await accept(hook, { callId: index % 2 ? 'gone' : 'kept', lane: `lane-${index % 5}` })
    }
    let delivered = 0
    const work = async () => {
      for (let idle = 0; idle < 3; ) {
        const claims = await claim(hook, 2)
        idle = claims.length === 0 ? idle + 1 : 0
        for (const one of claims) {
          const settled = await settle(one, 'delivered')
          if (one.delivery.callId === 'kept') {
            expect(settled).toBe('settled')
            delivered += 1
          }
        }
      }
    }
    const erase = async () => {
      while ((await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 3)) > 0) {}
    }
    await Promise.all([work(), erase()])
    await work()
    expect(delivered).toBe(20)
    expect(await store.deliveries.pending()).toBe(0)
    const attempts = await store.deliveries.attempts({ accountId: 'account', limit: 99 })
    expect(new Set(attempts.map(({ callId }) => callId))).toEqual(new Set(['kept']))
  })

  it('leave no row in the pages after scrub', async () => {
    const { store, schema, webhook, accept } = await openStore()
    const hook = await webhook()
    for (let index = 0; index < 5; index += 1) await accept(hook, { callId: 'gone' })
    while ((await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)) > 0) {}
    await store.deliveries.scrub()
    const [row] = await direct.sql(`select pg_relation_size('${schema}.event') as bytes`)
    expect(Number(row?.bytes)).toBe(0)
  })
})

/** The operations that the tests consist of. */
function operationsOf(store: Store, clock: ManualClock) {
  return {
    async webhook(overrides: Parameters<typeof newWebhook>[0] = {}) {
      const webhook = newWebhook(overrides)
      await store.webhooks.insert(webhook)
      return webhook
    },
    async accept(webhook: Webhook, { lane, ...overrides }: Partial<NewEvent> & { lane?: string }) {
      const event = newEvent(overrides)
      const deliveries = [newDelivery(webhook, event, lane === undefined ? {} : { lane })]
      await store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000 }, clock.now())
      return event
    },
    async claim(webhook: Webhook, slots = 1_000) {
      const endpoints = [{ webhookId: webhook.id, slots }]
      const now = clock.now()
      return (await store.deliveries.claim({ owner: OWNER, endpoints, limit: 1_000, now })).claims
    },
    async settle({ delivery }: Claim, state: 'delivered' | 'waiting') {
      const settlement = settlementOf(delivery, state, clock.now())
      return (await store.deliveries.settle([settlement], clock.now()))[0]!.kind
    },
  }
}
