import fc from 'fast-check'
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Claim, Delivery, Log, NewEvent, Settlement, Store, Webhook } from 'hookswitch/store'
import { type ManualClock, manualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  newDelivery,
  newEvent,
  newRecord,
  newWebhook,
  WALL_MS,
} from '../../../src/store/conformance/fixtures.js'
import { postgresForTests } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
const OWNER = 'node'
const DAY_MS = 86_400_000

/** What is kept of deliveries: read back, pruned, erased. */
describe.skipIf(!server)('what PostgreSQL keeps of deliveries', () => {
  const direct = server!
  const stores: Store[] = []
  const clients: pg.Client[] = []

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end()
    for (const store of stores.splice(0)) await store.close()
  })
  afterAll(() => direct.end())

  async function opened(schema = direct.freshSchema()) {
    const clock = manualClock({ nowMs: WALL_MS })
    const store = postgresStore({ connectionString: direct.url, schema, clock })
    await store.open({ clock, log })
    stores.push(store)
    await store.deliveries.own(OWNER, 30 * DAY_MS)
    return { store, schema, clock, ...verbs(store, clock) }
  }
  /** A connection of the test's own. */
  async function other() {
    const client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    clients.push(client)
    return client
  }
  /** Making tables anew for each history would take longer than the histories. */
  async function emptied(schema: string) {
    const rows = await direct.sql(`select relname from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r'
        and relname not in ('hookswitch_migration', 'shard', 'pending')`)
    await direct.sql(rows.map(({ relname }) => `delete from ${schema}.${relname};`).join('\n'))
    await direct.sql(`update ${schema}.shard set owner = null, alive_until_ms = 0, leaving = false, term = 0;
      update ${schema}.pending set deliveries = 0`)
  }
  const waiting = () =>
    direct.sql(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'hookswitch'`,
    )

  it('read, prune and erase as memory does', async () => {
    const { schema } = await opened()
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 50 }), async (history) => {
        const clock = manualClock({ nowMs: WALL_MS })
        await emptied(schema)
        const { store } = await opened(schema)
        const model = memoryStore()
        await model.open({ clock, log })
        await model.deliveries.own(OWNER, 30 * DAY_MS)
        const world = { names: 0, webhooks: new Map<string, Webhook>(), events: [] as NewEvent[] }
        for (const { words, plan } of history) {
          const run = plan(world)
          const [seen, expected] = [await run(store, clock), await run(model, clock)]
          expect({ words, seen }).toEqual({ words, seen: expected })
          expect({ words, ...(await everything(store, world.webhooks)) }).toEqual({
            words,
            ...(await everything(model, world.webhooks)),
          })
        }
        await stores.pop()?.close()
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  it('are read upwards without a gap: a page waits for what is being written below it', async () => {
    const { store, schema, webhook, accept, claim, settle } = await opened()
    const hook = await webhook()
    await accept(hook, {})
    await accept(hook, {})
    const [one, two] = await claim(hook)
    await settle(one!, 'delivered')
    // Another node has written a record, and is not done yet.
    const writing = await other()
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

  it('count what is ahead in a long lane, whatever page they are on', async () => {
    const { store, webhook, accept } = await opened()
    const hook = await webhook()
    for (let index = 0; index < 30; index += 1) await accept(hook, { callId: 'long' })
    const query = { accountId: 'account', webhookId: hook.id }
    const down = await store.deliveries.deliveries({ ...query, limit: 5 })
    expect(down.map(({ ahead }) => ahead)).toEqual([29, 28, 27, 26, 25])
    const up = await store.deliveries.deliveries({ ...query, ascending: true, limit: 3 })
    expect(up.map(({ ahead }) => ahead)).toEqual([0, 1, 2])
    expect((await store.deliveries.delivery('account', down[2]!.id))?.ahead).toBe(27)
  })

  it('keep the event of a replay that comes while it is being pruned', async () => {
    const { store, schema, clock, webhook, accept, claim, settle } = await opened()
    const hook = await webhook()
    const event = await accept(hook, {})
    await settle((await claim(hook))[0]!, 'delivered')
    await clock.advance(1_000)
    const replaying = await other()
    await replaying.query('begin')
    await replaying.query(`select 1 from ${schema}.event for key share`)
    const pruned = store.deliveries.prune(
      { attemptsPerWebhook: 9, beforeMs: clock.now(), limit: 9 },
      clock.now(),
    )
    await expect.poll(waiting).toHaveLength(1)
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

  it('are pruned by two nodes at once, each row once', async () => {
    const { store, clock, webhook, accept, claim, settle } = await opened()
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

  it('forget a deleted webhook with the last that was kept of it, a minute after its deletion', async () => {
    const { store, clock, webhook, accept, claim, settle } = await opened()
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

  it('forget a call a day after its last event, unless something is kept of it', async () => {
    const { store, clock, webhook, accept, claim, settle } = await opened()
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

  it('are erased under the hands of claims and settlements, and every lane goes on', async () => {
    const { store, webhook, accept, claim, settle } = await opened()
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

  it('are cleaned out of their pages by scrubbing', async () => {
    const { store, schema, webhook, accept } = await opened()
    const hook = await webhook()
    for (let index = 0; index < 5; index += 1) await accept(hook, { callId: 'gone' })
    while ((await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)) > 0) {}
    await store.deliveries.scrub()
    const [row] = await direct.sql(`select pg_relation_size('${schema}.event') as bytes`)
    expect(Number(row?.bytes)).toBe(0)
  })
})

/** What a test does with a store. */
function verbs(store: Store, clock: ManualClock) {
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
    async claim(webhook: Webhook, room = 1_000) {
      const endpoints = [{ webhookId: webhook.id, room }]
      const now = clock.now()
      return (await store.deliveries.claim({ owner: OWNER, endpoints, limit: 1_000, now })).claims
    },
    async settle({ delivery }: Claim, state: 'delivered' | 'waiting') {
      const settlement = settlementOf(delivery, state, clock.now())
      return (await store.deliveries.settle([settlement], clock.now()))[0]!.kind
    },
  }
}

function settlementOf(delivery: Delivery, state: Settlement['next']['state'], now: number): Settlement {
  return {
    owner: OWNER,
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    expect: { state: delivery.state as 'waiting' | 'in_flight', fence: delivery.fence },
    next: {
      state,
      attempts: delivery.attempts + 1,
      tries: delivery.tries + 1,
      interruptions: 0,
      ...(state === 'waiting' ? { dueMs: now + 500 } : {}),
    },
    record: newRecord(delivery, { id: `${delivery.id}/${delivery.attempts + 1}`, atMs: now }),
  }
}

/** What both stores are asked, one after the other. */
interface World {
  names: number
  readonly webhooks: Map<string, Webhook>
  readonly events: NewEvent[]
}
interface PlannedStep {
  readonly words: string
  plan(world: World): (store: Store, clock: ManualClock) => Promise<unknown>
  readonly [fc.toStringMethod]: () => string
}
const step = (words: string, plan: PlannedStep['plan']): PlannedStep => ({
  words,
  plan,
  [fc.toStringMethod]: () => words,
})

const ACCOUNTS = ['account', 'parent']
const name = fc.constantFrom('w0', 'w1', 'w2')
const callId = fc.constantFrom('a', 'b', 'c')
/** A call is one account's: of what two accounts know of one call the stores do not keep count alike. */
const callOfAccount = fc.constantFrom('account-a', 'account-b', 'parent-a', 'parent-c')
const some = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)]
const drained = async (removing: () => Promise<number>) => {
  while ((await removing()) > 0) {}
}

const steps: fc.Arbitrary<PlannedStep> = fc.oneof(
  fc.record({ name, account: fc.constantFrom(...ACCOUNTS), ordered: fc.boolean() }).map((given) =>
    step(`webhook ${given.name} of ${given.account}`, (world) => {
      if (world.webhooks.has(given.name)) return async () => 'there'
      const settings = { ordering: given.ordered ? ('call' as const) : ('none' as const) }
      const webhook = newWebhook({ id: given.name, accountId: given.account, settings })
      world.webhooks.set(given.name, webhook)
      return (store) => store.webhooks.insert(webhook)
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({ account: fc.constantFrom(...ACCOUNTS), callId, other: fc.option(callId, { nil: undefined }) })
      .map((given) =>
        step(`event of ${given.account} in ${given.callId}`, (world) => {
          world.names += 1
          const id = `event-${world.names}`
          const head = `{"id":"${id}","number":"+1555${given.callId}","sequence":`
          const event = newEvent({
            id,
            accountId: given.account,
            callId: `${given.account}-${given.callId}`,
            bodies: [{ head, tail: '}' }, { head: id }],
            ...(given.other === undefined ? {} : { otherLegCallId: `${given.account}-${given.other}` }),
          })
          world.events.push(event)
          const deliveries = [...world.webhooks.values()].map((webhook, index) =>
            newDelivery(webhook, event, { id: `${id}>${webhook.id}`, variant: index % 2 }),
          )
          return (store, clock) =>
            store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000 }, clock.now())
        }),
      ),
  },
  fc.record({ name, nth: fc.nat(9) }).map((given) =>
    step(`replay ${given.nth} to ${given.name}`, (world) => {
      const [webhook, event] = [world.webhooks.get(given.name), some(world.events, given.nth)]
      if (!webhook || !event) return async () => 'nothing'
      world.names += 1
      const [id, lane, replayOf] = [
        `replay-${world.names}`,
        `own-${world.names}`,
        `${event.id}>${webhook.id}`,
      ]
      const deliveries = [newDelivery(webhook, event, { id, lane, replayOf })]
      return async (store, clock) => {
        if (!(await store.deliveries.delivery(webhook.accountId, replayOf))) return 'nothing'
        return store.deliveries.accept({ events: [], deliveries, maxPending: 1_000 }, clock.now())
      }
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({
        room: fc.integer({ min: 1, max: 4 }),
        states: fc.array(fc.constantFrom('delivered', 'waiting', 'exhausted', 'kept'), {
          minLength: 4,
          maxLength: 4,
        }),
      })
      .map((given) =>
        step(`claim ${given.room} and settle as ${given.states}`, (world) => async (store, clock) => {
          const endpoints = [...world.webhooks.keys()].map((webhookId) => ({ webhookId, room: given.room }))
          const request = { owner: OWNER, endpoints, limit: 99, now: clock.now() }
          const claims = (await store.deliveries.claim(request)).claims.map(({ delivery }) => delivery)
          const byId = claims.toSorted((a, b) => (a.id < b.id ? -1 : 1))
          const settlements = byId.flatMap((delivery, index) => {
            const state = given.states[index % 4]!
            return state === 'kept' ? [] : settlementOf(delivery, state as 'waiting', clock.now())
          })
          const settled = await store.deliveries.settle(settlements, clock.now())
          return [byId.map(({ id }) => id), settled.map(({ kind }) => kind)]
        }),
      ),
  },
  fc.record({ name, how: fc.constantFrom('disable', 'enable', 'delete') }).map((given) =>
    step(`${given.how} ${given.name}`, (world) => {
      const before = world.webhooks.get(given.name)
      if (!before || before.deletedMs !== undefined) return async () => 'nothing'
      const { enabled } = before.settings
      const next = {
        ...before,
        settings: { ...before.settings, enabled: given.how === 'enable' },
        revision: before.revision + 1,
        epoch: before.epoch + (given.how === 'delete' || (given.how === 'disable' && enabled) ? 1 : 0),
        ...(given.how === 'delete' ? { deletedMs: WALL_MS } : {}),
      }
      world.webhooks.set(given.name, next)
      return (store) => store.webhooks.replace(next, before.revision)
    }),
  ),
  fc.constant(
    step('end what is stale', () => async (store, clock) => {
      const rows = (await store.deliveries.stale(OWNER, 99)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const settlements = rows.map((delivery) => {
        const { record: _none, ...settlement } = settlementOf(delivery, 'cancelled', clock.now())
        return settlement
      })
      await store.deliveries.settle(settlements, clock.now())
      return rows.map(({ id }) => id)
    }),
  ),
  fc.nat(800).map((ms) =>
    step(`${ms} ms pass`, (world) => {
      // Both have the same clock: it moves for the first of them.
      let moved = false
      world.names += 1
      return async (_, clock) => {
        if (!moved) await clock.advance(ms)
        moved = true
      }
    }),
  ),
  fc.record({ keep: fc.integer({ min: 1, max: 4 }), ageMs: fc.nat(1_500) }).map((given) =>
    step(`prune to ${given.keep}, older than ${given.ageMs}`, () => (store, clock) => {
      const limits = { attemptsPerWebhook: given.keep, beforeMs: clock.now() - given.ageMs, limit: 3 }
      return drained(() => store.deliveries.prune(limits, clock.now()))
    }),
  ),
  fc
    .record({
      account: fc.constantFrom(...ACCOUNTS),
      calls: fc.option(fc.uniqueArray(callOfAccount, { minLength: 1 })),
    })
    .map(({ account, calls }) =>
      step(`erase ${calls ?? 'all'} of ${account}`, (world) => {
        if (!calls) {
          for (const [key, { accountId, deletedMs }] of world.webhooks) {
            if (accountId === account && deletedMs !== undefined) world.webhooks.delete(key)
          }
        }
        const what = { accountId: account, ...(calls ? { callIds: calls } : {}) }
        return (store) => drained(() => store.deliveries.erase(what, 2))
      }),
    ),
)

/** All that can be read, in every way that has a statement of its own. */
async function everything(store: Store, webhooks: ReadonlyMap<string, Webhook>) {
  const { deliveries } = store
  const bare = <Row extends { position: number }>(rows: readonly Row[]) =>
    rows.map(({ position: _place, ...row }) => row)
  const found: Record<string, unknown> = { pending: await deliveries.pending() }
  for (const accountId of ACCOUNTS) {
    for (const ascending of [false, true]) {
      const all = await deliveries.attempts({ accountId, ascending, limit: 99 })
      found[`attempts of ${accountId} ${ascending}`] = bare(all)
      const page = { accountId, ascending, limit: 2, ...(all[1] ? { cursor: all[1].position } : {}) }
      found[`second page of ${accountId} ${ascending}`] = bare(await deliveries.attempts(page))
      const ofCalls = {
        accountId,
        ascending,
        limit: 99,
        callIds: ['account-a', 'parent-c'],
        fromMs: WALL_MS + 300,
      }
      found[`attempts of calls of ${accountId} ${ascending}`] = bare(await deliveries.attempts(ofCalls))
    }
    const mentioned = new Set<string>()
    for (let cursor: number | undefined, more = true; more; more = cursor !== undefined) {
      const page = await deliveries.mentions(accountId, '1555a', cursor, 3)
      for (const one of page.callIds) mentioned.add(one)
      cursor = page.cursor
    }
    found[`mentions of ${accountId}`] = [...mentioned].sort()
    for (const one of ['account-a', 'account-b', 'account-c', 'parent-a', 'parent-b']) {
      found[`legs of ${one} of ${accountId}`] = [...(await deliveries.legs(accountId, one))].sort()
    }
  }
  for (const { id: webhookId, accountId } of webhooks.values()) {
    for (const ascending of [false, true]) {
      const query = { accountId, webhookId, ascending, limit: 99 }
      const rows = await deliveries.deliveries(query)
      found[`deliveries of ${webhookId} ${ascending}`] = bare(rows)
      for (const states of [['exhausted'], ['waiting', 'cancelled'], ['in_flight', 'exhausted']] as const) {
        found[`${states} of ${webhookId} ${ascending}`] = (
          await deliveries.deliveries({ ...query, states, limit: 3 })
        ).map(({ id }) => id)
      }
      found[`attempts of ${webhookId} ${ascending}`] = bare(await deliveries.attempts(query))
      const [row] = rows
      if (!row) continue
      found[`attempts of ${row.id} ${ascending}`] = bare(
        await deliveries.attempts({ accountId, deliveryId: row.id, ascending, limit: 9 }),
      )
      const one = await deliveries.delivery(accountId, row.id)
      found[`delivery ${row.id}`] = { ...one, position: 0 }
    }
  }
  return found
}
