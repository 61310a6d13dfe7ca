/** The stores on which the models run. */
import { join } from 'node:path'
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Clock, Log, Store } from 'hookswitch/store'
import type { StoreHarness } from 'hookswitch/testkit'
import type { PgServer } from '../../adapters/storage/pg-cluster.js'
import { emptyTables } from '../../adapters/storage/postgres-truncate.js'
import { builtSqlite, sqliteHarness } from '../../adapters/storage/sqlite-harness.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The memory store, with a defect if `breakStore` adds one. */
export function memoryHarness(
  shared = false,
  breakStore: (store: Store) => Store = (store) => store,
): StoreHarness {
  return {
    name: `the ${shared ? 'shared ' : ''}memory store`,
    supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
    async open({ clock }) {
      const store = memoryStore({ shared })
      await store.open({ clock, log })
      return breakStore(store)
    },
  }
}

export const inThreadHarness = sqliteHarness('the SQLite store in the calling thread', false, (folder) => ({
  store: () => sqliteStore({ path: join(folder, 'x.db'), inThread: true }),
}))

export async function workerThreadHarness(): Promise<StoreHarness> {
  const built = await builtSqlite()
  return sqliteHarness('the SQLite store in a worker thread', false, (folder) => ({
    store: () => built.sqliteStore({ path: join(folder, 'x.db') }),
  }))
}

/** One schema for all runs, truncated before each: creating the tables takes longer than a run. */
export function postgresHarness(server: PgServer): StoreHarness {
  const schema = server.freshSchema()
  const clocks = new WeakMap<Store, Clock>()
  const openAt = async (clock: Clock) => {
    const store = postgresStore({ connectionString: server.url, schema, clock })
    await store.open({ clock, log })
    clocks.set(store, clock)
    return store
  }
  return {
    name: 'the PostgreSQL store',
    supports: { durable: true, sharedBetweenNodes: true, transactions: true },
    async open({ clock }) {
      await emptyTables(server, schema)
      return openAt(clock)
    },
    async reopen(store) {
      await store.close()
      return openAt(clocks.get(store)!)
    },
  }
}
