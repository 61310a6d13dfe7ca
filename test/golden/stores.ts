/** The stores on which every golden file is played: one of these per store, fresh for each file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Clock, memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { type SqliteHandle, sqliteStore } from 'hookswitch/sqlite'
import { afterAll } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { emptied } from '../adapters/storage/postgres-emptied.js'

export type AnyStore = ReturnType<typeof memoryStore>

export interface StoreMaker {
  readonly name: string
  /** An empty store, and what is to be done when it is closed. */
  make(clock: Clock): Promise<{ readonly store: AnyStore; dispose(): Promise<void> }>
}

function inFolder(open: (path: string) => { store: AnyStore; end?: () => void }): StoreMaker['make'] {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookswitch-golden-'))
    const { store, end } = open(join(folder, 'data.db'))
    return {
      store,
      async dispose() {
        end?.()
        rmSync(folder, { recursive: true })
      },
    }
  }
}

/** Where the database has a thread of its own, that is a file of the built package. */
const built: typeof import('hookswitch/sqlite') = await import(
  new URL('../../dist/sqlite.js', import.meta.url).href
)

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
  {
    name: "SQLite, on the host's handle",
    make: inFolder((path) => {
      const database = new DatabaseSync(path)
      return {
        store: built.sqliteStore({ database: database as SqliteHandle }),
        end: () => database.close(),
      }
    }),
  },
  ...POSTGRES,
]
