/** The options of `sqliteStore`, and their check. Whether the file can be used is checked when it is opened. */
import { checkOptionNames } from 'hookswitch/store'
import { driverNameOf, type SqliteHandle } from './driver.js'
import { invalidOptionError } from './errors.js'

/** Where a `sqliteStore` keeps its data: in a file that belongs to it, or in a database of the host. */
export type SqliteStoreOptions = SqliteFileOptions | SqliteDatabaseOptions

/** A database file that belongs to the store. */
export interface SqliteFileOptions {
  /**
   * Path of the database file, required. A missing file is created (readable by its owner only), a missing folder is not.
   * Further files are created beside it: `-wal` and `-shm` (SQLite's write-ahead log), `-owner` (the lock that admits one
   * process at a time) and `.key` (the key that encrypts secrets, unless the host passes `secret`: back it up, separately
   * from the database). Must be on a local disk. `:memory:` is refused: use `memoryStore()`.
   */
  readonly path: string
  /**
   * Runs SQLite in the calling thread, which then blocks while the disk is written: for simulations and small programs.
   * Default: false (a worker thread). Only with `path`.
   */
  readonly inThread?: boolean | undefined
}

/** The host's database, so that `publish(event, { tx })` works in the host's transactions. */
export interface SqliteDatabaseOptions {
  /**
   * The host's open database, required: a `DatabaseSync` of `node:sqlite` or `@photostructure/sqlite` on a file, not in
   * memory. Enables `publish(event, { tx: database })`. Our tables are named `hookswitch_…`; the file is switched to a
   * write-ahead log. All other access uses a second connection in a worker thread, so two connections write to the file:
   * begin transactions with `BEGIN IMMEDIATE`. A handle whose busy timeout is 0 gets one of 5000 ms. Keep the handle open
   * until the store is closed. Cannot be combined with `path`.
   */
  readonly database: SqliteHandle
}

type CheckedOptions =
  | { readonly kind: 'path'; readonly path: string; readonly inThread: boolean }
  | { readonly kind: 'database'; readonly database: SqliteHandle }

const OPTION_NAMES = ['path', 'inThread', 'database']

/** @throws HookswitchError `InvalidOption` naming the option */
export function checkOptions(options: unknown, call = 'sqliteStore'): CheckedOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOptionError('path', 'is required: sqliteStore({ path }), or sqliteStore({ database })')
  }
  const { path, inThread, database } = options as Readonly<Record<string, unknown>>
  checkOptionNames(call, options, OPTION_NAMES)
  if (database !== undefined) {
    if (path !== undefined) throw invalidOptionError('database', 'cannot be combined with path')
    if (inThread !== undefined) throw invalidOptionError('inThread', 'can only be combined with path')
    if (driverNameOf(database)) return { kind: 'database', database: database as SqliteHandle }
    throw invalidOptionError(
      'database',
      'must be an open DatabaseSync of node:sqlite or @photostructure/sqlite',
    )
  }
  if (path === undefined) throw invalidOptionError('path', 'is required, or database')
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalidOptionError('path', 'must be a file name')
  }
  if (path === ':memory:') throw invalidOptionError('path', 'must name a file; use memoryStore() without one')
  if (inThread !== undefined && typeof inThread !== 'boolean') {
    throw invalidOptionError('inThread', 'must be true or false')
  }
  return { kind: 'path', path, inThread: inThread ?? false }
}
