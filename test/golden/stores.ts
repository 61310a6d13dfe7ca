/** The stores on which every golden file is played: one of these per store, fresh for each file. */
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { afterAll } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { emptied } from '../adapters/storage/postgres-emptied.js'
import { inFolder, type StoreMaker } from './store-maker.js'

const server = await postgresForTests()
/** One for all files: the store makes its tables for the first. */
const schema = server?.freshSchema() ?? ''
afterAll(() => server?.end())

const POSTGRES: readonly StoreMaker[] = server
  ? [
      {
        name: 'PostgreSQL',
        async make(clock) {
          await emptied(server, schema)
          return {
            store: postgresStore({ connectionString: server.url, schema, clock }),
            dispose: async () => {},
          }
        },
      },
    ]
  : []

export const STORES: readonly StoreMaker[] = [
  { name: 'memory', make: async () => ({ store: memoryStore(), dispose: async () => {} }) },
  { name: 'SQLite', make: inFolder((path) => ({ store: sqliteStore({ path, inThread: true }) })) },
  ...POSTGRES,
]
