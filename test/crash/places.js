// @ts-check
/** Where stores are: made for one round, removed after it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The lease of a node, and a little more: the store's time goes on by so much when one was killed. */
const LEASE_MS = 31_000

/**
 * @typedef {object} Place
 * @property {string} kind
 * @property {boolean} isKept what is in it outlives a process
 * @property {boolean} isShared several nodes may use it at once
 * @property {() => import('./open-store.js').Where} where
 * @property {() => void} leaseIsOver a node was killed: the next ones begin when its lease has ended
 * @property {string} name for people
 * @property {(isGood: boolean) => Promise<void>} remove what was judged good; else it stays, to be looked at
 */

/**
 * @param {string} kind
 * @param {string | undefined} connectionString
 * @returns {Promise<Place>}
 */
export async function makePlace(kind, connectionString) {
  if (kind === 'sqlite') return sqlitePlace()
  if (kind === 'postgres') return postgresPlace(String(connectionString))
  return {
    kind,
    isKept: false,
    isShared: false,
    where: () => ({ kind: 'memory' }),
    leaseIsOver() {},
    name: 'memory',
    async remove() {},
  }
}

/** @returns {Promise<Place>} */
async function sqlitePlace() {
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-crash-'))
  const path = join(folder, 'store.db')
  return {
    kind: 'sqlite',
    isKept: true,
    isShared: false,
    where: () => ({ kind: 'sqlite', path }),
    leaseIsOver() {},
    name: path,
    async remove(isGood) {
      if (isGood) await rm(folder, { recursive: true })
    },
  }
}

/** @param {string} connectionString @returns {Promise<Place>} */
async function postgresPlace(connectionString) {
  const schema = `crash_${process.pid}_${Date.now()}`
  let aheadMs = 0
  return {
    kind: 'postgres',
    isKept: true,
    isShared: true,
    where: () => ({ kind: 'postgres', connectionString, schema, aheadMs, speed: 1 }),
    leaseIsOver() {
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
