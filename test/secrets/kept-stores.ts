/** The stores that keep something, and every byte that they keep. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { afterAll } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'

export interface KeptStore {
  readonly store: ReturnType<typeof memoryStore>
  /** By file or table; may be read while the store is open and after it was closed. */
  bytes(): Promise<Readonly<Record<string, Buffer>>>
  dispose(): Promise<void>
}

async function sqlite(): Promise<KeptStore> {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-secrets-'))
  return {
    store: sqliteStore({ path: join(folder, 'data.db'), inThread: true }),
    async bytes() {
      return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
    },
    async dispose() {
      rmSync(folder, { recursive: true })
    },
  }
}

const server = await postgresForTests()
afterAll(() => server?.end())

async function postgres(): Promise<KeptStore> {
  const schema = server!.freshSchema()
  return {
    store: postgresStore({ connectionString: server!.url, schema }),
    async bytes() {
      const tables = await server!.sql('select tablename from pg_tables where schemaname = $1', [schema])
      const dumped: [string, Buffer][] = []
      for (const { tablename } of tables) {
        // Columns of bytes are hex in there, and the scan looks for hex, too.
        const rows = await server!.sql(`select t::text as row from "${schema}"."${tablename}" t`)
        dumped.push([`table ${tablename}`, Buffer.from(rows.map(({ row }) => row).join('\n'))])
      }
      return Object.fromEntries(dumped)
    },
    dispose: async () => {},
  }
}

export const KEPT_STORES: readonly (readonly [string, () => Promise<KeptStore>])[] = [
  ['SQLite', sqlite],
  ...(server ? ([['PostgreSQL', postgres]] as const) : []),
]
