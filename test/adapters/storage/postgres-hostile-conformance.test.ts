import pg from 'pg'
import { afterAll } from 'vitest'
import { localPostgres } from './pg-cluster.js'
import { postgresConformance } from './postgres-conformance-harness.js'
import { HOSTILE_SETTINGS, useHostileSettings } from './postgres-hostile-settings.js'

const server = await localPostgres()
if (server) await useHostileSettings(server, HOSTILE_SETTINGS)
/** Of all stores, one after the other: its connections keep what each of them leaves. */
const pool = server && new pg.Pool({ connectionString: server.url, max: 30 })

afterAll(async () => {
  await pool?.end()
  await server?.end()
})

const name = "the PostgreSQL store on the host's pool, in a database with unusual settings"
postgresConformance(server, name, () => ({ pool: pool! }))
