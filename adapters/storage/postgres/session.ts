/**
 * Runs statements and transactions on a pool of connections: prepares statements, retries what the server aborted
 * because of other transactions, and turns driver errors into `HookswitchError`. Connections and their timeouts are
 * those of `session-connection.ts`.
 */
import { createHash } from 'node:crypto'
import { HookswitchError, notWritten } from 'hookswitch/store'
import { type Failure, failureOf, isAnswerTimeout, isOutcomeUnknown, markOutcomeUnknown } from './errors.js'
import type { Rejection } from './rejection-log.js'
import { type Connection, createConnector } from './session-connection.js'
import { type ChannelListener, type ChannelSubscription, listenOn } from './session-listen.js'
import type { PostgresPool, PostgresQuery } from './session-pool.js'
import type { SilenceWatch } from './silence-watch.js'
import type { Statement } from './statement.js'

export interface Transaction {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
}

/**
 * Access to the server. Every method rejects with a `HookswitchError`: with `StoreUnavailable` at most
 * `connectWithinMs` + `answerWithinMs` after a statement was sent, whatever happened to the server, and at once while it is known
 * to be silent.
 */
export interface Session {
  /** Runs one statement on any connection. Retried after a serialization failure or a deadlock (40001, 40P01). */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs several statements in one READ COMMITTED transaction on one connection. `work` runs again, with fresh reads, a
   * few times after a serialization failure or a deadlock (40001, 40P01). An error thrown by `work` rolls back and is
   * rethrown. When the connection is lost before COMMIT is sent, nothing was written; when it is lost while the server
   * answers the COMMIT, `isOutcomeUnknown(error)`.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Listens to a channel on a dedicated connection, until the subscription is stopped or the connection is lost. */
  listen(channel: string, listener: ChannelListener): Promise<ChannelSubscription>
}

interface OpeningSession extends Session {
  /** The timeline of the server's log (`onServerReplaced`); `undefined`: unknown. */
  readonly timeline: string | undefined
  /** The store is open: from now on no failure is blamed on an option (`InvalidOption`). */
  markOpen(): void
  /** Reserves a connection. */
  reserve(): Promise<Connection>
}

interface SessionOptions {
  /** Longest wait for a connection, in milliseconds, including the wait for a free one. */
  readonly connectWithinMs: number
  /** Longest wait for the answer to one statement, in milliseconds. */
  readonly answerWithinMs: number
  /**
   * The pool belongs to the host: its connections keep their settings, ours apply to each transaction. Where theirs change what
   * statements mean, each statement is a transaction of its own.
   */
  readonly isHostPool: boolean
  /**
   * Called when a connection leads to another server than the ones before, a standby that was promoted. The call that opened
   * it fails, and so do all that began before and wait for a connection: nothing was written. What is still answered by the
   * old server counts as lost with the connection. Absent: not checked.
   */
  readonly onServerReplaced?: () => void
  /** Called with what the server says about a statement that it rejects, once the store is open. Absent: not reported. */
  readonly onRejected?: (rejection: Rejection) => void
  /** Tells when the server is silent. Absent: only the time limits do. */
  readonly silence?: SilenceWatch
  /** The statements are on the path of an event and must be planned row by row. Default false. */
  readonly isHotPath?: boolean
  /**
   * Each connection is closed after one use, since its settings differ from those of the other sessions. Default false.
   */
  readonly isSingleUse?: boolean
}

/** Attempts in all, when other transactions make each of them fail. */
const MAX_ATTEMPTS = 6
/**
 * Upper bound of the random pause after an attempt, times its number, so that two transactions do not collide again.
 */
const PAUSE_MS = 10

/** Constraints refuse rows, and a group whose assumptions are wrong divides by zero (`commit.ts`). */
const EXPECTED = /^(?:23...|22012)$/

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

