// @ts-check
/** PostgreSQL pools whose connections hold every statement at a gate until the stepper sends it to the server. */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/**
 * @typedef {import('hookswitch/postgres').PostgresQuery} PostgresQuery
 *
 * @typedef {object} HeldStatement
 * @property {string} name short name
 * @property {number} pid of its connection
 * @property {boolean} releasesLocks whether it ends a transaction
 * @property {() => void} open sends it
 *
 * @typedef {() => (query: PostgresQuery) => PostgresQuery} FaultInjector called once per connection; changes its queries
 */

/** Statements that are not held: they only read or notify, and timers or new connections start them. */
const UNGATED = /^(wake_|queue_watch_|old_snapshots_)/
/** Sent once on each new connection, for which several actors may wait. */
const IS_OF_CONNECTION = /pg_walfile_name|current_setting\('standard_conforming_strings'\)/

/**
 * A statement belongs to the actor in whose async context it is sent. Statements of the store's own timers are not held.
 *
 * @param {() => void} onChange called when a statement is held or answered
 */
export function createGates(onChange) {
  /** @type {AsyncLocalStorage<string>} */
  const context = new AsyncLocalStorage()
  /** @type {Map<string, HeldStatement>} by actor */
  const held = new Map()
  /** @type {Map<string, number>} connections of statements that were sent and are not answered, by actor */
  const sent = new Map()
  /** @type {string[]} */
  const sqlStates = []

  /**
   * @param {string} actor
   * @param {pg.PoolClient} client
   * @param {PostgresQuery} query
   * @param {boolean} releasesLocks
   * @param {(query: PostgresQuery) => Promise<unknown>} send
   */
  async function hold(actor, client, query, releasesLocks, send) {
    const { processID: pid } = /** @type {{ processID: number }} */ (/** @type {unknown} */ (client))
    await /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const open = () => {
          held.delete(actor)
          sent.set(actor, pid)
          resolve()
        }
        held.set(actor, { name: nameOf(query), pid, releasesLocks, open })
        onChange()
      })
    )
    try {
      return await send(query)
    } catch (thrown) {
      sqlStates.push(String(/** @type {{ code?: unknown }} */ (thrown).code))
      throw thrown
    } finally {
      sent.delete(actor)
      onChange()
    }
  }

  return {
    held,
    sent,
    /** SQLSTATEs of failed statements. */
    sqlStates,
    /** @template T @param {string} actor @param {() => Promise<T>} work */
    as: (actor, work) => context.run(actor, work),
    /** An enabled async context slows down every promise of the process. */
    end: () => context.disable(),
    /**
     * @param {string} url
     * @param {FaultInjector} faultInjector
     * @returns {pg.Pool & import('hookswitch/postgres').PostgresPool}
     */
    pool(url, faultInjector) {
      const pool = new pg.Pool({ connectionString: url, max: 12 })
      const connect = pool.connect.bind(pool)
      /** @type {WeakSet<pg.PoolClient>} */
      const gatedClients = new WeakSet()
      const connectGated = async () => {
        const client = await connect()
        if (gatedClients.has(client)) return client
        gatedClients.add(client)
        const send = /** @type {(query: PostgresQuery) => Promise<unknown>} */ (
          /** @type {unknown} */ (client.query.bind(client))
        )
        const inject = faultInjector()
        let isInTransaction = false
        const query = (/** @type {PostgresQuery} */ given) => {
          const actor = context.getStore()
          const injected = inject(given)
          const isUngated = UNGATED.test(given.name ?? '') || IS_OF_CONNECTION.test(given.text)
          if (actor === undefined || isUngated) return send(injected)
          isInTransaction =
            /^BEGIN/.test(given.text) || (isInTransaction && !/^(COMMIT|ROLLBACK)$/.test(given.text))
          return hold(actor, client, injected, !isInTransaction, send)
        }
        return Object.assign(client, { query })
      }
      return /** @type {any} */ (Object.assign(pool, { connect: connectGated }))
    },
  }
}

/** @param {PostgresQuery} query */
function nameOf({ name, text }) {
  return name === undefined ? (/^\w+/.exec(text)?.[0] ?? '') : name.replace(/_[0-9a-f]{16}$/, '')
}
