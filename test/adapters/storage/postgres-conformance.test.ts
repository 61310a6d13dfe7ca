import { postgresStore } from 'hookswitch/postgres'
import type { Clock, Log, Store } from 'hookswitch/store'
import { storeConformance } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, describe, it } from 'vitest'
import { postgresForTests } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
const schema = server?.freshSchema()
const clocks = new WeakMap<Store, Clock>()

afterAll(() => server?.end())

/** Each promise gets empty tables; making them anew each time would take longer than all that is proved. */
async function emptied(): Promise<void> {
  const rows = await server!.sql(
    `select relname from pg_class where relnamespace = to_regnamespace('"${schema}"') and relkind = 'r'
      and relname not in ('hookswitch_migration', 'shard', 'pending')`,
  )
  if (rows.length === 0) return
  const tables = rows.map(({ relname }) => `"${schema}"."${relname}"`)
  await server!.sql(`truncate ${tables.join(', ')};
    update "${schema}".shard set owner = null, alive_until_ms = 0, leaving = false, term = 0;
    update "${schema}".pending set deliveries = 0`)
}

async function openedAt(clock: Clock): Promise<Store> {
  const store = postgresStore({ connectionString: server!.url, schema: schema!, clock })
  await store.open({ clock, log })
  clocks.set(store, clock)
  return store
}

if (server) {
  storeConformance(
    { describe, it },
    {
      name: 'the PostgreSQL store',
      supports: { durable: true, sharedBetweenNodes: true, transactions: true },
      async open({ clock }) {
        await emptied()
        return openedAt(clock)
      },
      async reopen(store) {
        await store.close()
        return openedAt(clocks.get(store)!)
      },
      async transaction(_store, end, work) {
        const host = new pg.Client({ connectionString: server.url })
        await host.connect()
        try {
          await host.query('begin')
          await work(host)
          await host.query(end)
        } finally {
          await host.end()
        }
      },
    },
  )
} else {
  it.skip('the PostgreSQL store keeps the contract', () => {})
}
