import type { Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createEngine } from '../../../adapters/storage/sqlite/engine.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  engineStore,
  placed,
  settlementOf,
  temporaryDatabase,
} from './sqlite-engine-store.js'

const DAY_MS = 86_400_000
const NOW = 1_735_689_600_000
const KEEP_ALL = { attemptsPerWebhook: 1_000, beforeMs: 0, limit: 1_000 }

function openEngine(path?: string): EngineStore {
  const file = path === undefined ? temporaryDatabase() : undefined
  const store = engineStore(path ?? file!.path, { now: () => NOW })
  onTestFinished(async () => {
    await store.close()
    file?.remove()
  })
  store.inTransaction(({ deliveries }) => deliveries.own('node', 1, NOW))
  return store
}

function insertWebhooks(store: EngineStore, count: number): Webhook[] {
  const inserted = Array.from({ length: count }, () => newWebhook())
  store.inTransaction(({ webhooks }) => inserted.forEach(webhooks.insert))
  return inserted
}

/** Accepts and delivers `count` events of one call to a webhook. */
function deliver(store: EngineStore, webhook: Webhook, count: number, callId = 'call', now = NOW): void {
  store.inTransaction((engine) => {
    for (let index = 0; index < count; index += 1) {
      const event = newEvent({ callId })
      const delivery = newDelivery(webhook, event)
      commitGroup(engine, { accepted: [placed([event], [delivery])] }, now)
      commitGroup(engine, { ended: [settlementOf(delivery, 0, 'delivered', { atMs: now })] }, now)
    }
  })
}

async function attemptsOf(store: EngineStore, webhook: Webhook): Promise<number> {
  const query = { accountId: 'account', webhookId: webhook.id, limit: 999 }
  return (await store.deliveries.attempts(query)).length
}

const prune = (store: EngineStore, limits: Partial<typeof KEEP_ALL> = {}, now = NOW) =>
  store.deliveries.prune({ ...KEEP_ALL, ...limits }, now)

it('removes attempts above the limit of a webhook, recorded before and after a restart', async () => {
  const store = openEngine()
  const [old, busy, quiet] = insertWebhooks(store, 3)
  deliver(store, old!, 7)
  deliver(store, busy!, 4)
  deliver(store, quiet!, 2)
  await store.close()
  const again = openEngine(store.path)
  deliver(again, busy!, 2)
  expect(await prune(again, { attemptsPerWebhook: 3 })).toBe(7)
  expect([await attemptsOf(again, old!), await attemptsOf(again, busy!)]).toEqual([3, 3])
  expect(await attemptsOf(again, quiet!)).toBe(2)
  deliver(again, busy!, 1)
  deliver(again, quiet!, 2)
  expect(await prune(again, { attemptsPerWebhook: 3 })).toBe(2)
  expect([await attemptsOf(again, busy!), await attemptsOf(again, quiet!)]).toEqual([3, 3])
})

it('does not count ends without a record as attempts', async () => {
  const store = openEngine()
  const [webhook] = insertWebhooks(store, 1)
  deliver(store, webhook!, 2)
  await prune(store, { attemptsPerWebhook: 3 })
  store.inTransaction((engine) => {
    const event = newEvent()
    const delivery = newDelivery(webhook!, event)
    commitGroup(engine, { accepted: [placed([event], [delivery])] }, NOW)
    const { record: _none, ...withoutRecord } = settlementOf(delivery, 0, 'exhausted')
    commitGroup(engine, { ended: [withoutRecord] }, NOW)
  })
  deliver(store, webhook!, 1)
  expect(await prune(store, { attemptsPerWebhook: 3 })).toBe(0)
  expect(await attemptsOf(store, webhook!)).toBe(3)
})

