// @ts-check
/** The stores of the runs: created for one round, removed after it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * @typedef {object} TestStore
 * @property {string} kind
 * @property {boolean} isDurable its contents outlive a process
 * @property {boolean} isShared several nodes can use it at once
 * @property {() => import('./open-store.js').StoreLocation} location
 * @property {string} name for messages
 * @property {(isGood: boolean) => Promise<void>} remove removes it if there was no violation; otherwise it is kept for
 *   inspection
 */

/**
 * @param {string} kind
 * @param {string | undefined} connectionString
 * @returns {Promise<TestStore>}
 */
export async function createTestStore(kind, connectionString) {
  if (kind === 'sqlite') return createSqliteStore()
  if (kind === 'postgres') return createPostgresStore(String(connectionString))
  return {
    kind,
    isDurable: false,
    isShared: false,
    location: () => ({ kind: 'memory' }),
    name: 'memory',
    async remove() {},
  }
}

/** @returns {Promise<TestStore>} */
async function createSqliteStore() {
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-crash-'))
  const path = join(folder, 'store.db')
  return {
    kind: 'sqlite',
    isDurable: true,
    isShared: false,
    location: () => ({ kind: 'sqlite', path }),
    name: path,
    async remove(isGood) {
      if (isGood) await rm(folder, { recursive: true })
    },
  }
}

/** @param {string} connectionString @returns {Promise<TestStore>} */
async function createPostgresStore(connectionString) {
  const schema = `crash_${process.pid}_${Date.now()}`
  return {
    kind: 'postgres',
    isDurable: true,
    isShared: true,
    location: () => ({ kind: 'postgres', connectionString, schema, speed: 1 }),
    name: `schema ${schema}`,
    async remove(isGood) {
      if (!isGood) return
      const { default: pg } = await import('pg')
      const client = new pg.Client({ connectionString })
      await client.connect()
      await client.query(`drop schema "${schema}" cascade`)
      await client.end()
    },
  }
}
