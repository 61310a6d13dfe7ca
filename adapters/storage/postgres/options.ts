import { type Clock, HookswitchError } from 'hookswitch/store'
import type { PostgresPool } from './session-pool.js'

interface Common {
  /** Schema that holds all tables; made when it is not there. `^[a-z_][a-z0-9_]{0,62}$`. Default `hookswitch`. */
  readonly schema?: string
  /**
   * Most milliseconds for the answer to one statement, from 100 up; then its connection is given up, and the call
   * rejects with `StoreUnavailable`. Up to 5 s to get a connection come on top. Default 10,000.
   */
  readonly answerWithinMs?: number
  /** For tests and simulations: store time, in place of the server's own clock. */
  readonly clock?: Clock
}

/** A server that this store connects to by itself. */
export interface PostgresConnectionOptions extends Common {
  /** `postgres://user:password@host:5432/database`, with `?sslmode=…` where wanted. */
  readonly connectionString: string
  /** Most connections, from 2 up: one of them listens for what other nodes do. Default 8. */
  readonly maxConnections?: number
  /** As `pg` takes it: `true`, or `{ ca, … }`. */
  readonly ssl?: boolean | object
  readonly pool?: undefined
}

/** A pool of the host's, for `publish(event, { tx })` beside its own tables. */
export interface PostgresPoolOptions extends Common {
  /** A `pg.Pool` of at least 2 connections, which the host ends after `hs.close()`. */
  readonly pool: PostgresPool
  readonly connectionString?: undefined
}

export type PostgresStoreOptions = PostgresConnectionOptions | PostgresPoolOptions

/** Options with their defaults. */
export interface CheckedOptions {
  readonly connect:
    | { readonly connectionString: string; readonly maxConnections: number; readonly ssl?: boolean | object }
    | { readonly pool: PostgresPool }
  readonly schema: string
  readonly answerWithinMs: number
  readonly clock: Clock | undefined
}

const OF_ALL = ['schema', 'answerWithinMs', 'clock']
const OF_CONNECTION = ['connectionString', 'maxConnections', 'ssl']
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/** @throws HookswitchError `InvalidOption`, which names the option */
export function checkOptions(given: unknown): CheckedOptions {
  if (typeof given !== 'object' || given === null) {
    throw invalid('connectionString', 'postgresStore needs an object with connectionString or pool')
  }
  const options = given as Readonly<Record<string, unknown>>
  const { connectionString, pool, schema = 'hookswitch', answerWithinMs = 10_000, clock } = options
  if (connectionString !== undefined && pool !== undefined) {
    throw invalid('pool', 'give postgresStore either connectionString or pool, not both')
  }
  if (connectionString === undefined && pool === undefined) {
    throw invalid('connectionString', 'postgresStore needs connectionString or pool')
  }
  const known = pool === undefined ? [...OF_CONNECTION, ...OF_ALL] : ['pool', ...OF_ALL]
  for (const [key, value] of Object.entries(options)) {
    if (known.includes(key) || value === undefined) continue
    const beside = OF_CONNECTION.includes(key) ? `${key} is the pool's own: set it there` : undefined
    throw invalid(key, beside ?? `${key} is not an option of postgresStore`)
  }
  if (typeof schema !== 'string' || !SCHEMA.test(schema) || schema.startsWith('pg_')) {
    throw invalid('schema', 'schema must be 1 to 63 of a-z, 0-9 and _, not begin with a digit or pg_')
  }
  if (!isWhole(answerWithinMs, 100))
    throw invalid('answerWithinMs', 'answerWithinMs must be a whole number from 100 up')
  return {
    connect: pool === undefined ? checkConnection(options) : { pool: checkPool(pool) },
    schema,
    answerWithinMs,
    clock: checkClock(clock),
  }
}

function checkConnection({ connectionString, maxConnections = 8, ssl }: Readonly<Record<string, unknown>>) {
  if (typeof connectionString !== 'string' || !isConnectionString(connectionString)) {
    // Not a word of what was given: a password is in it.
    throw invalid(
      'connectionString',
      'connectionString must look like postgres://user:password@host:5432/database, special characters percent-encoded',
    )
  }
  if (!isWhole(maxConnections, 2))
    throw invalid('maxConnections', 'maxConnections must be a whole number from 2 up')
  if (ssl !== undefined && typeof ssl !== 'boolean' && (typeof ssl !== 'object' || ssl === null)) {
    throw invalid('ssl', 'ssl must be true, false or an object as pg takes it')
  }
  return { connectionString, maxConnections, ...(ssl === undefined ? {} : { ssl }) }
}

/** As `pg` reads it: a URL, or the folder of a Unix socket. */
function isConnectionString(text: string): boolean {
  if (text.startsWith('/')) return true
  if (!URL.canParse(text)) return false
  const { protocol, hash } = new URL(text)
  // A "#" that is not encoded would cut a password in two, and the rest of it into an error message.
  return ['postgres:', 'postgresql:', 'socket:'].includes(protocol) && hash === ''
}

function checkPool(pool: unknown): PostgresPool {
  const { connect, on, options } = (pool ?? {}) as {
    connect?: unknown
    on?: unknown
    options?: { max?: unknown }
  }
  if (typeof connect !== 'function' || typeof on !== 'function')
    throw invalid('pool', 'pool must be a Pool of pg')
  if (typeof options?.max === 'number' && options.max < 2) {
    throw invalid('pool', 'pool must have room for 2 connections or more: one of them listens')
  }
  return pool as PostgresPool
}

function checkClock(clock: unknown): Clock | undefined {
  if (clock === undefined || typeof (clock as Clock | null)?.now === 'function')
    return clock as Clock | undefined
  throw invalid('clock', 'clock must be a Clock')
}

function isWhole(value: unknown, atLeast: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= atLeast
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', message, { field })
}
