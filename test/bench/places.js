/** Where stores are: made for one measure, removed after it. A place is what a child needs to open a store there. */
import { join } from 'node:path'
import { makeFolder, removeFolder } from './file-system.js'
import { LeftOut } from './left-out.js'
import { startProcess } from './processes.js'

/**
 * @typedef {{ kind: 'memory', attemptsInAll?: number } | { kind: 'sqlite', path: string } |
 *   { kind: 'postgres', connectionString: string, schema: string }} Place
 *
 * @typedef {object} Places
 * @property {'memory' | 'sqlite' | 'postgres'} kind
 * @property {string} title for people
 * @property {(memory?: { attemptsInAll?: number }) => Place} fresh an empty one; options are for that in memory alone
 * @property {() => Promise<number>} cpuMs processor time of the store's own server so far; 0 where it has none
 * @property {(place: Place) => Promise<number>} bytesOf what the store occupies
 * @property {() => Promise<() => Promise<void>>} holdSnapshot another session looks at things as they are now, until
 *   what is returned is called
 * @property {() => Promise<{ text: string, calls: number, ms: number, rows: number, walBytes: number }[]>} statements
 *   those of the store's server that took longest, where they are counted
 * @property {() => Promise<void>} remove
 */

/** @returns {Places} */
function memoryPlaces() {
  return {
    kind: 'memory',
    title: 'memory store',
    fresh: (memory = {}) => ({ kind: 'memory', ...memory }),
    cpuMs: async () => 0,
    async remove() {},
  }
}

/** @returns {Places} */
function sqlitePlaces() {
  const folder = makeFolder()
  let made = 0
  return {
    kind: 'sqlite',
    title: 'SQLite file',
    fresh() {
      made += 1
      return { kind: 'sqlite', path: join(folder, `${made}.db`) }
    },
    cpuMs: async () => 0,
    async bytesOf({ path }) {
      const { DatabaseSync } = await import('@photostructure/sqlite')
      const database = new DatabaseSync(path, { readOnly: true })
      const read = (name) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get())[0])
      // Not the file's length: the newest pages are in the log still.
      const bytes = (read('page_count') - read('freelist_count')) * read('page_size')
      database.close()
      return bytes
    },
    async remove() {
      removeFolder(folder)
    },
  }
}

/** @returns {Promise<Places>} */
async function postgresPlaces(counted) {
  const server = startProcess('postgres')
  const { connectionString, version, missing, counts } = await server.ask('start', { counted })
  if (missing !== undefined) {
    await server.stop()
    throw new LeftOut(missing)
  }
  const connect = async () => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString })
    await client.connect()
    return client
  }
  const ask = async (text, values) => {
    const client = await connect()
    try {
      return (await client.query(text, values)).rows
    } finally {
      await client.end()
    }
  }
  if (counts) await ask('create extension pg_stat_statements')
  let made = 0
  return {
    kind: 'postgres',
    title: `PostgreSQL ${version}`,
    fresh() {
      made += 1
      return { kind: 'postgres', connectionString, schema: `bench_${made}` }
    },
    cpuMs: () => server.ask('cpuMs'),
    async bytesOf({ schema }) {
      const [{ bytes }] = await ask(
        `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
        [schema],
      )
      return bytes
    },
    async holdSnapshot() {
      const client = await connect()
      await client.query('begin isolation level repeatable read')
      // The first statement takes the snapshot.
      await client.query('select count(*) from pg_class')
      return () => client.end()
    },
    ...(counts && {
      statements: () =>
        ask(
          `select query as text, calls::float8, total_exec_time as ms, rows::float8, wal_bytes::float8 as "walBytes"
          from pg_stat_statements order by total_exec_time desc limit 20`,
        ),
    }),
    remove: () => server.stop(),
  }
}

const KINDS = { memory: memoryPlaces, sqlite: sqlitePlaces, postgres: postgresPlaces }

export const STORES = Object.keys(KINDS)

/**
 * @param {string} kind one of `STORES`
 * @param {boolean} counted with `statements`, where that can be had
 * @returns {Promise<Places>}
 * @throws {LeftOut} where this machine has no such store
 */
export const makePlaces = async (kind, counted = false) => KINDS[kind](counted)
