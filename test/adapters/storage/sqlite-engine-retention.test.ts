import type { NewDelivery, Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  engineStore,
  placed,
  settlementOf,
  temporaryDatabase,
} from './sqlite-engine-store.js'

const NOW = 1_735_689_600_000
const DAY_MS = 86_400_000
const KEEP_ALL = { attemptsPerWebhook: 10_000, beforeMs: 0, limit: 500 }
/** Index entries that are read at a time. */
const ENTRIES = 1_000

function openEngine(path?: string): EngineStore {
  const file = path === undefined ? temporaryDatabase() : undefined
  const store = engineStore(path ?? file!.path, { now: () => NOW })
  store.db.exec('pragma synchronous = off')
  onTestFinished(async () => {
    await store.close()
    file?.remove()
  })
  return store
}

function insertWebhook(store: EngineStore): Webhook {
  const webhook = newWebhook()
  store.inTransaction(({ webhooks }) => webhooks.insert(webhook))
  return webhook
}

function accept(store: EngineStore, webhook: Webhook, count: number, now = NOW): NewDelivery[] {
  return store.inTransaction((engine) => {
    const events = Array.from({ length: count }, () => newEvent({ callId: 'call' }))
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

/** Prunes until nothing is left to do. Returns the results of the calls. */
async function prune(store: EngineStore, limits: Partial<typeof KEEP_ALL>, now = NOW): Promise<number[]> {
  const results: number[] = []
  do results.push(await store.deliveries.prune({ ...KEEP_ALL, ...limits }, now))
  while (results.at(-1)! > 0)
  return results
}

it('a call removes few rows, and says that it has more to do', async () => {
  const store = openEngine()
  const webhook = insertWebhook(store)
  settle(store, accept(store, webhook, 350), 'delivered')
  expect(await prune(store, { attemptsPerWebhook: 0 })).toEqual([500, 500, 500, 50, 0])
  expect(await idsOf(store, webhook)).toEqual([])
})

it('finds what was delivered between many deliveries that were not, and what was delivered late', async () => {
  const store = openEngine()
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
  const store = openEngine(path.path)
  const webhooks = Array.from({ length: 12 }, () => insertWebhook(store))
  const [first, ...others] = webhooks
  settle(store, accept(store, first!, 2 * ENTRIES - 1), 'delivered')
  for (const webhook of others) copyDeliveries(store, first!, webhook)
  const late = accept(store, first!, 2)
  await store.close()
  const again = openEngine(path.path)
  const limits = { ...KEEP_ALL, attemptsPerWebhook: 2 * ENTRIES }
  expect(await again.deliveries.prune(limits, NOW)).toBe(KEEP_ALL.limit)
  settle(again, late, 'delivered')
  await prune(again, limits)
  const counts = await Promise.all(webhooks.map(async (webhook) => (await idsOf(again, webhook)).length))
  expect(counts).toEqual([2 * ENTRIES, ...Array(11).fill(2 * ENTRIES - 1)])
})

it('removes again what a rollback has brought back', async () => {
  const store = openEngine()
  const webhook = insertWebhook(store)
  const delivered = accept(store, webhook, 4)
  settle(store, delivered, 'delivered')
  const rollBack = (work: (engine: EngineStore['engine']) => void) =>
    expect(() =>
      store.inTransaction((engine) => {
        work(engine)
        throw new Error('the disk is full')
      }),
    ).toThrow('the disk is full')
  rollBack(({ deliveries }) => deliveries.prune({ ...KEEP_ALL, attemptsPerWebhook: 1 }, NOW))
  rollBack(({ deliveries }) => deliveries.pruneOldest(2))
  expect(await idsOf(store, webhook)).toEqual(names(delivered))
  await prune(store, { attemptsPerWebhook: 2 })
  expect(await idsOf(store, webhook)).toEqual(names(delivered.slice(2)))
  expect([await store.deliveries.pruneOldest(9), await store.deliveries.pruneOldest(9)]).toEqual([2, 0])
})

it('keeps the attempts of what waits, and removes what is old behind many of them', async () => {
  const store = openEngine()
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
  const store = openEngine()
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

it('refuses a replay whose id is taken by a replay that waits or has ended, also in the same group', () => {
  const store = openEngine()
  const webhook = insertWebhook(store)
  const [original] = accept(store, webhook, 1)
  settle(store, [original!], 'exhausted')
  const again = () => {
    const [first, second] = [1, 2].map(() =>
      newDelivery(webhook, newEvent({ id: original!.eventId }), {
        // Another id, whatever the event's is.
        id: `${original!.id.slice(0, 31)}${original!.id.endsWith('f') ? 'e' : 'f'}`,
        replayOf: original!.id,
        originalPosition: original!.position!,
      }),
    )
    const accepted = [placed([], [first!]), placed([], [second!])]
    const result = store.inTransaction((engine) => commitGroup(engine, { accepted }, NOW))
    const kinds = result.accepted.map((one) =>
      one.kind === 'refused' ? [one.error.code, one.error.field] : one.kind,
    )
    return { kinds, first: first! }
  }
  const conflict = ['Conflict', 'id']
  const { kinds, first } = again()
  expect(kinds).toEqual(['accepted', conflict])
  expect(again().kinds).toEqual([conflict, conflict])
  settle(store, [first], 'delivered')
  expect(again().kinds).toEqual([conflict, conflict])
})

it('lists what was cancelled by an epoch between deliveries that ended and a later backlog', async () => {
  const store = openEngine()
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
  expect(await store.deliveries.countDeliveries({ ...query, limit: 99 })).toBe(5)
  const replayable = { webhookIds: [webhook.id], states, includeRecovered: false }
  expect(await store.deliveries.countReplayable(replayable)).toBe(5)
  settle(store, [...cancelled!, ...late], 'exhausted')
  expect(await store.deliveries.countReplayable({ ...replayable, states: ['cancelled'] })).toBe(0)
})
