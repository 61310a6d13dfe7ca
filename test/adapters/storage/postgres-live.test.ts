/** Live items in PostgreSQL: what the contract leaves open. */
import { postgresStore } from 'hookswitch/postgres'
import type { LiveWatch, Store } from 'hookswitch/store'
import { until } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { log } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const WATCHES: readonly LiveWatch[] = [{ accountId: 'account', descendants: false, kinds: ['event'] }]
const batchOf = (number: number) => ({ writer: 'writer', number, items: [{ accountId: 'a', json: '1' }] })

describe.skipIf(!server)('live items in PostgreSQL', () => {
  let schema = ''
  let store: Store

  beforeEach(async () => {
    schema = server!.freshSchema()
    store = postgresStore({ connectionString: server!.url, schema })
    await store.open({ clock: systemClock(), log })
    onTestFinished(() => store.close())
  })

  /** Calls of `onWatched` since this call. */
  function countWatched(): { readonly count: number } {
    const calls = { count: 0 }
    const onWatched = () => {
      calls.count += 1
    }
    onTestFinished(store.live!.subscribe({ onWatched, onItems() {} }))
    return calls
  }

  it('are not read and are removed when they are old, like what a crashed reader watched', async () => {
    const { live, deliveries } = store
    await live!.put(batchOf(1), 0)
    await live!.put(batchOf(2), 0)
    await live!.watch('reader', WATCHES, 60_000)
    await live!.watch('crashed', WATCHES, 60_000)
    await server!.sql(`update "${schema}".live set at = now() - interval '41 seconds' where number = 1;
      update "${schema}".live_watch set until = now() - interval '1 second' where reader = 'crashed'`)
    const { batches } = await live!.read('reader', new Map())
    expect(batches.map(({ number }) => number)).toEqual([2])
    await deliveries.prune({ attemptsPerWebhook: 9, beforeMs: 0, limit: 9 }, Date.now())
    expect(await server!.sql(`select number::int from "${schema}".live`)).toEqual([{ number: 2 }])
    expect(await server!.sql(`select reader from "${schema}".live_watch`)).toEqual([{ reader: 'reader' }])
  })

  it('are in unlogged tables, which no replica and no base backup contains', async () => {
    const tables = await server!.sql(`select relname from pg_class
      where relnamespace = '"${schema}"'::regnamespace and relkind = 'r' and relname like 'live%' and relpersistence = 'u'`)
    expect(tables.map(({ relname }) => relname).toSorted()).toEqual(['live', 'live_watch'])
  })

  it('notify of what is watched only when that changes', async () => {
    const client = new pg.Client({ connectionString: server!.url })
    await client.connect()
    onTestFinished(() => client.end())
    const messages: string[] = []
    client.on('notification', ({ payload = '' }) => messages.push(payload))
    await client.query(`listen "${schema}"`)
    await store.live!.watch('reader', WATCHES, 60_000)
    await until(() => messages.length === 1)
    await store.live!.watch('reader', WATCHES, 60_000)
    await store.live!.put(batchOf(1), 0)
    await until(() => messages.length === 2)
    await store.live!.watch('reader', [], 0)
    await until(() => messages.length === 3)
    await store.live!.watch('reader', [], 0)
    await store.live!.put(batchOf(2), 0)
    await until(() => messages.length === 4)
    const live = messages.map((text) => (JSON.parse(text) as { readonly live: unknown }).live)
    expect(live).toEqual([['watched'], ['items'], ['watched'], ['items']])
  })

  it('are watched for after the next poll where a notification is lost', async () => {
    await store.deliveries.own('node', 30_000)
    const calls = countWatched()
    const insert = `insert into "${schema}".live_watch values ('reader', $1, now() + interval '1 hour')`
    await server!.sql(insert, [JSON.stringify(WATCHES)])
    await until(() => calls.count === 1)
    expect(await store.live!.watched('node')).toEqual(WATCHES)
    // As when a reader has crashed.
    await server!.sql(`update "${schema}".live_watch set until = now()`)
    await until(() => calls.count === 2)
    expect(await store.live!.watched('node')).toEqual([])
  })
})
