import type { Log, Store } from 'hookswitch/store'
import { postgresAccounts } from './accounts.js'
import { postgresQueue } from './group-queue.js'
import { checkServer, migrate, SCHEMA_VERSION, versionOf } from './migrations.js'
import { checkOptions, type PostgresStoreOptions } from './options.js'
import { postgresReadback } from './readback.js'
import { createSession, notOpen, type Session } from './session.js'
import { quoted } from './session-listen.js'
import { ownPool, type PostgresPool } from './session-pool.js'
import { watchSnapshots } from './snapshots.js'
import { postgresTokens } from './tokens.js'
import { postgresWebhooks } from './webhooks.js'

export { moveToPostgres, type PostgresMoveOptions } from './load.js'
export type { PostgresConnectionOptions, PostgresPoolOptions, PostgresStoreOptions } from './options.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './session-pool.js'

/** Most milliseconds to get a connection. */
const CONNECT_WITHIN_MS = 5_000
/** For migrations, which may build an index over all rows or wait for a node that does, and for cleaning up. */
const PATIENT_MS = 3_600_000

/**
 * A store in PostgreSQL 13 or later, which several nodes may share. Tables are made, and brought up to date, when it is
 * opened, in a schema of their own; the user needs CREATE on the database, or to own the schema. It keeps no secret: give
 * `createHookswitch` the option `secret`. Statements are prepared and one connection listens: a pooler between must
 * keep a connection for the session (PgBouncer: `pool_mode = session`).
 *
 * Every call rejects with `StoreUnavailable` when the server does not answer: within 5 s for a connection and
 * `answerWithinMs` for each statement.
 *
 * @throws HookswitchError `InvalidOption` for unknown, missing or malformed options; when it is opened also for a server
 *   or schema that it cannot work on, a refused password, a missing database or right
 *
 * @example
 * const store = postgresStore({ connectionString: process.env.DATABASE_URL })
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { connect, schema: name, answerWithinMs, clock } = checkOptions(options)
  const schema = quoted(name)
  const field = 'pool' in connect ? 'pool' : 'connectionString'
  let opened: { readonly session: Session; patient(): Session; close(): Promise<void> } | undefined
  let openings = 0

  /** Stands in for the one that there is while the store is open. */
  const session: Session = {
    query: (statement, values) =>
      opened ? opened.session.query(statement, values) : Promise.reject(notOpen()),
    transaction: (work) => (opened ? opened.session.transaction(work) : Promise.reject(notOpen())),
    listen: (channel, hearing) =>
      opened ? opened.session.listen(channel, hearing) : Promise.reject(notOpen()),
  }
  let log: Log | undefined
  const patient = () => {
    if (opened) return opened.patient()
    throw notOpen()
  }
  const doors = { session, patient, schema, channel: name, clock, log: lateLog(() => log) }
  const queue = postgresQueue(doors)
  const whenOpen = <Door extends object>(door: Door): Door =>
    Object.fromEntries(
      Object.entries(door as Record<string, (...args: unknown[]) => unknown>).map(([method, call]) => [
        method,
        method === 'subscribe'
          ? call
          : (...args: unknown[]) => (opened ? call(...args) : Promise.reject(notOpen())),
      ]),
    ) as Door

  async function open(): Promise<void> {
    const pool =
      'pool' in connect ? connect.pool : await ownPool({ ...connect, connectWithinMs: CONNECT_WITHIN_MS })
    const onError = ({ message }: Error) =>
      log?.debug({ reason: message }, 'an idle connection to PostgreSQL was lost')
    pool.on('error', onError)
    const leave = async () => {
      if (!('pool' in connect)) await pool.end()
      pool.removeListener('error', onError)
    }
    try {
      const opening = createSession(pool, { ...settings, hot: true })
      await checkServer(opening, field)
      if ((await versionOf(opening, name, schema)) < SCHEMA_VERSION) {
        await migrate(patiently(pool), name, schema, doors.log)
      }
      opening.opened()
      const stopWatching = watchSnapshots({ session: opening, log: doors.log })
      let closing: Promise<void> | undefined
      opened = {
        session: opening,
        patient: () => patiently(pool),
        close() {
          closing ??= (async () => {
            stopWatching()
            await queue.close()
            opened = undefined
            await leave()
          })()
          return closing
        },
      }
      await queue.open()
    } catch (thrown) {
      await (opened?.close() ?? leave())
      throw thrown
    }
  }

  const settings = { connectWithinMs: CONNECT_WITHIN_MS, answerWithinMs, foreign: 'pool' in connect }
  const patiently = (pool: PostgresPool) =>
    createSession(pool, { ...settings, answerWithinMs: PATIENT_MS, disposable: true })

  return {
    supports: { durable: true, sharedBetweenNodes: true, transactions: true },
    async open(given) {
      log = given.log
      if (!opened) await open()
      openings += 1
    },
    async close() {
      openings = Math.max(0, openings - 1)
      if (openings === 0) await opened?.close()
    },
    accounts: whenOpen(postgresAccounts(doors)),
    tokens: whenOpen(postgresTokens(doors)),
    webhooks: whenOpen(postgresWebhooks(doors, queue)),
    deliveries: whenOpen({ ...queue.deliveries, ...postgresReadback(doors, queue) }),
    inbox: whenOpen(queue.inbox),
  }
}

/** A log that is known only when the store is opened. */
function lateLog(current: () => Log | undefined): Log {
  return {
    debug: (fields, message) => current()?.debug(fields, message),
    info: (fields, message) => current()?.info(fields, message),
    warn: (fields, message) => current()?.warn(fields, message),
    error: (fields, message) => current()?.error(fields, message),
  }
}
