import type { NewDelivery, Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createEngine } from '../../../adapters/storage/sqlite/engine.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  openEngine,
  placed,
  settlementOf,
  temporaryDatabase,
} from './sqlite-engine-store.js'

const NOW = 1_735_689_600_000
const DAY_MS = 86_400_000
const KEEP_ALL = { attemptsPerWebhook: 10_000, beforeMs: 0, limit: 500 }
/** Index entries that are read at a time. */
const ENTRIES = 1_000

const openFile = (path?: string) => openEngine(NOW, path)

function insertWebhooks(store: EngineStore, count: number): Webhook[] {
  const inserted = Array.from({ length: count }, () => newWebhook())
  store.inTransaction(({ webhooks }) => inserted.forEach(webhooks.insert))
  return inserted
}

const insertWebhook = (store: EngineStore) => insertWebhooks(store, 1)[0]!

function accept(
  store: EngineStore,
  webhook: Webhook,
  count: number,
  now = NOW,
  callId = 'call',
): NewDelivery[] {
  return store.inTransaction((engine) => {
    const events = Array.from({ length: count }, () => newEvent({ callId }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    commitGroup(engine, { accepted: [placed(events, deliveries)] }, now)
    return deliveries
  })
}

type End = 'delivered' | 'exhausted' | 'waiting'

function settle(store: EngineStore, deliveries: readonly NewDelivery[], state: End, now = NOW, attempts = 0) {
  const ended = deliveries.map((delivery) => settlementOf(delivery, attempts, state, { atMs: now }))
  store.inTransaction((engine) => commitGroup(engine, { ended }, now))
}

/** Accepts and delivers events of one call. */
function deliver(store: EngineStore, webhook: Webhook, count: number, callId: string, now = NOW): void {
  settle(store, accept(store, webhook, count, now, callId), 'delivered', now)
}

/** Replays deliveries, and returns the replays. */
function replay(store: EngineStore, webhook: Webhook, originals: readonly NewDelivery[]): NewDelivery[] {
  const replays = originals.map(({ id, eventId, position }) =>
    newDelivery(webhook, newEvent({ id: eventId }), { replayOf: id, originalPosition: position! }),
  )
  store.inTransaction((engine) => commitGroup(engine, { accepted: [placed([], replays)] }, NOW))
  return replays
}

async function idsOf(store: EngineStore, webhook: Webhook): Promise<string[]> {
  const query = { accountId: 'account', webhookId: webhook.id, ascending: true, limit: 9_999 }
  return (await store.deliveries.deliveries(query)).map(({ id }) => id)
}
const names = (deliveries: readonly NewDelivery[]) => deliveries.map(({ id }) => id)

/** Stores the ended deliveries of a webhook for another one, too. */
function copyDeliveries({ db }: EngineStore, from: Webhook, to: Webhook): void {
  const columns = `position, at_ms, variant, format, state, attempts, tries, interruptions, epoch, lane, accepted_ms, ended_ms,
    request, id, doc`
  const keyOf = 'select key from hookswitch_webhook where id = ?'
  db.prepare(
    `insert into hookswitch_attempt (key, webhook, ${columns})
    select key + 100000 * t.to_key, t.to_key, ${columns}
    from hookswitch_attempt join (select (${keyOf}) as to_key) t where webhook = (${keyOf})`,
  ).run(to.id, from.id)
}

const pruneOnce = (store: EngineStore, limits: Partial<typeof KEEP_ALL> = {}, now = NOW) =>
  store.deliveries.prune({ ...KEEP_ALL, ...limits }, now)

/** Prunes until nothing is left to do. Returns the results of the calls. */
async function prune(store: EngineStore, limits: Partial<typeof KEEP_ALL>, now = NOW): Promise<number[]> {
  const results: number[] = []
  do results.push(await pruneOnce(store, limits, now))
  while (results.at(-1)! > 0)
  return results
}

it('a call removes few rows, and says that it has more to do', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  settle(store, accept(store, webhook, 350), 'delivered')
  expect(await prune(store, { attemptsPerWebhook: 0 })).toEqual([500, 500, 500, 50, 0])
  expect(await idsOf(store, webhook)).toEqual([])
})

it('finds what was delivered between many deliveries that were not, and what was delivered late', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  const late = accept(store, webhook, 2)
  const failed = accept(store, webhook, ENTRIES + 100)
  const delivered = accept(store, webhook, 5)
  settle(store, failed, 'exhausted')
  settle(store, delivered, 'delivered')
  await prune(store, { attemptsPerWebhook: 3 })
  expect(await idsOf(store, webhook)).toEqual(names([...late, ...failed, ...delivered.slice(2)]))
  settle(store, late, 'delivered')
  await prune(store, { attemptsPerWebhook: 3 })
  expect(await idsOf(store, webhook)).toEqual(names([...failed, ...delivered.slice(2)]))
})

