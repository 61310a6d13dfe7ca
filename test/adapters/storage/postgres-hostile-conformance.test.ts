import pg from 'pg'
import { afterAll } from 'vitest'
import { localPostgres } from './pg-cluster.js'
import { postgresConformance } from './postgres-conformance-harness.js'
import { HOSTILE_SETTINGS, useHostileSettings } from './postgres-hostile-settings.js'

const server = await localPostgres()
if (server) await useHostileSettings(server, HOSTILE_SETTINGS)
const pools: pg.Pool[] = []

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
  const store = `the PostgreSQL store with ${name}, in a database with unusual settings`
  postgresConformance(server, store, connect)
}
