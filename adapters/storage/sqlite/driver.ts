import { createRequire } from 'node:module'
import { HookswitchError } from 'hookswitch/store'
import { HERE } from './here.js'

/** What is written into a statement. Booleans are 0 and 1. */
export type SqliteValue = string | number | null

/** The part of a prepared statement that is used here. Rows are objects without a prototype. */
export interface SqliteStatement {
  run(...parameters: SqliteValue[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  get(...parameters: SqliteValue[]): unknown
  all(...parameters: SqliteValue[]): unknown[]
  iterate(...parameters: SqliteValue[]): IterableIterator<unknown>
}

/** The part of `DatabaseSync` (`node:sqlite`, `@photostructure/sqlite`) that is used here. */
export interface SqliteHandle {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
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
 * The driver of this name, else the one built into Node, else the installed one.
 *
 * @throws HookswitchError `InvalidOption`, saying what to install
 */
export function loadDriver(name?: DriverName): SqliteDriver {
  const builtIn = name === '@photostructure/sqlite' ? undefined : builtInDriver()
  if (builtIn) return builtIn
  if (name !== 'node:sqlite') return installedDriver()
  throw new HookswitchError('InvalidOption', 'node:sqlite needs Node 22.13 or newer')
}

/**
 * The driver that made this handle; `undefined` for any other object. Two copies of SQLite in one process undo each
 * other's locks on a file (closing a descriptor drops all POSIX locks of the process on it,
 * https://www.sqlite.org/howtocorrupt.html 2.2.1): a file has to be opened by the same copy on both sides.
 */
export function driverOf(handle: unknown): DriverName | undefined {
  if (handle instanceof (builtInDriver()?.DatabaseSync ?? Nobody)) return 'node:sqlite'
  try {
    return handle instanceof installedDriver().DatabaseSync ? '@photostructure/sqlite' : undefined
  } catch {
    return undefined
  }
}

class Nobody {}

/** Present from Node 22.13 on without a flag. */
function builtInDriver(): SqliteDriver | undefined {
  const found = quietly(() => process.getBuiltinModule?.('node:sqlite') as DriverModule | undefined)
  return found && { name: 'node:sqlite', DatabaseSync: found.DatabaseSync }
}

function installedDriver(): SqliteDriver {
  try {
    const { DatabaseSync } = createRequire(HERE)('@photostructure/sqlite') as DriverModule
    return { name: '@photostructure/sqlite', DatabaseSync }
  } catch (thrown) {
    const absent = (thrown as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    const sentence = absent
      ? 'Node before 22.13 has no SQLite of its own: run `npm install @photostructure/sqlite`, or use a newer Node'
      : '@photostructure/sqlite cannot be loaded: install it for this platform, or use Node 22.13 or newer'
    throw new HookswitchError('InvalidOption', `sqliteStore has no driver. ${sentence}`, { cause: thrown })
  }
}

/** Without the warning that SQLite is experimental: who uses this store did not choose `node:sqlite`, we did. */
function quietly<Result>(load: () => Result): Result {
  const { emitWarning } = process
  const others = (...given: unknown[]) => {
    if (!String(given[0]).startsWith('SQLite is an experimental')) Reflect.apply(emitWarning, process, given)
  }
  process.emitWarning = others as typeof emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