it('counts the attempts of many deliveries in several calls, also while more are delivered', async () => {
  const path = temporaryDatabase()
  onTestFinished(path.remove)
  const store = openFile(path.path)
  const webhooks = Array.from({ length: 12 }, () => insertWebhook(store))
  const [first, ...others] = webhooks
  settle(store, accept(store, first!, 2 * ENTRIES - 1), 'delivered')
  for (const webhook of others) copyDeliveries(store, first!, webhook)
  const late = accept(store, first!, 2)
  await store.close()
  const again = openFile(path.path)
  const limits = { ...KEEP_ALL, attemptsPerWebhook: 2 * ENTRIES }
  expect(await again.deliveries.prune(limits, NOW)).toBe(KEEP_ALL.limit)
  settle(again, late, 'delivered')
  await prune(again, limits)
  const counts = await Promise.all(webhooks.map(async (webhook) => (await idsOf(again, webhook)).length))
  expect(counts).toEqual([2 * ENTRIES, ...Array(11).fill(2 * ENTRIES - 1)])
})

it('does not count a replay that is delivered once its webhook was counted', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  const delivered = accept(store, webhook, 3)
  settle(store, delivered, 'delivered')
  const failed = accept(store, webhook, 1)
  settle(store, failed, 'exhausted')
  await prune(store, { attemptsPerWebhook: 3 })
  const replayed = replay(store, webhook, failed)
  settle(store, replayed, 'delivered')
  await prune(store, { attemptsPerWebhook: 3 })
  expect(await idsOf(store, webhook)).toEqual(names([...delivered, ...failed, ...replayed]))
})

it('keeps the attempts of what waits, and removes what is old behind many of them', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  const waiting = accept(store, webhook, ENTRIES + 200)
  settle(store, waiting, 'waiting')
  settle(store, accept(store, webhook, 3), 'exhausted')
  const limits = { attemptsPerWebhook: 0, beforeMs: NOW + 1 }
  await prune(store, limits, NOW + 1)
  expect(await idsOf(store, webhook)).toEqual(names(waiting))
  const attempts = { accountId: 'account', webhookId: webhook.id, limit: 9_999 }
  expect(await store.deliveries.attempts(attempts)).toHaveLength(waiting.length)
  settle(store, waiting.slice(0, 1), 'exhausted', NOW + DAY_MS, 1)
  await prune(store, limits, NOW + DAY_MS)
  const ofOne = { ...attempts, deliveryId: waiting[0]!.id }
  expect((await store.deliveries.attempts(ofOne)).map(({ attempt }) => attempt)).toEqual([2])
})

