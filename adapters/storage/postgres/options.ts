/** Options of `postgresStore`, with their checks and defaults. */
import { type Clock, checkOptionNames, connectionTarget, HookswitchError } from 'hookswitch/store'
import type { PostgresPool } from './session-pool.js'

/** Options that both forms of `PostgresStoreOptions` have. */
export interface PostgresCommonOptions {
  /**
   * Schema of all tables, created when it does not exist; nodes that share it work on one queue. Must match
   * `^[a-z_][a-z0-9_]{0,62}$` and not begin with `pg_`. Default `hookswitch`.
   */
  readonly schema?: string | undefined
  /**
   * Time limit for the answer to one statement, in milliseconds, at least 100. After that the connection is closed and
   * the call rejects with `StoreUnavailable`. Getting a connection may take up to 5 s more. Default 10,000.
   */
  readonly answerWithinMs?: number | undefined
  /** Store clock for tests and simulations. Default: the clock of the server. */
  readonly clock?: Clock | undefined
}

/** Options of a store that opens its own connections. */
export interface PostgresConnectionOptions extends PostgresCommonOptions {
  /**
   * `postgres://user:password@host:5432/database`, special characters percent-encoded, optionally with `?sslmode=…`; with
   * a Unix socket `postgres://user:password@/database?host=/folder`, or the folder itself. One host, as `pg` takes it.
   */
  readonly connectionString: string
  /** Limit of open connections, at least 2: one of them listens for notifications of other nodes. Default 8. */
  readonly maxConnections?: number | undefined
  /** TLS options as in `pg`: `true`, or `{ ca, … }` as in `tls.connect`. Default: as the connection string says. */
  readonly ssl?: boolean | object | undefined
  /** Not allowed together with `connectionString`. */
  readonly pool?: undefined
}

/** Options of a store that uses the host's pool, so that `publish(event, { tx })` works beside the host's tables. */
export interface PostgresPoolOptions extends PostgresCommonOptions {
  /** A `pg.Pool` with a maximum of at least 2 connections. The host ends it, after `hs.close()`. */
  readonly pool: PostgresPool
  /** Not allowed together with `pool`. */
  readonly connectionString?: undefined
}

/** Options of `postgresStore`: a connection string, or a pool of the host. */
export type PostgresStoreOptions = PostgresConnectionOptions | PostgresPoolOptions

/** Checked options with defaults applied. */
interface CheckedOptions {
  readonly connection:
    | { readonly connectionString: string; readonly maxConnections: number; readonly ssl?: boolean | object }
    | { readonly pool: PostgresPool }
  readonly schema: string
  readonly answerWithinMs: number
  readonly clock: Clock | undefined
}

const COMMON_OPTIONS = ['schema', 'answerWithinMs', 'clock']
const CONNECTION_OPTIONS = ['connectionString', 'maxConnections', 'ssl']
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/** @throws HookswitchError `InvalidOption` with the name of the option in `field` */
export function checkOptions(given: unknown, call = 'postgresStore'): CheckedOptions {
  if (typeof given !== 'object' || given === null) {
    throw invalid('connectionString', 'postgresStore needs an object with connectionString or pool')
  }
  const options = given as Readonly<Record<string, unknown>>
  const { connectionString, pool, schema = 'hookswitch', answerWithinMs = 10_000, clock } = options
  checkOptionNames(call, options, ['pool', ...CONNECTION_OPTIONS, ...COMMON_OPTIONS])
  if (connectionString !== undefined && pool !== undefined) {
    throw invalid('pool', 'give postgresStore either connectionString or pool, not both')
  }
  if (connectionString === undefined && pool === undefined) {
    throw invalid('connectionString', 'postgresStore needs connectionString or pool')
  }
  const ofPool = CONNECTION_OPTIONS.find((name) => pool !== undefined && options[name] !== undefined)
  if (ofPool !== undefined) throw invalid(ofPool, `${ofPool} is an option of the pool: set it there`)
  if (typeof schema !== 'string' || !SCHEMA.test(schema) || schema.startsWith('pg_')) {
    throw invalid(
      'schema',
      'schema must be 1 to 63 characters of a-z, 0-9 and _, and not begin with a digit or pg_',
    )
  }
  if (!isWholeNumber(answerWithinMs, 100))
    throw invalid('answerWithinMs', 'answerWithinMs must be a whole number from 100 up')
  return {
    connection: pool === undefined ? checkConnection(options) : { pool: checkPool(pool) },
    schema,
    answerWithinMs,
    clock: checkClock(clock),
  }
}

function checkConnection({ connectionString, maxConnections = 8, ssl }: Readonly<Record<string, unknown>>) {
  if (typeof connectionString !== 'string' || !connectionTarget(connectionString)) {
    // The message quotes nothing of the value, which holds a password.
    throw invalid(
      'connectionString',
      'connectionString must look like postgres://user:password@host:5432/database, special characters percent-encoded, with one host',
    )
  }
  if (!isWholeNumber(maxConnections, 2))
    throw invalid('maxConnections', 'maxConnections must be a whole number from 2 up')
  if (ssl !== undefined && typeof ssl !== 'boolean' && (typeof ssl !== 'object' || ssl === null)) {
    throw invalid('ssl', 'ssl must be true, false or an object with TLS options')
  }
  return { connectionString, maxConnections, ...(ssl === undefined ? {} : { ssl }) }
}

function checkPool(pool: unknown): PostgresPool {
  const { connect, on, options } = (pool ?? {}) as {
    connect?: unknown
    on?: unknown
    options?: { max?: unknown }
  }
  if (typeof connect !== 'function' || typeof on !== 'function')
    throw invalid('pool', 'pool must be a pg.Pool')
  if (typeof options?.max === 'number' && options.max < 2) {
    throw invalid('pool', 'pool must allow 2 connections or more: one of them listens for notifications')
  }
  return pool as PostgresPool
}

function checkClock(clock: unknown): Clock | undefined {
  if (clock === undefined || typeof (clock as Clock | null)?.now === 'function')
    return clock as Clock | undefined
  throw invalid('clock', 'clock must be a Clock')
}

function isWholeNumber(value: unknown, atLeast: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= atLeast
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', message, { field })
}
