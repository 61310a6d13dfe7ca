/** Loads the SQLite driver: `node:sqlite`, built into Node, or the package `@photostructure/sqlite` with the same API. */
import { createRequire } from 'node:module'
import { HookswitchError } from 'hookswitch/store'
import { MODULE_PATH } from './worker-path.js'

/** A bound parameter. Booleans are 0 and 1. */
export type SqliteValue = string | number | null

/** The part of a prepared statement that the store uses. Rows are objects without a prototype. */
export interface SqliteStatement {
  /** Executes the statement; returns the number of changed rows, and the rowid of the last insert. */
  run(...parameters: SqliteValue[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  /** The first row; `undefined`: none. */
  get(...parameters: SqliteValue[]): unknown
  /** All rows. */
  all(...parameters: SqliteValue[]): unknown[]
  /** The rows, read one at a time. */
  iterate(...parameters: SqliteValue[]): IterableIterator<unknown>
}

/** The part of `DatabaseSync` (`node:sqlite`, `@photostructure/sqlite`) that the store uses. */
export interface SqliteHandle {
  /** Executes statements without parameters or results. */
  exec(sql: string): void
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement
  /** Closes the connection. Its statements cannot be used afterwards. */
  close(): void
  /** Absent before Node 22.16. */
  readonly isTransaction?: boolean
}

export type DriverName = 'node:sqlite' | '@photostructure/sqlite'

export interface SqliteDriver {
  readonly name: DriverName
  readonly DatabaseSync: new (path: string) => SqliteHandle
}

type DriverModule = Pick<SqliteDriver, 'DatabaseSync'>

/**
 * @param name which driver. Default: the one built into Node, else the installed one
 * @throws HookswitchError `InvalidOption`, saying what to install
 */
export function loadDriver(name?: DriverName): SqliteDriver {
  const builtIn = name === '@photostructure/sqlite' ? undefined : builtInDriver()
  if (builtIn) return builtIn
  if (name !== 'node:sqlite') return installedDriver()
  throw new HookswitchError('InvalidOption', 'node:sqlite needs Node 22.13 or newer')
}

/**
 * The driver that created this handle; `undefined` for any other object. A file must be opened by the same copy of
 * SQLite on both sides: two copies in one process undo each other's locks (closing a descriptor drops all POSIX locks of
 * the process on that file, https://www.sqlite.org/howtocorrupt.html 2.2.1).
 */
export function driverNameOf(handle: unknown): DriverName | undefined {
  if (handle instanceof (builtInDriver()?.DatabaseSync ?? NoInstances)) return 'node:sqlite'
  try {
    return handle instanceof installedDriver().DatabaseSync ? '@photostructure/sqlite' : undefined
  } catch {
    return undefined
  }
}

class NoInstances {}

/** Available without a flag from Node 22.13 on. */
function builtInDriver(): SqliteDriver | undefined {
  const found = withoutExperimentalWarning(
    () => process.getBuiltinModule?.('node:sqlite') as DriverModule | undefined,
  )
  return found && { name: 'node:sqlite', DatabaseSync: found.DatabaseSync }
}

function installedDriver(): SqliteDriver {
  try {
    const { DatabaseSync } = createRequire(MODULE_PATH)('@photostructure/sqlite') as DriverModule
    return { name: '@photostructure/sqlite', DatabaseSync }
  } catch (thrown) {
    const isMissing = (thrown as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    const advice = isMissing
      ? 'Node before 22.13 has no built-in SQLite: run `npm install @photostructure/sqlite@1`, or use a newer Node'
      : '@photostructure/sqlite cannot be loaded: install it for this platform, or use Node 22.13 or newer'
    throw new HookswitchError('InvalidOption', `sqliteStore has no driver. ${advice}`, { cause: thrown })
  }
}

/** Suppresses the warning that SQLite is experimental: the user of this store did not choose `node:sqlite`. */
function withoutExperimentalWarning<Result>(load: () => Result): Result {
  const { emitWarning } = process
  const filtered = (...args: unknown[]) => {
    if (!String(args[0]).startsWith('SQLite is an experimental')) Reflect.apply(emitWarning, process, args)
  }
  process.emitWarning = filtered as typeof emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
