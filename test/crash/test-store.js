// @ts-check
/** The stores of the runs: created for one round, removed after it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Slightly more than a lease: the store's time advances by it when a node was killed. */
const LEASE_MS = 31_000

/**
 * @typedef {object} TestStore
 * @property {string} kind
 * @property {boolean} isDurable its contents outlive a process
 * @property {boolean} isShared several nodes can use it at once
 * @property {() => import('./open-store.js').StoreLocation} location
 * @property {() => void} expireLease a node was killed: the next ones start after its lease has expired
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
    expireLease() {},
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
    expireLease() {},
    name: path,
    async remove(isGood) {
      if (isGood) await rm(folder, { recursive: true })
    },
  }
}

/** @param {string} connectionString @returns {Promise<TestStore>} */
async function createPostgresStore(connectionString) {
  const schema = `crash_${process.pid}_${Date.now()}`
  let aheadMs = 0
  return {
    kind: 'postgres',
    isDurable: true,
    isShared: true,
    location: () => ({ kind: 'postgres', connectionString, schema, aheadMs, speed: 1 }),
    expireLease() {
      aheadMs += LEASE_MS
    },
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