export function createSession(pool: PostgresPool, options: SessionOptions): OpeningSession {
  const { connectWithinMs, answerWithinMs, isHostPool, isSingleUse = false } = options
  /** While the store opens: the option that a wrong address or password is blamed on. */
  let field: string | undefined = isHostPool ? 'pool' : 'connectionString'
  const connector = createConnector(pool, {
    connectWithinMs,
    answerWithinMs,
    isSingleUse,
    onServerReplaced: options.onServerReplaced,
    silence: options.silence,
    ...(isHostPool ? { checkSql: USUAL_SETTINGS } : { setUpSql: sessionSettings(options) }),
  })
  const begin = isHostPool ? `${BEGIN}; ${transactionSettings(options)}` : BEGIN
  const queryOf = createQueryBuilder()

  /** While the store opens, the error itself says everything. */
  function report({ rejection }: Failure): void {
    if (rejection && field === undefined && !EXPECTED.test(rejection.sqlState))
      options.onRejected?.(rejection)
  }

  async function acquireConnection(replacementsBefore = connector.replacements): Promise<Connection> {
    try {
      return await connector.connect(replacementsBefore)
    } catch (thrown) {
      const failure = failureOf(thrown, { isConnecting: true, field })
      report(failure)
      throw notWritten(failure.error)
    }
  }

  /** One attempt of a transaction. */
  async function runOnce<T>(
    work: (tx: Transaction) => Promise<T>,
    replacementsBefore: number,
  ): Promise<{ value: T } | { failure: Failure }> {
    const connection = await acquireConnection(replacementsBefore)
    let failure: Failure | undefined
    let isOver = false
    let step: 'begin' | 'work' | 'commit' = 'begin'
    const tx: Transaction = {
      async query<Row>(statement: Statement, values: readonly unknown[]) {
        if (isOver) throw new HookswitchError('Internal', 'this transaction is over')
        try {
          return (await connection.run(queryOf(statement, values))).rows as Row[]
        } catch (thrown) {
          failure ??= failureOf(thrown, { isConnecting: false, field })
          throw failure.error
        }
      },
    }
    try {
      await connection.run({ text: begin })
      step = 'work'
      const value = await work(tx).finally(() => {
        isOver = true
      })
      if (failure) return await rollBackAfter(connection, failure)
      step = 'commit'
      await connection.run({ text: 'COMMIT' })
      connection.release()
      return { value }
    } catch (thrown) {
      if (step === 'work') {
        // `work` may translate the error of a refused statement, unless the transaction is to run again.
        const { failure: failed } = failure
          ? await rollBackAfter(connection, failure)
          : await rollBack(connection)
        if (failed && (thrown === failed.error || isRetryable(failed))) return { failure: failed }
        throw thrown
      }
      const failed = failureOf(thrown, { isConnecting: false, field })
      const { error, sqlState, isConnectionLost } = failed
      // An SQLSTATE at COMMIT means that it was rolled back. Anything else may have come after the commit.
      if (step === 'commit' && (isConnectionLost || sqlState === '57014')) markOutcomeUnknown(error)
      connection.release(error)
      // The pool handed out a connection that was already dead: another one may work.
      const isStaleConnection = step === 'begin' && isConnectionLost && !isAnswerTimeout(thrown)
      return { failure: { ...failed, isStaleConnection } }
    }
  }

  async function rollBackAfter(connection: Connection, failure: Failure): Promise<{ failure: Failure }> {
    if (isConnectionUnusable(failure)) connection.release(failure.error)
    else await rollBack(connection)
    return { failure }
  }

  async function rollBack(connection: Connection): Promise<{ failure?: undefined }> {
    try {
      await connection.run({ text: 'ROLLBACK' })
      connection.release()
    } catch (thrown) {
      connection.release(thrown as Error)
    }
    return {}
  }

  async function withRetries<T>(
    attempt: (replacementsBefore: number) => Promise<{ value: T } | { failure: Failure }>,
  ): Promise<T> {
    const replacementsBefore = connector.replacements
    for (let attempts = 1; ; attempts += 1) {
      const result = await attempt(replacementsBefore)
      if ('value' in result) return result.value
      const { error } = result.failure
      if (attempts === MAX_ATTEMPTS || !isRetryable(result.failure)) {
        report(result.failure)
        throw isOutcomeUnknown(error) ? error : notWritten(error)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * attempts))
    }
  }

  return {
    query<Row>(statement: Statement, values: readonly unknown[]) {
      return withRetries<readonly Row[]>(async (replacementsBefore) => {
        const connection = await acquireConnection(replacementsBefore)
        if (connection.needsTransaction && !statement.isOutsideTransactions) {
          connection.release()
          return runOnce((tx) => tx.query<Row>(statement, values), replacementsBefore)
        }
        try {
          const { rows } = await connection.run(queryOf(statement, values))
          connection.release()
          return { value: rows }
        } catch (thrown) {
          const failure = failureOf(thrown, { isConnecting: false, field })
          if (failure.isConnectionLost || failure.sqlState === '57014') markOutcomeUnknown(failure.error)
          connection.release(isConnectionUnusable(failure) ? failure.error : undefined)
          return { failure }
        }
      })
    },
    transaction: (work) => withRetries((replacementsBefore) => runOnce(work, replacementsBefore)),
    get timeline() {
      return connector.timeline
    },
    reserve: () => acquireConnection(),
    markOpen() {
      field = undefined
    },
    listen: async (channel, listener) =>
      listenOn(await acquireConnection(), channel, listener, queryOf, begin),
  }
}

/** Lost, or connected to a server that has become a standby, or without the statements that were prepared on it. */
function isConnectionUnusable({ sqlState, isConnectionLost }: Failure): boolean {
  return isConnectionLost || sqlState === '25006' || sqlState === '26000'
}

/**
 * A serialization failure, a deadlock, a dead connection, or a prepared statement that the server no longer has (a
 * pooler, `DISCARD ALL`).
 */
function isRetryable({ sqlState, isStaleConnection = false }: Failure): boolean {
  return isStaleConnection || sqlState === '40001' || sqlState === '40P01' || sqlState === '26000'
}

/** Runs statements that return how many rows they `removed`. */
export const removedOn =
  (on: Transaction) =>
  async (statement: Statement, values: readonly unknown[]): Promise<number> =>
    (await on.query<{ readonly removed: number }>(statement, values))[0]!.removed

