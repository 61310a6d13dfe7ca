/**
 * A store in PostgreSQL, which several nodes may share: the log of the queues in the memory of nodes. Theory of operation:
 *
 * **Rows.** `event` is an event with its first body (`body`: the others), `waiting` a delivery that has not ended, `attempt`
 * a record and, with its last one, a delivery that has. A delivery is inserted once, updated after a failed attempt, and
 * deleted when it ends.
 *
 * **A group** (`commit.ts`) is one statement in an implicit transaction, all of it or nothing (`group-statement.ts`). It
 * assumes what this process remembers: keys of webhooks, and the last numbers of calls. Where that is wrong it writes
 * nothing, and the slow path (`commit-slow.ts`) reads, locks and decides entry by entry.
 *
 * **Leases and fences** (`leases.ts`). A node has one row, which a group holds FOR SHARE. The first node that finds a lease
 * ended deletes that row, which waits for a running group, and frees the shards in the same transaction. A fence is never
 * granted twice. Starts of ended leases stay until the next owner of each shard has settled them (`takeover`).
 *
 * **Versions** (`owner-versions.ts`). An edit of a webhook and an erasure raise the version of each owner concerned in their
 * own transaction; a group of an older version writes nothing. A version that no row of `change` covers makes the node load
 * its shards again.
 *
 * **Locks** are taken in one order: shards, nodes, webhooks, keys, events, each sorted. Deadlocks that remain (40P01) are
 * retried.
 *
 * **Incoming deliveries.** A delivery for the shard of another node is stored with a row in `incoming`, which that node takes
 * when it polls: all of transactions that may have been running at its last poll, so that none is passed over. NOTIFY announces
 * them, at most one message per 10 ms; it may be lost, and a statement once a second finds what it missed (`poll.ts`).
 *
 * **Failover.** Each new connection reads the timeline of the server's log (`session-connection.ts`). Where it is another one, the
 * last commits may be missing there: nothing that was planned before is sent to that server, and no node settles or starts
 * anything there before it has loaded its shards from it. What the old server still answers on open connections is not believed.
 * A connection to a standby is refused: it would outlive the promotion unnoticed.
 *
 * **What a crash leaves.** A transaction that did not commit leaves nothing. When the connection is lost during a commit, its
 * outcome is unknown, and the node commits the same group again: ids of events, numbers of attempts and records show what
 * was written. A crash of the server empties `incoming` (unlogged): after any lost connection a node loads its shards again.
 */
import type { Clock, Log, Store } from 'hookswitch/store'
import { postgresAccounts } from './accounts.js'
import { postgresCallIndex } from './call-index.js'
import { postgresEncryption } from './encryption.js'
import { postgresHolds } from './holds.js'
import { postgresLive } from './live.js'
import { watchLongTransactions } from './long-transaction-monitor.js'
import { checkServer, migrate } from './migrations.js'
import { postgresOpenLegs } from './open-legs.js'
import { checkOptions, type PostgresStoreOptions } from './options.js'
import { refusePooler } from './pooler-check.js'
import { postgresQueries } from './queries.js'
import { postgresQueue } from './queue.js'
import type { Rejection } from './rejection-log.js'
import { postgresReplays } from './replays.js'
import { createSession, notOpenError, type Session } from './session.js'
import type { Deps } from './session-deps.js'
import { createPool, type PostgresPool } from './session-pool.js'
import { createQuestion } from './silence-question.js'
import { createSilenceWatch } from './silence-watch.js'
import { quoteIdentifier } from './statement.js'
import { postgresStats } from './stats.js'
import { postgresTokens } from './tokens.js'
import { postgresWebhooks } from './webhooks.js'

export { type MigrateToPostgresOptions, migrateToPostgres } from './import.js'
export type {
  PostgresCommonOptions,
  PostgresConnectionOptions,
  PostgresPoolOptions,
  PostgresStoreOptions,
} from './options.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './session-pool.js'

/** Longest wait for a connection. */
const CONNECT_WITHIN_MS = 5_000
/** For migrations, which may build an index over all rows or wait for a node that does, and for VACUUM. */
const MAINTENANCE_WITHIN_MS = 3_600_000

interface OpenStore {
  readonly session: Session
  timeline(): string | undefined
  maintenanceSession(): Session
  close(): Promise<void>
}