it('removes the oldest deliveries in small steps, and frees their pages for new ones', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  const failed = accept(store, webhook, 2_500)
  settle(store, failed, 'exhausted')
  const delivered = accept(store, webhook, 250)
  settle(store, delivered, 'delivered')
  const [replayed] = replay(store, webhook, failed.slice(0, 1))
  settle(store, [replayed!], 'delivered')
  const before = (await store.deliveries.historyBytes())!
  // It has found none among the first ones, and says that it goes on.
  expect(await store.deliveries.pruneOldest(500)).toBe(1)
  expect(await idsOf(store, webhook)).toHaveLength(2_751)
  expect(await store.deliveries.pruneOldest(500)).toBe(100)
  expect(await store.deliveries.pruneOldest(150)).toBe(100)
  expect(await store.deliveries.pruneOldest(50)).toBe(50)
  expect(await idsOf(store, webhook)).toEqual(names([...failed, replayed!]))
  while ((await store.deliveries.pruneOldest(500)) > 0) {}
  expect(await idsOf(store, webhook)).toEqual([])
  const after = await store.deliveries.historyBytes()
  expect(after).toBeLessThan(before / 4)
  settle(store, accept(store, webhook, 2_000), 'delivered')
  const { pages } = store.db.prepare('select page_count as pages from pragma_page_count').get() as {
    pages: number
  }
  expect(pages * 4_096).toBeLessThanOrEqual(before + 40_960)
})

it('lists what was cancelled by an epoch between deliveries that ended and a later backlog', async () => {
  const store = openFile()
  const webhook = insertWebhook(store)
  const [failed, cancelled, alsoFailed] = [1, 2, 1].map((count) => accept(store, webhook, count))
  settle(store, [...failed!, ...alsoFailed!], 'exhausted')
  const next = { ...webhook, epoch: 2, revision: 2 }
  await store.webhooks.replace(next, 1)
  accept(store, next, 3)
  // Matched before the change, and accepted after it.
  const late = accept(store, webhook, 1)
  const states = ['exhausted', 'cancelled'] as const
  const query = { accountId: 'account', webhookId: webhook.id, states, ascending: true }
  const pages: string[][] = []
  let cursor = -1
  do {
    const found = await store.deliveries.deliveries({ ...query, cursor, limit: 3 })
    pages.push(found.map(({ id }) => id))
    cursor = found.at(-1)?.position ?? cursor
  } while (pages.at(-1)!.length > 0)
  const expected = names([...failed!, ...cancelled!, ...alsoFailed!, ...late])
  expect(pages).toEqual([expected.slice(0, 3), expected.slice(3), []])
  const replayable = { webhookIds: [webhook.id], states, includeRecovered: false }
  expect(await store.deliveries.countReplayable(replayable)).toEqual(new Map([[webhook.id, 5]]))
  settle(store, [...cancelled!, ...late], 'exhausted')
  expect(await store.deliveries.countReplayable({ ...replayable, states: ['cancelled'] })).toEqual(new Map())
})

it('removes a call with its legs a day after its last event, unless rows refer to it', async () => {
  const store = openFile()
  const [webhook] = insertWebhooks(store, 1)
  const next = async (now: number) => {
    const event = newEvent({ callId: 'a', otherLegCallId: 'b' })
    const { accepted } = store.inTransaction((engine) =>
      commitGroup(engine, { accepted: [placed([event])] }, now),
    )
    return accepted[0]?.kind === 'accepted' ? accepted[0].events[0]?.sequence : undefined
  }
  expect([await next(NOW), await next(NOW + DAY_MS / 2)]).toEqual([1, 2])
  deliver(store, webhook!, 1, 'c')
  // Two events without deliveries.
  expect(await pruneOnce(store, {}, NOW + DAY_MS)).toBe(2)
  expect(await pruneOnce(store, {}, NOW + 1.5 * DAY_MS)).toBe(2)
  expect(await store.deliveries.legs('account', 'b')).toEqual([])
  expect(await store.deliveries.legs('account', 'c')).toEqual(['c'])
  expect(await next(NOW + 2 * DAY_MS)).toBe(1)
  while ((await pruneOnce(store, { beforeMs: NOW + 1 }, NOW + 1.5 * DAY_MS)) > 0) {}
  expect(await store.deliveries.legs('account', 'c')).toEqual([])
})

