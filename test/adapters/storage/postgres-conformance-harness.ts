import { type PostgresStoreOptions, postgresStore } from 'hookswitch/postgres'
import type { Clock, Store } from 'hookswitch/store'
import { type StoreHarness, storeConformance } from 'hookswitch/testkit'
import pg from 'pg'
import { describe, it } from 'vitest'
import type { PgServer } from './pg-cluster.js'
import { log } from './postgres-queue-harness.js'
import { emptyTables } from './postgres-truncate.js'

/**
 * Runs the conformance suite on a schema of this server; without a server its tests are skipped.
 *
 * @param name of the store in reports
 * @param connect options of the connections
 * @param crash ends a node of this schema as if its process had been killed
 */
export function postgresConformance(
  server: PgServer | undefined,
  name: string,
  connect: () => PostgresStoreOptions,
  crash?: (schema: string, owner: string) => Promise<void>,
): void {
  const schema = server?.freshSchema() ?? ''
  const clocks = new WeakMap<Store, Clock>()
  async function openAt(clock: Clock): Promise<Store> {
    const store = postgresStore({ ...connect(), schema, clock })
    await store.open({ clock, log })
    clocks.set(store, clock)
    return store
  }
  const harness: StoreHarness = {
    name,
    supports: { durable: true, sharedBetweenNodes: true, transactions: true, liveItems: true },
    async open({ clock }) {
      await emptyTables(server!, schema)
      return openAt(clock)
    },
    async reopen(store) {
      await store.close()
      return openAt(clocks.get(store)!)
    },
    join: (store) => openAt(clocks.get(store)!),
    ...(crash && { crash: (_store: Store, owner: string) => crash(schema, owner) }),
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
  }
  storeConformance({ describe: describe.skipIf(!server), it }, harness)
}
