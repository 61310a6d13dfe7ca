import { postgresStore } from 'hookswitch/postgres'
import type { Clock, Log, Store } from 'hookswitch/store'
import { storeConformance } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, describe, it } from 'vitest'
import { processIdentity } from '../../../adapters/storage/postgres/process-state.js'
import { postgresForTests } from './pg-cluster.js'
import { emptyTables } from './postgres-truncate.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
const schema = server?.freshSchema()
const clocks = new WeakMap<Store, Clock>()

afterAll(() => server?.end())

async function openAt(clock: Clock): Promise<Store> {
  const store = postgresStore({ connectionString: server!.url, schema: schema!, clock })
  await store.open({ clock, log })
  clocks.set(store, clock)
  return store
}

storeConformance(
  { describe: describe.skipIf(!server), it },
  {
    name: 'the PostgreSQL store',
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
    /** Its session has a key that nobody holds, and its process began earlier than the one that has its id now. */
    async crash(_store, owner) {
      const process = processIdentity()!.replace(/\d+$/, '1')
      await server!.sql(
        `update "${schema}".node_session set key = 1, process = $1
          where fence = (select fence from "${schema}".node where owner = $2)`,
        [process, owner],
      )
    },
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