it('removes calls however fast they come', async () => {
  const store = openFile()
  const insert = store.db.prepare(
    'insert into hookswitch_call (account, call_key, sequence, last_ms, call_id) values (1, ?, 1, ?, ?)',
  )
  const RUNS_PER_DAY = 12
  const CALLS = 5_000
  for (let run = 1; run <= 4 * RUNS_PER_DAY; run += 1) {
    const now = NOW + (run * DAY_MS) / RUNS_PER_DAY
    store.inTransaction(() => {
      for (let index = 0; index < CALLS; index += 1) insert.run(run * CALLS + index, now, `${run}/${index}`)
    })
    while ((await pruneOnce(store, { limit: 500 }, now)) >= 500) {}
  }
  const [{ count }] = store.db.prepare('select count(*) as count from hookswitch_call').all() as [
    { count: number },
  ]
  expect(count).toBeLessThan((RUNS_PER_DAY + 3) * CALLS)
})

it('removes old attempts behind those of a clock that was ahead', async () => {
  const store = openFile()
  const [webhook] = insertWebhooks(store, 1)
  deliver(store, webhook!, 3, 'ahead', NOW + 400 * DAY_MS)
  deliver(store, webhook!, 4, 'old', NOW)
  deliver(store, webhook!, 1, 'recent', NOW + 9 * DAY_MS)
  const limits = { beforeMs: NOW + 5 * DAY_MS, limit: 2 }
  for (let run = 0; run < 9; run += 1) await pruneOnce(store, limits, NOW + 10 * DAY_MS)
  const query = { accountId: 'account', webhookId: webhook!.id, limit: 999 }
  const left = async () => (await store.deliveries.attempts(query)).map(({ callId }) => callId)
  expect(await left()).toEqual(['recent', 'ahead', 'ahead', 'ahead'])
  const later = NOW + 500 * DAY_MS
  for (let run = 0; run < 9; run += 1) await pruneOnce(store, { beforeMs: later, limit: 2 }, later)
  expect(await left()).toEqual([])
})

it('removes a deleted webhook after a minute, unless rows refer to it', async () => {
  const store = openFile()
  const [empty, used] = insertWebhooks(store, 2)
  deliver(store, used!, 1, 'call')
  for (const webhook of [empty!, used!]) {
    await store.webhooks.replace({ ...webhook, deletedMs: NOW, revision: 2, epoch: 2 }, 1)
  }
  const exists = async (webhook?: Webhook) => (await store.deliveries.webhookOf(webhook!.id)) !== undefined
  expect(await pruneOnce(store, {}, NOW + 60_000)).toBe(0)
  for (let round = 0; round < 2; round += 1) await pruneOnce(store, {}, NOW + 60_001)
  expect([await exists(empty), await exists(used)]).toEqual([false, true])
  for (let round = 0; round < 5; round += 1) await pruneOnce(store, { beforeMs: NOW + 1 }, NOW + 2 * DAY_MS)
  expect(await exists(used)).toBe(false)
})

it('runs few statements once every webhook was counted, however many there are', async () => {
  const store = openFile()
  const many = insertWebhooks(store, 600)
  for (const webhook of many.slice(0, 200)) deliver(store, webhook, 1, 'call')
  let executed = 0
  const counting: SqliteHandle = {
    exec: (sql) => store.db.exec(sql),
    close() {},
    prepare(sql) {
      const { run, get, all, iterate } = store.db.prepare(sql)
      const statement = store.db.prepare(sql)
      const counted =
        <Args extends unknown[], Result>(method: (...args: Args) => Result) =>
        (...args: Args): Result => {
          executed += 1
          return Reflect.apply(method, statement, args) as Result
        }
      return { run: counted(run), get: counted(get), all: counted(all), iterate: counted(iterate) }
    },
  }
  const engine = createEngine(counting)
  engine.deliveries.prune({ ...KEEP_ALL, attemptsPerWebhook: 3 }, NOW)
  expect(executed).toBeGreaterThan(600)
  executed = 0
  expect(engine.deliveries.prune({ ...KEEP_ALL, attemptsPerWebhook: 3 }, NOW)).toBe(0)
  expect(executed).toBeLessThan(20)
})
