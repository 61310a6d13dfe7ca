import { HookswitchError } from 'hookswitch/store'
import { type Failure, failureOf, isSilence, markUnsure } from './errors.js'
import { type Connection, connections } from './session-connection.js'
import { type Hearing, type Listening, listen } from './session-listen.js'
import type { PostgresPool } from './session-pool.js'
import { queriesOf } from './session-query.js'
import { settingsOfSession, settingsOfTransaction } from './session-settings.js'
import type { Statement } from './statement.js'

export type { Statement } from './statement.js'

export interface Transaction {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
}

/**
 * The way to the server. Everything rejects with a `HookswitchError`: `StoreUnavailable` within `connectWithinMs` +
 * `answerWithinMs` of a statement at the latest, whatever became of the server.
 */
export interface Session {
  /** One statement on any connection, tried again when the server refused it for others' sake (40001, 40P01). */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Several statements in one READ COMMITTED transaction on one connection; `work` runs again, with fresh reads, when
   * the server gave it up for others' sake (40001, 40P01), a few times. What `work` throws rolls back and is thrown.
   * A connection lost before COMMIT was sent: nothing was written. Lost while the server answered it: `isUnsure`.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Hears a channel on a connection of its own, until it is stopped or lost. */
  listen(channel: string, hearing: Hearing): Promise<Listening>
}

export interface OpeningSession extends Session {
  /** From now on what is wrong is the server's fault, not that of an option. */
  opened(): void
}

export interface SessionOptions {
  /** Most milliseconds for a connection, waiting for a free one included. */
  readonly connectWithinMs: number
  /** Most milliseconds for the answer to one statement. */
  readonly answerWithinMs: number
  /** The pool is the host's: its connections keep their settings, ours hold for the transaction. */
  readonly foreign: boolean
  /** Its statements are those on the way of an event: planned to go row by row. */
  readonly hot?: boolean
  /** Its connections are closed after use: they have other settings than those of the session beside it. */
  readonly disposable?: boolean
}

/** How often work is tried that others made fail. */
const TRIES = 6
/** Between two tries: at random up to so much for each that failed, so that two do not meet again. */
const PAUSE_MS = 10

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

export function createSession(pool: PostgresPool, options: SessionOptions): OpeningSession {
  const { connectWithinMs, answerWithinMs, foreign, disposable = false } = options
  /** While the store opens: which option is to blame. */
  let field: string | undefined = foreign ? 'pool' : 'connectionString'
  const { connect } = connections(pool, {
    connectWithinMs,
    answerWithinMs,
    disposable,
    setUp: foreign ? undefined : settingsOfSession(options),
  })
  const begin = foreign ? `${BEGIN}; ${settingsOfTransaction(options)}` : BEGIN
  const queryOf = queriesOf()

  async function connected(): Promise<Connection> {
    try {
      return await connect()
    } catch (thrown) {
      throw failureOf(thrown, { connecting: true, field }).error
    }
  }

  /** One try: what it gives, or what made it fail. */
  async function once<T>(
    work: (tx: Transaction) => Promise<T>,
  ): Promise<{ value: T } | { failure: Failure }> {
    const connection = await connected()
    let failure: Failure | undefined
    let over = false
    let step: 'begin' | 'work' | 'commit' = 'begin'
    const tx: Transaction = {
      async query<Row>(statement: Statement, values: readonly unknown[]) {
        if (over) throw new HookswitchError('Internal', 'this transaction is over')
        try {
          return (await connection.run(queryOf(statement, values))).rows as Row[]
        } catch (thrown) {
          failure ??= failureOf(thrown, { connecting: false, field })
          throw failure.error
        }
      },
    }
    try {
      await connection.run({ text: begin })
      step = 'work'
      const value = await work(tx).finally(() => {
        over = true
      })
      if (failure) return await rolledBack(connection, failure)
      step = 'commit'
      await connection.run({ text: 'COMMIT' })
      connection.release()
      return { value }
    } catch (thrown) {
      if (step === 'work') {
        // What the work makes of a refused statement is its own affair, unless it is to run again.
        const { failure: failed } = failure
          ? await rolledBack(connection, failure)
          : await rollBack(connection)
        if (failed && (thrown === failed.error || isWorthTrying(failed))) return { failure: failed }
        throw thrown
      }
      const { error, sqlState, lost } = failureOf(thrown, { connecting: false, field })
      // Refused at COMMIT in so many words: rolled back. Anything else may have come after it was carried out.
      if (step === 'commit' && (lost || sqlState === '57014')) markUnsure(error)
      connection.release(error)
      // A connection that was dead before it was asked anything: another one may live.
      return { failure: { error, sqlState, lost, untouched: step === 'begin' && lost && !isSilence(thrown) } }
    }
  }

  async function rolledBack(connection: Connection, failure: Failure): Promise<{ failure: Failure }> {
    if (isSpoilt(failure)) connection.release(failure.error)
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

  async function again<T>(attempt: () => Promise<{ value: T } | { failure: Failure }>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const result = await attempt()
      if ('value' in result) return result.value
      if (tried === TRIES || !isWorthTrying(result.failure)) throw result.failure.error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * tried))
    }
  }

  return {
    query<Row>(statement: Statement, values: readonly unknown[]) {
      return again<readonly Row[]>(async () => {
        const connection = await connected()
        try {
          const { rows } = await connection.run(queryOf(statement, values))
          connection.release()
          return { value: rows }
        } catch (thrown) {
          const failure = failureOf(thrown, { connecting: false, field })
          if (failure.lost || failure.sqlState === '57014') markUnsure(failure.error)
          connection.release(isSpoilt(failure) ? failure.error : undefined)
          return { failure }
        }
      })
    },
    transaction: (work) => again(() => once(work)),
    opened() {
      field = undefined
    },
    listen: async (channel, hearing) => listen(await connected(), channel, hearing),
  }
}

/** A connection to a server that has become a standby, or that forgot what was prepared: of no use any more. */
function isSpoilt({ sqlState, lost }: Failure): boolean {
  return lost || sqlState === '25006' || sqlState === '26000'
}

/** Given up by the server for others' sake, or because it forgot what was prepared (a pooler, `DISCARD ALL`). */
function isWorthTrying({ sqlState, untouched = false }: Failure): boolean {
  return untouched || sqlState === '40001' || sqlState === '40P01' || sqlState === '26000'
}

/** What every call gets before the store is opened and after it was closed. */
export function notOpen(): HookswitchError {
  return new HookswitchError('StoreUnavailable', 'the PostgreSQL store is not open', { retryAfterSeconds: 1 })
}
