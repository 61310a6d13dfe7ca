/** Settings of a connection: durability, write-ahead log, cache, busy timeout. */
import type { SqliteHandle } from './driver.js'
import { isBusy, unavailableError } from './errors.js'

/** How long to wait for another connection's write, ms: while opening, and where the wait cannot be split. */
export const BUSY_TIMEOUT_MS = 5_000

/**
 * Size of the log, in pages (16 MiB), at which it is copied into the file. A large log copies the pages of hot indexes
 * once instead of each time.
 */
const CHECKPOINT_PAGES = 4_000
/** Size to which the log is truncated after it has grown, bytes. */
const MAX_WAL_BYTES = 64 * 1024 * 1024
/**
 * Upper bound of the page cache, KiB. SQLite fills it with a minute of 400 events a second, and a page that it lacks is
 * usually in the cache of the system.
 */
const CACHE_KIB = 8 * 1024

/** Affects this connection only; changes nothing in the file. */
export function configureConnection(db: SqliteHandle): void {
  db.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = OFF;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${MAX_WAL_BYTES};
    -- Erased rows are overwritten, not only unlinked.
    PRAGMA secure_delete = ON;
  `)
}

/**
 * Lets `vacuumDatabase` give free pages back to the disk. Must be called before anything is written to a new file; a file
 * that was created without it changes with the next `vacuum`.
 */
export function enableIncrementalVacuum(db: SqliteHandle): void {
  // Setting it again would write to the file.
  if (!hasIncrementalVacuum(db)) db.exec('PRAGMA auto_vacuum = INCREMENTAL')
}

/** Whether free pages can be given back to the disk. */
export function hasIncrementalVacuum(db: SqliteHandle): boolean {
  const row = db.prepare('select auto_vacuum as mode from pragma_auto_vacuum').get()
  return (row as { readonly mode: number }).mode === 2
}

/**
 * Switches the file to a write-ahead log: readers run beside one writer, and each commit needs one flush. The mode is
 * stored in the file and applies to every program.
 *
 * @throws HookswitchError `StoreUnavailable` if the file system has no shared memory, or another connection is busy
 */
export function enableWal(db: SqliteHandle, path: string): void {
  const row = retryWhileBusy(() => db.prepare('PRAGMA journal_mode = WAL').get()) as { journal_mode: string }
  if (row.journal_mode === 'wal') return
  throw unavailableError(`${path} cannot be switched to a write-ahead log: it has to be on a local disk`)
}

/** SQLite does not invoke the busy handler for this statement, so `busy_timeout` has no effect on it. */
function retryWhileBusy<Result>(attempt: () => Result): Result {
  const deadline = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return attempt()
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > deadline) throw thrown
      blockThread(20)
    }
  }
}

/** Sleeps synchronously: nothing else can be done before the database is open. */
export function blockThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Sets how long this connection blocks its thread while another connection writes. */
export function setBusyTimeout(db: SqliteHandle, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`)
}

/** Copies the log into the file and truncates it, as far as no other connection is reading. */
export function checkpointWal(db: SqliteHandle): void {
  try {
    setBusyTimeout(db, 0)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The next connection that opens the file does it: the log is equally durable.
  }
}
