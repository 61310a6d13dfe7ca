import { postgresStore } from 'hookswitch/postgres'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { advanceStoreTime, expectedTime } from '../../../adapters/storage/postgres/store-time.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, log } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe.skipIf(!server)('store time of PostgreSQL', () => {
  it('uses the clock of the server, whose jumps neither end a lease nor hide deliveries', async () => {
    const schema = server!.freshSchema()
    const shift = server!.freshSchema()
    await server!.sql(`create schema ${shift}; create table ${shift}.shift (by interval);
      insert into ${shift}.shift values ('0'); create function ${shift}.clock_timestamp() returns timestamptz
      language sql volatile as $$ select pg_catalog.clock_timestamp() + by from ${shift}.shift $$`)
    const url = new URL(server!.url)
    url.searchParams.set('options', `-c search_path=${shift},pg_catalog`)
    const open = async () => {
      const store = postgresStore({ connectionString: url.href, schema, maxConnections: 4 })
      await store.open({ clock: systemClock(), log })
      closing.push(() => store.close())
      return store
    }
    const setShift = (minutes: number) =>
      server!.sql(`update ${shift}.shift set by = interval '1 minute' * ${minutes}`)
    const [nodeA, nodeB] = [await open(), await open()]
    const first = await nodeA.deliveries.own('one', LEASE_MS)
    expect(Math.abs(first.storeMs - Date.now())).toBeLessThan(60_000)
    const webhook = newWebhook()
    await nodeA.webhooks.insert(webhook)
    const event = newEvent({ position: first.position + 1 })
    const delivery = { ...newDelivery(webhook, event), position: event.position! }
    const acceptance = { events: [event], deliveries: [delivery] }
    await nodeA.deliveries.commit({
      lease: first,
      version: 0,
      now: first.storeMs,
      accepted: [acceptance],
      ended: [],
      finished: [],
      pending: 1,
      isRepeat: false,
    })
    let latestMs = first.storeMs
    for (const minutes of [-5, 0, 5, 0, -5]) {
      await setShift(minutes)
      const joined = await nodeB.deliveries.own('two', LEASE_MS)
      expect(joined.storeMs).toBeGreaterThanOrEqual(latestMs)
      const renewed = await nodeA.deliveries.own('one', LEASE_MS)
      expect(renewed.storeMs).toBeGreaterThanOrEqual(joined.storeMs)
      expect(renewed.aliveUntilMs).toBe(renewed.storeMs + LEASE_MS)
      latestMs = renewed.storeMs
      // Receivers compare with the right clock: what is stored with store time is not their time of day.
      const serverMs = Date.now() + minutes * 60_000
      for (const { clockMs } of [joined, renewed]) expect(Math.abs(clockMs! - serverMs)).toBeLessThan(60_000)
      expect(renewed.shards.length + joined.shards.length).toBe(64)
      const loaded = [
        await nodeA.deliveries.load(renewed, renewed.shards),
        await nodeB.deliveries.load(joined, joined.shards),
      ]
      expect(loaded.flatMap((part) => part!.waiting.webhookIds)).toEqual([webhook.id])
    }
    expect(latestMs - first.storeMs).toBeLessThan(6 * 60_000)
  })
})

describe('advanceStoreTime', () => {
  const row = { serverMs: 1_000_000, offsetMs: 0, lastMs: 990_000 }
  const expecting = (ms: number) => ({ earliestMs: ms - 5, latestMs: ms + 5 })

  it('is the clock of the server plus the offset', () => {
    expect(advanceStoreTime(row)).toEqual({ nowMs: 1_000_000, offsetMs: 0, jumpedFromMs: 1_000_000 })
    expect(advanceStoreTime({ ...row, offsetMs: 7 }, expecting(1_000_500)).nowMs).toBe(1_000_007)
  })

  it('goes on from the last grant where a node starts after the clock went back', () => {
    const later = advanceStoreTime({ ...row, lastMs: 1_300_000 })
    expect(later).toEqual({ nowMs: 1_300_000, offsetMs: 300_000, jumpedFromMs: 1_300_000 })
  })

  it('goes on from what a node expects, however long the server was away', () => {
    const later = advanceStoreTime({ ...row, lastMs: 1_300_000 }, expecting(1_400_000))
    expect(later).toEqual({ nowMs: 1_399_995, offsetMs: 399_995, jumpedFromMs: 1_399_995 })
  })

  it('uses the offset up when the clock jumps forward, without a jump of store time', () => {
    const later = advanceStoreTime(
      { serverMs: 1_300_000, offsetMs: 300_000, lastMs: 1_290_000 },
      expecting(1_300_000),
    )
    expect(later).toEqual({ nowMs: 1_300_005, offsetMs: 5, jumpedFromMs: 1_300_005 })
  })

  it('reports where a jump began: what a node expects, or a later grant', () => {
    const jumped = { serverMs: 1_300_000, offsetMs: 0, lastMs: 990_000 }
    expect(advanceStoreTime(jumped, expecting(1_000_000)).jumpedFromMs).toBe(1_000_005)
    expect(advanceStoreTime({ ...jumped, lastMs: 1_200_000 }, expecting(1_000_000)).jumpedFromMs).toBe(
      1_200_000,
    )
    expect(advanceStoreTime(jumped)).toEqual({ nowMs: 1_300_000, offsetMs: 0, jumpedFromMs: 1_300_000 })
  })

  it('never goes back behind a grant to another node', () => {
    const suspended = { serverMs: 1_300_000, offsetMs: 300_000, lastMs: 1_590_000 }
    expect(advanceStoreTime(suspended, expecting(1_000_000)).nowMs).toBe(1_590_000)
  })

  it('expects the time since the last answer, as uncertain as both requests were long', () => {
    const last = { storeMs: 1_000, requestedMs: 10, answeredMs: 30 }
    expect(expectedTime(last, 100, 150)).toEqual({ earliestMs: 1_070, latestMs: 1_140 })
  })
})