/**
 * Creates a store in PostgreSQL 13 or later, which several nodes may share. `hs.start()` opens it: tables are created,
 * or migrated to this version, in a schema of their own. The user needs CREATE on the database, or must own the schema.
 *
 * The store keeps no encryption key: give `createHookswitch` the option `secret`. Statements are prepared and one
 * connection listens for notifications, so a pooler in between must keep one server connection per client (PgBouncer:
 * `pool_mode = session`).
 *
 * Every call rejects with `StoreUnavailable` while the server does not answer: within 5 s for a connection and
 * `answerWithinMs` (default 10 s) for each statement; with `connectionString` within about 2 s where the server answers nothing
 * at all, and then at once until it does.
 *
 * @param options `connectionString` (with `maxConnections`, default 8, and `ssl`) or the host's `pool`; `schema`,
 *   default `hookswitch`; `answerWithinMs`, default 10,000; `clock`, for tests
 * @returns the store, not yet open
 * @throws HookswitchError `InvalidOption` for unknown, missing or malformed options, named in `field`. Opening rejects
 *   with the same code for an unsuitable server, database or schema, a rejected password or a missing privilege
 *
 * @example
 * const store = postgresStore({ connectionString: process.env.DATABASE_URL })
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { connection, schema: name, answerWithinMs, clock } = checkOptions(options)
  const schema = quoteIdentifier(name)
  const isHostPool = 'pool' in connection
  let opened: OpenStore | undefined
  /** Calls of `open` without their `close`: several instances may share one store. */
  let openings = 0
  /** While it is open or opening. */
  let opening: Promise<void> | undefined
  let closed: Promise<void> = Promise.resolve()

  /** Forwards to the session of the open store. */
  const session: Session = {
    query: (statement, values) =>
      opened ? opened.session.query(statement, values) : Promise.reject(notOpenError()),
    transaction: (work) => (opened ? opened.session.transaction(work) : Promise.reject(notOpenError())),
    listen: (channel, listener) =>
      opened ? opened.session.listen(channel, listener) : Promise.reject(notOpenError()),
  }
  let log: Log | undefined
  const maintenanceSession = () => {
    if (opened) return opened.maintenanceSession()
    throw notOpenError()
  }
  let nodeClock: Clock | undefined
  const deps: Deps = {
    session,
    maintenanceSession,
    schema,
    channel: name,
    clock,
    timeline: () => opened?.timeline(),
    nodeClock: () => nodeClock!,
    log: lateLog(() => log),
  }
  const queue = postgresQueue(deps)
  const whenOpen = <Port extends object>(port: Port): Port =>
    Object.fromEntries(
      Object.entries(port as Record<string, (...args: unknown[]) => unknown>).map(([method, call]) => [
        method,
        method === 'subscribe'
          ? call
          : (...args: unknown[]) => (opened ? call(...args) : Promise.reject(notOpenError())),
      ]),
    ) as Port

  const onRejected = (rejection: Rejection) =>
    deps.log.warn({ ...rejection }, 'PostgreSQL rejected a statement')
  const settings = { connectWithinMs: CONNECT_WITHIN_MS, answerWithinMs, isHostPool, onRejected }
  const createMaintenanceSession = (pool: PostgresPool) =>
    createSession(pool, { ...settings, answerWithinMs: MAINTENANCE_WITHIN_MS, isSingleUse: true })

  async function open(): Promise<void> {
    const pool =
      'pool' in connection
        ? connection.pool
        : await createPool({ ...connection, connectWithinMs: CONNECT_WITHIN_MS })
    // A pool of the host may have no connection free for the question.
    const question = 'pool' in connection ? undefined : await createQuestion(connection)
    const silence = question && createSilenceWatch(question.ask)
    const onError = ({ message }: Error) =>
      log?.debug({ reason: message }, 'an idle connection to PostgreSQL was lost')
    pool.on('error', onError)
    const releasePool = async () => {
      silence?.close()
      await Promise.all([question?.close(), isHostPool ? undefined : pool.end()])
      pool.removeListener('error', onError)
    }
    try {
      const opening = createSession(pool, {
        ...settings,
        isHotPath: true,
        ...(silence && { silence }),
        onServerReplaced: queue.serverReplaced,
      })
      const field = isHostPool ? 'pool' : 'connectionString'
      await checkServer(opening, field)
      await refusePooler(opening.reserve, field)
      const patientSession = () => createMaintenanceSession(pool)
      await migrate({ session: opening, maintenanceSession: patientSession, name, log: deps.log })
      opening.markOpen()
      const stopMonitor = watchLongTransactions({ session: opening, log: deps.log })
      let closing: Promise<void> | undefined
      opened = {
        session: opening,
        timeline: () => opening.timeline,
        maintenanceSession: patientSession,
        close() {
          closing ??= (async () => {
            stopMonitor()
            await queue.close()
            opened = undefined
            await releasePool()
          })()
          return closing
        },
      }
      await queue.open()
    } catch (thrown) {
      await (opened?.close() ?? releasePool())
      throw thrown
    }
  }

  return {
    supports: { durable: true, sharedBetweenNodes: true, transactions: true, liveItems: true },
    async open(given) {
      log = given.log
      openings += 1
      opening ??= closed.then(() => {
        nodeClock = given.clock
        return open()
      })
      const mine = opening
      try {
        await mine
      } catch (thrown) {
        openings -= 1
        if (opening === mine) opening = undefined
        throw thrown
      }
    },
    async close() {
      openings = Math.max(0, openings - 1)
      if (openings > 0 || !opening) return closed
      const closing = opening.then(
        () => opened?.close(),
        () => {},
      )
      opening = undefined
      closed = closing.catch(() => {})
      return closing
    },
    accounts: whenOpen(postgresAccounts(deps, queue)),
    tokens: whenOpen(postgresTokens(deps)),
    openLegs: whenOpen(postgresOpenLegs(deps)),
    replays: whenOpen(postgresReplays(deps)),
    encryption: whenOpen(postgresEncryption(deps)),
    holds: whenOpen(postgresHolds(deps)),
    stats: whenOpen(postgresStats(deps)),
    callIndex: whenOpen(postgresCallIndex(deps)),
    webhooks: whenOpen(postgresWebhooks(deps, queue)),
    deliveries: whenOpen({ ...queue.deliveries, ...postgresQueries(deps, queue) }),
    inbox: whenOpen(queue.inbox),
    live: whenOpen(postgresLive(deps, queue)),
  }
}

/** A log that is set when the store is opened. */
function lateLog(current: () => Log | undefined): Log {
  return {
    debug: (fields, message) => current()?.debug(fields, message),
    info: (fields, message) => current()?.info(fields, message),
    warn: (fields, message) => current()?.warn(fields, message),
    error: (fields, message) => current()?.error(fields, message),
  }
}
