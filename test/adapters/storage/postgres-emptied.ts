import pg from 'pg'
import type { PgServer } from './pg-cluster.js'

/** Shards and slots are rows that are always there; migrations are not made anew. */
const KEPT = ['hookswitch_migration', 'shard', 'pending']

/** A connection costs the server more than what is asked on it here. It goes when the server does. */
const connections = new WeakMap<PgServer, Promise<pg.Client>>()

async function connected(server: PgServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => connections.delete(server))
  await client.connect()
  return client
}

/**
 * Makes the tables of a schema as they were when they were made, where there are any: for the next test, which would
 * wait longer for tables of its own. Rows are deleted, since TRUNCATE makes new files of every table and index, which
 * takes ten times as long as a few rows.
 */
export async function emptied(server: PgServer, schema: string): Promise<void> {
  if (!connections.has(server)) connections.set(server, connected(server))
  const client = await connections.get(server)!
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = to_regnamespace('"${schema}"') and relkind = 'r'`,
  )
  const names = rows.map(({ relname }) => String(relname))
  if (names.length === 0) return
  const deletions = names
    .filter((name) => !KEPT.includes(name))
    .map((name) => `delete from "${schema}"."${name}"`)
  await client.query(`${deletions.join('; ')};
    update "${schema}".shard set owner = null, alive_until_ms = 0, leaving = false, term = 0;
    update "${schema}".pending set deliveries = 0 where deliveries <> 0`)
}