it('counts attempts correctly after a rollback and after an erasure', async () => {
  const store = openEngine()
  const [webhook] = insertWebhooks(store, 1)
  deliver(store, webhook!, 3)
  await prune(store, { attemptsPerWebhook: 3 })
  expect(() =>
    store.inTransaction(({ deliveries }) => {
      deliveries.erase({ accountId: 'account' }, 99)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  deliver(store, webhook!, 1, 'other')
  expect(await prune(store, { attemptsPerWebhook: 3 })).toBe(1)
  await store.deliveries.erase({ accountId: 'account', callIds: ['other'] }, 9)
  deliver(store, webhook!, 1)
  expect(await prune(store, { attemptsPerWebhook: 3 })).toBe(0)
  expect(await attemptsOf(store, webhook!)).toBe(3)
})

it('removes a call with its legs a day after its last event, unless rows refer to it', async () => {
  const store = openEngine()
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
  expect(await prune(store, {}, NOW + DAY_MS)).toBe(2)
  expect(await prune(store, {}, NOW + 1.5 * DAY_MS)).toBe(2)
  expect(await store.deliveries.legs('account', 'b')).toEqual([])
  expect(await store.deliveries.legs('account', 'c')).toEqual(['c'])
  expect(await next(NOW + 2 * DAY_MS)).toBe(1)
  while ((await prune(store, { beforeMs: NOW + 1 }, NOW + 1.5 * DAY_MS)) > 0) {}
  expect(await store.deliveries.legs('account', 'c')).toEqual([])
})

it('removes calls however fast they come', async () => {
  const store = openEngine()
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
    while ((await prune(store, { limit: 500 }, now)) >= 500) {}
  }
  const [{ count }] = store.db.prepare('select count(*) as count from hookswitch_call').all() as [
    { count: number },
  ]
  expect(count).toBeLessThan((RUNS_PER_DAY + 3) * CALLS)
})

it('removes old attempts behind those of a clock that was ahead', async () => {
  const store = openEngine()
  const [webhook] = insertWebhooks(store, 1)
  deliver(store, webhook!, 3, 'ahead', NOW + 400 * DAY_MS)
  deliver(store, webhook!, 4, 'old', NOW)
  deliver(store, webhook!, 1, 'recent', NOW + 9 * DAY_MS)
  const limits = { beforeMs: NOW + 5 * DAY_MS, limit: 2 }
  for (let run = 0; run < 9; run += 1) await prune(store, limits, NOW + 10 * DAY_MS)
  const query = { accountId: 'account', webhookId: webhook!.id, limit: 999 }
  const left = async () => (await store.deliveries.attempts(query)).map(({ callId }) => callId)
  expect(await left()).toEqual(['recent', 'ahead', 'ahead', 'ahead'])
  const later = NOW + 500 * DAY_MS
  for (let run = 0; run < 9; run += 1) await prune(store, { beforeMs: later, limit: 2 }, later)
  expect(await left()).toEqual([])
})

it('removes a deleted webhook after a minute, unless rows refer to it', async () => {
  const store = openEngine()
  const [empty, used] = insertWebhooks(store, 2)
  deliver(store, used!, 1)
  for (const webhook of [empty!, used!]) {
    await store.webhooks.replace({ ...webhook, deletedMs: NOW, revision: 2, epoch: 2 }, 1)
  }
  const exists = async (webhook?: Webhook) => (await store.deliveries.webhookOf(webhook!.id)) !== undefined
  expect(await prune(store, {}, NOW + 60_000)).toBe(0)
  for (let round = 0; round < 2; round += 1) await prune(store, {}, NOW + 60_001)
  expect([await exists(empty), await exists(used)]).toEqual([false, true])
  for (let round = 0; round < 5; round += 1) await prune(store, { beforeMs: NOW + 1 }, NOW + 2 * DAY_MS)
  expect(await exists(used)).toBe(false)
})

it('runs few statements once every webhook was counted, however many there are', async () => {
  const store = openEngine()
  const many = insertWebhooks(store, 600)
  for (const webhook of many.slice(0, 200)) deliver(store, webhook, 1)
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
