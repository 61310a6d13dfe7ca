/** The durable stores, and every byte that they write. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { afterAll } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'

export interface DurableStore {
  readonly store: ReturnType<typeof memoryStore>
  /** Contents by file or table; works while the store is open and after it was closed. */
  readBytes(): Promise<Readonly<Record<string, Buffer>>>
  dispose(): Promise<void>
}

async function sqlite(): Promise<DurableStore> {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-secrets-'))
  return {
    store: sqliteStore({ path: join(folder, 'data.db'), inThread: true }),
    async readBytes() {
      return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
    },
    async dispose() {
      rmSync(folder, { recursive: true })
    },
  }
}

const server = await postgresForTests()
afterAll(() => server?.end())

async function postgres(): Promise<DurableStore> {
  const schema = server!.freshSchema()
  return {
    store: postgresStore({ connectionString: server!.url, schema }),
    async readBytes() {
      const tables = await server!.sql('select tablename from pg_tables where schemaname = $1', [schema])
      const contents: [string, Buffer][] = []
      for (const { tablename } of tables) {
        // Binary columns are dumped as hex, which the scan covers.
        const rows = await server!.sql(`select t::text as row from "${schema}"."${tablename}" t`)
        contents.push([`table ${tablename}`, Buffer.from(rows.map(({ row }) => row).join('\n'))])
      }
      return Object.fromEntries(contents)
    },
    dispose: async () => {},
  }
}

export const DURABLE_STORES: readonly (readonly [string, () => Promise<DurableStore>])[] = [
  ['SQLite', sqlite],
  ...(server ? ([['PostgreSQL', postgres]] as const) : []),
]