/** The error of every call before the store is opened and after it is closed. */
export function notOpenError(): HookswitchError {
  return new HookswitchError('StoreUnavailable', 'the PostgreSQL store is not open', { retryAfterSeconds: 1 })
}

// Settings of connections

/**
 * What statements mean, and the digits of the numbers that they return, whatever the defaults of the database and the role
 * are (`ALTER DATABASE … SET`): backslashes in texts, NULL in lists, bytes, times in milliseconds.
 */
const MEANING = [
  'standard_conforming_strings = on',
  'array_nulls = on',
  'bytea_output = hex',
  'extra_float_digits = 1',
]

/** For single statements: transactions name their level. */
const ISOLATION = "default_transaction_isolation = 'read committed'"

/** Whether a connection of the host has these settings, which are those of a server that nobody changed. */
const USUAL_SETTINGS = `select current_setting('standard_conforming_strings') = 'on'
  and current_setting('array_nulls') = 'on' and current_setting('bytea_output') = 'hex'
  and current_setting('extra_float_digits')::int > 0
  and current_setting('default_transaction_isolation') = 'read committed' as usual`

/**
 * Statements are planned once per connection, under a generic plan: the plan that was checked with `EXPLAIN`, whatever
 * the values. Compiling plans (JIT) costs more than it saves on any of them.
 */
const PLANNING = ['plan_cache_mode = force_generic_plan', 'jit = off']

/**
 * Every statement on the path of an event walks indexes, row by row. While a table is new, or has just been filled, its
 * statistics make a sequential scan look cheaper, and the connection would keep that plan.
 */
const ROW_BY_ROW = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']

/** The server notices a vanished node after 60 s instead of two hours. */
const KEEP_ALIVE = ['tcp_keepalives_idle = 30', 'tcp_keepalives_interval = 10', 'tcp_keepalives_count = 3']

type SettingsOptions = Pick<SessionOptions, 'answerWithinMs' | 'isHotPath'>

/** SQL that sets up a connection of our own pool. @internal */
export function sessionSettings(options: SettingsOptions): string {
  return settingsSql('SET', [...settingsOf(options), ISOLATION, ...KEEP_ALIVE])
}

/** SQL that sets up one transaction on a connection of the host's pool. */
function transactionSettings(options: SettingsOptions): string {
  return settingsSql('SET LOCAL', settingsOf(options))
}

/** A transaction on the path of an event may be idle for so long, ms: others wait for its locks. */
const IDLE_MS = 5_000

/**
 * With the idle timeout, the server releases the locks of a node that vanished in the middle of a transaction. Who waits for
 * them on the path of an event gives up later than that, and before the time limit of the statement: then it is known that
 * nothing was written.
 */
function settingsOf({ answerWithinMs, isHotPath = false }: SettingsOptions): readonly string[] {
  const idleMs = isHotPath ? Math.min(IDLE_MS, Math.ceil(answerWithinMs * 0.5)) : answerWithinMs
  return [
    `statement_timeout = ${Math.ceil(answerWithinMs * 0.9)}`,
    `idle_in_transaction_session_timeout = ${idleMs}`,
    ...MEANING,
    ...PLANNING,
    // A connection of the pool may have the settings of the other kind of session.
    `lock_timeout = ${isHotPath ? Math.ceil(answerWithinMs * 0.7) : 0}`,
    ...ROW_BY_ROW.map((setting) => `${setting} = ${isHotPath ? 'off' : 'on'}`),
  ]
}

function settingsSql(command: string, settings: readonly string[]): string {
  return settings.map((setting) => `${command} ${setting}`).join('; ')
}

// Prepared statements

/** OID of `bigint`. */
const INT8 = 20

/** `pg` reads a `bigint` as text. Ours are counts, positions and milliseconds, all below 2^53. Text stays text. */
const TYPES: NonNullable<PostgresQuery['types']> = {
  getTypeParser(oid) {
    return PARSERS[oid] ?? unparsed
  },
}

const unparsed = (text: string) => text
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  // bool, bigint, smallint, int, float4, float8
  16: (text) => text === 't',
  [INT8]: Number,
  21: Number,
  23: Number,
  700: Number,
  701: Number,
}

/** Prepared statements are named after a hash of their text, so that two stores on one pool never confuse theirs. */
function createQueryBuilder(): (statement: Statement, values: readonly unknown[]) => PostgresQuery {
  const names = new WeakMap<Statement, string>()
  return (statement, values) => {
    // Without a name and values `pg` sends plain text, which may hold several statements.
    if (statement.name === '') return { text: statement.text, values: values as unknown[], types: TYPES }
    let name = names.get(statement)
    if (name === undefined) {
      const digest = createHash('sha256').update(statement.text).digest('hex').slice(0, 16)
      // PostgreSQL keeps 63 bytes of a name.
      name = `${statement.name.slice(0, 40)}_${digest}`
      names.set(statement, name)
    }
    return { name, text: statement.text, values: values as unknown[], types: TYPES }
  }
}
