import { driverOf, type SqliteHandle } from './driver.js'
import { invalidOption } from './errors.js'

/** Where a `sqliteStore` keeps everything: a file of its own, or a database of the host's. */
export type SqliteStoreOptions = SqliteFileOptions | SqliteDatabaseOptions

export interface SqliteFileOptions {
  /**
   * The database file. It is made where it is not there, its folder is not. Beside it lie `-wal` and `-shm` (SQLite's
   * log), `-owner` (a lock: one process at a time) and `.key` (the key for secrets at rest, where the host gives none:
   * keep it with the backups, apart from the database).
   */
  readonly path: string
  /**
   * Does everything in the calling thread, which then waits for the disk: for simulations and small programs. Default
   * false: a thread of its own.
   */
  readonly inThread?: boolean
}

export interface SqliteDatabaseOptions {
  /**
   * The host's own open database, a `DatabaseSync` of `node:sqlite` or of `@photostructure/sqlite`, in a file: for
   * `publish(event, { tx: database })`. Our tables begin with `hookswitch_`; the file gets a write-ahead log. All else
   * goes through a connection of ours, in a thread of its own, so that two write to the file: begin transactions with
   * `BEGIN IMMEDIATE`. A handle without a busy timeout gets one of five seconds. Keep it open until the store is closed.
   */
  readonly database: SqliteHandle
}

/** Checked options. */
export type Chosen =
  | { readonly kind: 'path'; readonly path: string; readonly inThread: boolean }
  | { readonly kind: 'database'; readonly database: SqliteHandle }

const KNOWN = ['path', 'inThread', 'database']

/** @throws HookswitchError `InvalidOption` naming the option */
export function checkedOptions(given: unknown): Chosen {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption('path', 'is required: sqliteStore({ path }), or sqliteStore({ database })')
  }
  const { path, inThread, database } = given as Readonly<Record<string, unknown>>
  const unknown = Object.keys(given).find((key) => !KNOWN.includes(key))
  if (unknown !== undefined) throw invalidOption(unknown, 'is not an option of sqliteStore')
  if (database !== undefined) {
    if (path !== undefined)
      throw invalidOption('database', 'cannot go with path, everything is kept in one place')
    if (inThread !== undefined) throw invalidOption('inThread', 'goes with path only')
    if (driverOf(database)) return { kind: 'database', database: database as SqliteHandle }
    throw invalidOption('database', 'must be an open DatabaseSync of node:sqlite or @photostructure/sqlite')
  }
  if (path === undefined) throw invalidOption('path', 'is required, or database')
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalidOption('path', 'must be the name of a file')
  }
  if (path === ':memory:') throw invalidOption('path', 'must name a file; use memoryStore() to keep nothing')
  if (inThread !== undefined && typeof inThread !== 'boolean') {
    throw invalidOption('inThread', 'must be true or false')
  }
  return { kind: 'path', path, inThread: inThread ?? false }
}
