/** The PostgreSQL store for golden files; each file gets empty tables. */
import { postgresStore } from 'hookswitch/postgres'
import pg from 'pg'
import { afterAll } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { emptyTables } from '../adapters/storage/postgres-truncate.js'
import type { StoreFactory } from './store-factory.js'

const server = await postgresForTests()
/** Shared by all files: the store creates its tables for the first one. */
const schema = server?.freshSchema() ?? ''
/** New connections for each file would take longer than most files. */
const pool = server && new pg.Pool({ connectionString: server.url, max: 20 })
afterAll(async () => {
  await pool?.end()
  await server?.end()
})

/** PostgreSQL, if this machine has it. */
export const POSTGRES: readonly StoreFactory[] =
  server && pool
    ? [
        {
          name: 'PostgreSQL',
          async create(clock) {
            await emptyTables(server, schema)
            return {
              store: postgresStore({ pool, schema, clock }),
              dispose: async () => {},
            }
          },
        },
      ]
    : []
