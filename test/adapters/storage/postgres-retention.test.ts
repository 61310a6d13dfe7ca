import { postgresStore } from 'hookswitch/postgres'
import type { Log, Store } from 'hookswitch/store'
import { type ManualClock, manualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { acceptanceOf, createNode, type StoreNode } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent, newWebhook, WALL_MS } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'

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
    const node = await nodeOf(store, clock)
    const webhook = async () => {
      const made = newWebhook()
      await store.webhooks.insert(made)
      return made
    }
    return { store, schema, clock, node, webhook }
  }
  async function nodeOf(store: Store, clock: ManualClock, owner = 'node'): Promise<StoreNode> {
    const node = createNode(
      owner,
      300 * DAY_MS,
      () => store,
      () => clock.now(),
    )
    await node.own()
    await node.load()
    return node
  }
  /** Opens a connection for the test itself. */
  async function connect() {
    const client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    clients.push(client)
    return client
  }
  const blocked = () =>
    direct.sql(
      `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and application_name = 'hookswitch' and datname = current_database()`,
    )

  it('are read in ascending order without gaps: a page waits for rows that are being written', async () => {
    const { store, schema, node, webhook } = await openStore()
    const [first, second] = await node.acceptMany(await webhook(), 2)
    await node.settle(first!, 'delivered')
    // Another node has inserted an attempt and not committed yet.
    const writing = await connect()
    await writing.query('begin')
    const columns =
      'event, delivery, lane, at_ms, accepted_ms, webhook_key, epoch, attempts, tries, interruptions, variant, form, state, id'
    await writing.query(`insert into ${schema}.attempt (${columns}, doc)
      select ${columns}, replace(doc, '"id":"', '"id":"other-') from ${schema}.attempt`)
    await node.settle(second!, 'delivered')
    const page = store.deliveries.attempts({ accountId: 'account', ascending: true, limit: 9 })
    const horizon = () =>
      direct.sql(
        `select 1 from pg_stat_activity where strpos(query, 'pg_locks') > 0 and pid <> pg_backend_pid()`,
      )
    await expect.poll(async () => (await horizon()).length).toBeGreaterThan(0)
    await writing.query('commit')
    const ids = (await page).map(({ deliveryId }) => deliveryId)
    expect(ids).toEqual([first!.id, first!.id, second!.id])
  })

  it('keep their event when they are replayed while it is being pruned', async () => {
    const { store, schema, clock, node, webhook } = await openStore()
    const [delivery] = await node.accept(await webhook())
    await node.settle(delivery!, 'delivered')
    await clock.advance(2 * DAY_MS)
    const replaying = await connect()
    await replaying.query('begin')
    await replaying.query(`select 1 from ${schema}.event for key share`)
    const pruned = store.deliveries.prune(
      { attemptsPerWebhook: 9, beforeMs: clock.now(), limit: 9 },
      clock.now(),
    )
    await expect.poll(blocked).toHaveLength(1)
    await replaying.query(`insert into ${schema}.waiting
        (position, event, lane, accepted_ms, webhook_key, sequence, epoch, variant, form, id)
      select e.position + 1, e.position, 0, 0, w.key, 0, 1, 0, 4, '!replay' from ${schema}.event e, ${schema}.webhook w`)
    await replaying.query('commit')
    expect(await pruned).toBe(1)
    const replay = await node.waitingOne(
      await node.store.deliveries.webhookOf(delivery!.webhookId).then((row) => row!),
    )
    expect([replay.id, replay.eventId]).toEqual(['replay', delivery!.eventId])
    expect(replay.body).toContain(delivery!.eventId)
  })

  it('lose their bodies with the oldest of them, while their events are kept for their numbers', async () => {
    const { store, schema, clock, node, webhook } = await openStore()
    const [hook, other] = [await webhook(), await webhook()]
    const { acceptance, deliveries } = node.prepare([hook, other], {
      callId: 'call',
      bodies: [{ head: 'one' }, { head: 'two' }],
    })
    await node.acceptOne(acceptance)
    await node.settle(deliveries[0]!, 'delivered')
    const bodies = async () =>
      (await direct.sql(`select body from ${schema}.event union all select body from ${schema}.body`)).map(
        ({ body }) => body,
      )
    expect(await store.deliveries.pruneOldest(9)).toBe(1)
    expect(await bodies()).toEqual(['one', 'two'])
    await node.settle(deliveries[1]!, 'exhausted')
    expect(await store.deliveries.pruneOldest(9)).toBe(1)
    expect(await bodies()).toEqual([null])
    expect(await node.acceptEvents(newEvent({ callId: 'call' }))).toMatchObject([{ sequence: 2 }])
    await clock.advance(2 * DAY_MS)
    const limits = { attemptsPerWebhook: 9, beforeMs: 0, limit: 9 }
    while ((await store.deliveries.prune(limits, clock.now())) > 0) {}
    expect(await bodies()).toEqual([])
  })

  it('are replayed once by nodes that use one id at the same time', async () => {
    const { store, clock, node, webhook } = await openStore()
    const hook = await webhook()
    const { acceptance, deliveries } = node.prepare(hook)
    await node.acceptOne(acceptance)
    await node.settle(deliveries[0]!, 'exhausted')
    const { id: replayOf, position: originalPosition } = deliveries[0]!
    const nodes = [node, await nodeOf(store, clock, 'other')]
    for (const id of ['whole', `${acceptance.events[0]!.id.slice(0, 24)}ffffffff`]) {
      const results = await Promise.all(
        [0, 1, 2, 3].map((index) => {
          const replay = newDelivery(hook, acceptance.events[0]!, { id, replayOf, originalPosition })
          return nodes[index % 2]!.acceptOne(acceptanceOf([], [replay]))
        }),
      )
      const refused = results.filter(({ kind }) => kind === 'refused')
      expect(refused).toHaveLength(3)
      for (const result of refused) expect(result).toMatchObject({ error: { code: 'Conflict', field: 'id' } })
    }
    expect((await node.waiting()).map(({ originalPosition: of }) => of)).toEqual([
      originalPosition,
      originalPosition,
    ])
  })

  it('are pruned by several nodes at the same time, each row once', async () => {
    const { store, clock, node, webhook } = await openStore()
    for (const delivery of await node.acceptMany(await webhook(), 60))
      await node.settle(delivery, 'delivered')
    const drain = async () => {
      let removed = 0
      for (let idle = 0; idle < 3; ) {
        const limits = { attemptsPerWebhook: 50, beforeMs: clock.now(), limit: 7 }
        const count = await store.deliveries.prune(limits, clock.now())
        expect(count).toBeLessThanOrEqual(7)
        idle = count === 0 ? idle + 1 : 0
        removed += count
      }
      return removed
    }
    const drainOnAll = async () => {
      const removed = await Promise.all([drain(), drain(), drain()])
      return removed.reduce((sum, count) => sum + count)
    }
    // The events are too young to go with their attempts.
    await clock.advance(1)
    expect(await drainOnAll()).toBe(60)
    await clock.advance(2 * DAY_MS)
    expect(await drainOnAll()).toBe(60)
  })

  it('are pruned with their events, and then the last event of the call, although the limit is reached', async () => {
    const { store, schema, clock, node, webhook } = await openStore()
    const hook = await webhook()
    const positions = async () =>
      (await direct.sql(`select id from ${schema}.event order by position`)).map(({ id }) => id)
    const ids = []
    for (const callId of ['call', 'call', 'other']) {
      const [delivery] = await node.accept(hook, { callId })
      ids.push(delivery!.eventId)
      if (callId === 'call') await node.settle(delivery!, 'delivered')
    }
    const [unsent] = await node.acceptEvents(newEvent({ callId: 'call' }))
    expect(await positions()).toEqual(expect.arrayContaining([...ids, unsent!.id]))
    await clock.advance(2 * DAY_MS)
    const prune = (limit: number) =>
      store.deliveries.prune({ attemptsPerWebhook: 9, beforeMs: clock.now(), limit }, clock.now())
    expect(await prune(1)).toBe(1)
    expect(await positions()).toEqual([ids[1], ids[2], unsent!.id])
    expect(await prune(1)).toBe(1)
    expect(await positions()).toEqual([ids[2]])
  })

  it('are pruned a day after their call, however many older ones are kept', async () => {
    const { store, schema, clock, node, webhook } = await openStore()
    await webhook()
    await direct.sql(`insert into ${schema}.event (position, timestamp_ms, accepted_ms, id, account_id, hook, body)
      select p, 0, 0, 'kept-' || p, 'account', 'hook', '' from generate_series(1, 60000) p;
      insert into ${schema}.attempt (position, event, delivery, lane, at_ms, accepted_ms, webhook_key, epoch, n, attempts, tries,
        interruptions, variant, form, state, id, doc)
      select p, p, p, 0, 1e15, 0, 1, 1, 1, 1, 1, 0, 0, 0, 2, p, '{}' from generate_series(1, 60000) p`)
    await node.acceptEvents(newEvent({ callId: 'quiet' }))
    const prune = () =>
      store.deliveries.prune({ attemptsPerWebhook: 99_999, beforeMs: 0, limit: 9 }, clock.now())
    const isKept = async () =>
      (await direct.sql(`select 1 from ${schema}.event where call_id = 'quiet'`)).length > 0
    await clock.advance(DAY_MS)
    expect(await prune()).toBe(0)
    expect(await isKept()).toBe(true)
    await clock.advance(3_600_001)
    expect(await prune()).toBe(1)
    expect(await isKept()).toBe(false)
  })

  it('are pruned together with their deleted webhook, a minute after its deletion', async () => {
    const { store, clock, node, webhook } = await openStore()
    const hook = await webhook()
    const [delivery] = await node.accept(hook)
    await node.settle(delivery!, 'delivered')
    await store.webhooks.replace({ ...hook, deletedMs: clock.now(), revision: 2, epoch: 2 }, 1)
    const prune = (beforeMs: number) =>
      store.deliveries.prune({ attemptsPerWebhook: 9, beforeMs, limit: 9 }, clock.now())
    await clock.advance(120_000)
    expect(await prune(0)).toBe(0)
    expect((await store.deliveries.webhookOf(hook.id))?.id).toBe(hook.id)
    expect(await prune(clock.now())).toBe(2)
    expect(await store.deliveries.webhookOf(hook.id)).toBeUndefined()
  })

  it('keep numbers and legs of a call for a day after its last event, and while anything of it is stored', async () => {
    const { store, clock, node, webhook } = await openStore()
    const [delivery] = await node.accept(await webhook(), { callId: 'kept', otherLegCallId: 'leg' })
    await node.acceptEvents(newEvent({ callId: 'gone', otherLegCallId: 'other' }))
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
    expect([removed, await legs()]).toEqual([1, [2, 2, 0, 0]])
    await node.settle(delivery!, 'delivered')
    await clock.advance(2 * DAY_MS)
    while ((await prune(clock.now())) > 0) {}
    expect(await legs()).toEqual([0, 0, 0, 0])
  })

  it('of a whole account are erased with their events, so that no call looks at events without deliveries again', async () => {
    const { store, schema, node } = await openStore()
    const parent = newWebhook({ accountId: 'parent' })
    await store.webhooks.insert(parent)
    for (let index = 0; index < 60; index += 1)
      await node.accept(parent, { accountId: 'account', callId: `call-${index}` })
    for (let index = 0; index < 9; index += 1) await node.acceptEvents(newEvent({ callId: 'unwanted' }))
    const left = async () => {
      const [row] = await direct.sql(`select (select count(*) from ${schema}.event)::int as events,
        (select count(*) from ${schema}.waiting)::int as deliveries`)
      return row as { events: number; deliveries: number }
    }
    const sizes = []
    for (let removed = -1; removed !== 0; ) {
      removed = await store.deliveries.erase({ accountId: 'account' }, 10)
      sizes.push(removed)
      const { events, deliveries } = await left()
      expect(events - deliveries).toBeLessThanOrEqual(10 + 9)
    }
    expect(await left()).toEqual({ events: 0, deliveries: 0 })
    expect(Math.max(...sizes)).toBe(10)
  })

  it('leave no row in the pages after scrub', async () => {
    const { store, schema, node, webhook } = await openStore()
    const hook = await webhook()
    for (let index = 0; index < 5; index += 1) await node.accept(hook, { callId: 'gone' })
    while ((await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)) > 0) {}
    await store.deliveries.scrub()
    const [row] = await direct.sql(`select pg_relation_size('${schema}.event') as bytes`)
    expect(Number(row?.bytes)).toBe(0)
  })
})
