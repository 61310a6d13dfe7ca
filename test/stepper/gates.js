// @ts-check
/** Pools whose connections hold every statement at a gate, until somebody lets it go to the server. */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/**
 * @typedef {import('hookswitch/postgres').PostgresQuery} PostgresQuery
 *
 * @typedef {object} Held a statement at its gate
 * @property {string} what its short name
 * @property {number} pid of its connection
 * @property {boolean} frees whether it ends a transaction, and so lets go of locks
 * @property {() => void} open
 *
 * @typedef {() => (query: PostgresQuery) => PostgresQuery} Doctor one for each connection: what it sends in place of this
 */

/** They only read, or tell; nobody waits for them, and what begins them is a timer. */
const PASSES = /^(wake_|ready_of_|old_snapshots_)/

/**
 * Who asks is the actor in whose context it is done; what the store does by itself passes.
 *
 * @param {() => void} changed a statement has come to a gate, or was answered
 */
export function createGates(changed) {
  /** @type {AsyncLocalStorage<string>} */
  const context = new AsyncLocalStorage()
  /** @type {Map<string, Held>} by actor */
  const held = new Map()
  /** @type {Map<string, number>} connections of what was sent and is not answered, by actor */
  const asked = new Map()
  /** @type {string[]} */
  const refused = []

  /**
   * @param {string} actor
   * @param {pg.PoolClient} client
   * @param {PostgresQuery} query
   * @param {boolean} frees
   * @param {(query: PostgresQuery) => Promise<unknown>} ask
   */
  async function pass(actor, client, query, frees, ask) {
    const { processID: pid } = /** @type {{ processID: number }} */ (/** @type {unknown} */ (client))
    await /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const open = () => {
          held.delete(actor)
          asked.set(actor, pid)
          resolve()
        }
        held.set(actor, { what: nameOf(query), pid, frees, open })
        changed()
      })
    )
    try {
      return await ask(query)
    } catch (thrown) {
      refused.push(String(/** @type {{ code?: unknown }} */ (thrown).code))
      throw thrown
    } finally {
      asked.delete(actor)
      changed()
    }
  }

  return {
    held,
    asked,
    /** SQLSTATEs of statements that were refused. */
    refused,
    /** @template T @param {string} actor @param {() => Promise<T>} work */
    as: (actor, work) => context.run(actor, work),
    /** While one context is in use, every promise of the process costs more. */
    end: () => context.disable(),
    /**
     * @param {string} url
     * @param {Doctor} doctor
     * @returns {pg.Pool & import('hookswitch/postgres').PostgresPool}
     */
    pool(url, doctor) {
      const pool = new pg.Pool({ connectionString: url, max: 12 })
      const connect = pool.connect.bind(pool)
      /** @type {WeakSet<pg.PoolClient>} */
      const known = new WeakSet()
      const gated = async () => {
        const client = await connect()
        if (known.has(client)) return client
        known.add(client)
        const ask = /** @type {(query: PostgresQuery) => Promise<unknown>} */ (
          /** @type {unknown} */ (client.query.bind(client))
        )
        const treated = doctor()
        let isInside = false
        const query = (/** @type {PostgresQuery} */ given) => {
          const actor = context.getStore()
          if (actor === undefined || PASSES.test(given.name ?? '')) return ask(given)
          isInside = /^BEGIN/.test(given.text) || (isInside && !/^(COMMIT|ROLLBACK)$/.test(given.text))
          return pass(actor, client, treated(given), !isInside, ask)
        }
        return Object.assign(client, { query })
      }
      return /** @type {any} */ (Object.assign(pool, { connect: gated }))
    },
  }
}

/** @param {PostgresQuery} query */
function nameOf({ name, text }) {
  return name === undefined ? (/^\w+/.exec(text)?.[0] ?? '') : name.replace(/_[0-9a-f]{16}$/, '')
}
