import { postgresStore } from 'hookswitch/postgres'
import type { Clock, Log, Store } from 'hookswitch/store'
import { storeConformance } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, describe, it } from 'vitest'
import { localPostgres } from './pg-cluster.js'
import { HOSTILE_SETTINGS, useHostileSettings } from './postgres-hostile-settings.js'
import { emptyTables } from './postgres-truncate.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await localPostgres()
if (server) await useHostileSettings(server, HOSTILE_SETTINGS)
const pools: pg.Pool[] = []
const clocks = new WeakMap<Store, Clock>()

afterAll(async () => {
  for (const pool of pools) await pool.end()
  await server?.end()
})

/** A pool of the host, whose connections have the settings of the database. */
function hostPool(): pg.Pool {
  const pool = new pg.Pool({ connectionString: server!.url, max: 8 })
  pools.push(pool)
  return pool
}

for (const [name, connect] of [
  ['its own connections', () => ({ connectionString: server!.url })],
  ["the host's pool", () => ({ pool: hostPool() })],
] as const) {
  const schema = server?.freshSchema()

  async function openAt(clock: Clock): Promise<Store> {
    const store = postgresStore({ ...connect(), schema: schema!, clock })
    await store.open({ clock, log })
    clocks.set(store, clock)
    return store
  }

  storeConformance(
    { describe: describe.skipIf(!server), it },
    {
      name: `the PostgreSQL store with ${name}, in a database with unusual settings`,
      supports: { durable: true, sharedBetweenNodes: true, transactions: true, liveItems: true },
      async open({ clock }) {
        await emptyTables(server!, schema!)
        return openAt(clock)
      },
      async reopen(store) {
        await store.close()
        return openAt(clocks.get(store)!)
      },
      join: (store) => openAt(clocks.get(store)!),
      async transaction(_store, end, work) {
        const host = new pg.Client({ connectionString: server!.url })
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
}
