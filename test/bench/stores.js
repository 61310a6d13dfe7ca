/** Creates the stores of one measurement and removes them after it. Child processes open them by their location. */
import { join } from 'node:path'
import { createFolder, removeFolder } from './file-system.js'
import { startProcess } from './processes.js'
import { Skipped } from './skipped.js'

/**
 * @typedef {{ kind: 'memory', attemptsInAll?: number } | { kind: 'sqlite', path: string } |
 *   { kind: 'postgres', connectionString: string, schema: string }} StoreLocation
 *
 * @typedef {object} Stores
 * @property {'memory' | 'sqlite' | 'postgres'} kind
 * @property {string} title in the table
 * @property {(memory?: { attemptsInAll?: number }) => StoreLocation} newLocation of a new, empty store;
 *   the options are for memory stores only
 * @property {() => Promise<number>} cpuMs CPU time of the database server so far; 0 if there is none
 * @property {(location: StoreLocation) => Promise<number>} bytesOf bytes that the store occupies; durable stores only
 * @property {() => Promise<number>} writtenBytes bytes of the write-ahead log so far; PostgreSQL only
 * @property {() => Promise<number>} connections open connections, without the one that counts; PostgreSQL only
 * @property {() => Promise<() => Promise<void>>} holdSnapshot opens a snapshot in another session; the function
 *   returned closes it; PostgreSQL only
 * @property {() => Promise<{ text: string, calls: number, ms: number, rows: number, walBytes: number }[]>} statements
 *   the slowest statements of the database server, if they are counted
 * @property {() => Promise<void>} remove
 */

/** @returns {Stores} */
function memoryStores() {
  return {
    kind: 'memory',
    title: 'memory store',
    newLocation: (memory = {}) => ({ kind: 'memory', ...memory }),
    cpuMs: async () => 0,
    async remove() {},
  }
}

/** @returns {Stores} */
function sqliteStores() {
  const folder = createFolder()
  let created = 0
  return {
    kind: 'sqlite',
    title: 'SQLite file',
    newLocation() {
      created += 1
      return { kind: 'sqlite', path: join(folder, `${created}.db`) }
    },
    cpuMs: async () => 0,
    async bytesOf({ path }) {
      const { DatabaseSync } = await import('@photostructure/sqlite')
      const database = new DatabaseSync(path, { readOnly: true })
      const read = (name) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get())[0])
      // Not the file's length: the newest pages are still in the WAL.
      const bytes = (read('page_count') - read('freelist_count')) * read('page_size')
      database.close()
      return bytes
    },
    async remove() {
      removeFolder(folder)
    },
  }
}

/** @returns {Promise<Stores>} */
async function postgresStores(countStatements) {
  const server = startProcess('postgres')
  const { connectionString, version, missing, countsStatements } = await server.request('start', {
    countStatements,
  })
  if (missing !== undefined) {
    await server.stop()
    throw new Skipped(missing)
  }
  const connect = async () => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString })
    await client.connect()
    return client
  }
  const query = async (text, values) => {
    const client = await connect()
    try {
      return (await client.query(text, values)).rows
    } finally {
      await client.end()
    }
  }
  if (countsStatements) await query('create extension pg_stat_statements')
  let created = 0
  return {
    kind: 'postgres',
    title: `PostgreSQL ${version}`,
    newLocation() {
      created += 1
      return { kind: 'postgres', connectionString, schema: `bench_${created}` }
    },
    cpuMs: () => server.request('cpuMs'),
    async bytesOf({ schema }) {
      const [{ bytes }] = await query(
        `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
        [schema],
      )
      return bytes
    },
    async writtenBytes() {
      const [{ bytes }] = await query(
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes",
      )
      return bytes
    },
    async connections() {
      const [{ count }] = await query(
        `select count(*)::integer as count from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
      return count
    },
    async holdSnapshot() {
      const client = await connect()
      await client.query('begin isolation level repeatable read')
      // The snapshot is taken by the first statement.
      await client.query('select count(*) from pg_class')
      return () => client.end()
    },
    ...(countsStatements && {
      statements: () =>
        query(
          `select query as text, calls::float8, total_exec_time as ms, rows::float8, wal_bytes::float8 as "walBytes"
          from pg_stat_statements order by total_exec_time desc limit 20`,
        ),
    }),
    remove: () => server.stop(),
  }
}

const KINDS = { memory: memoryStores, sqlite: sqliteStores, postgres: postgresStores }

export const STORE_KINDS = Object.keys(KINDS)

/**
 * @param {string} kind one of `STORE_KINDS`
 * @param {boolean} countStatements with `statements`, where the server supports it
 * @returns {Promise<Stores>}
 * @throws {Skipped} if this machine has no such store
 */
export const createStores = async (kind, countStatements = false) => KINDS[kind](countStatements)
