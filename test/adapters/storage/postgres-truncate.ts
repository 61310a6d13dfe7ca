/** Empties the tables of a schema between tests. */
import pg from 'pg'
import type { PgServer } from './pg-cluster.js'

/** Tables whose rows always exist. */
const PERMANENT = ['hookswitch_migration', 'shard', 'store_clock']

/** One connection per server, since opening one costs more than the statements. It ends with the server. */
const connections = new WeakMap<PgServer, Promise<pg.Client>>()

async function connect(server: PgServer): Promise<pg.Client> {
  // Whatever the defaults of the database are: other connections may be about to close.
  const options = '-c default_transaction_isolation=read\\ committed'
  const client = new pg.Client({ connectionString: server.url, options })
  client.on('error', () => connections.delete(server))
  await client.connect()
  return client
}

/**
 * Restores the initial contents of all tables of a schema, if it exists: this is faster than a new schema per test.
 * Rows are deleted, since TRUNCATE creates new files for every table and index, which takes ten times as long for a few
 * rows.
 */
export async function emptyTables(server: PgServer, schema: string): Promise<void> {
  if (!connections.has(server)) connections.set(server, connect(server))
  const client = await connections.get(server)!
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = to_regnamespace('"${schema}"') and relkind = 'r'`,
  )
  const names = rows.map(({ relname }) => String(relname))
  if (names.length === 0) return
  const deletions = names
    .filter((name) => !PERMANENT.includes(name))
    .map((name) => `delete from "${schema}"."${name}"`)
  await client.query(`${deletions.join('; ')};
    update "${schema}".shard set owner = null, leaving = false;
    update "${schema}".store_clock set offset_ms = 0, last_ms = 0`)
}
