import type { SqliteHandle } from './driver.js'
import { isBusy, unavailable } from './errors.js'

/** How long another connection's write is waited for: while opening, and where nobody can wait better. */
export const WAIT_MS = 5_000

/** Pages of the log (16 MiB) after which they are copied into the file: the pages of hot indexes once, not each time. */
const CHECKPOINT_PAGES = 4_000
/** What the log shrinks to after it grew, bytes. */
const LOG_BYTES = 64 * 1024 * 1024
/** KiB, of which SQLite takes what it needs. */
const CACHE_KIB = 64 * 1024

/** Of this connection; changes nothing in the file. */
export function settleConnection(db: SqliteHandle): void {
  db.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = OFF;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${LOG_BYTES};
    -- Erased rows are overwritten, not only unlinked.
    PRAGMA secure_delete = ON;
  `)
}

/**
 * Readers beside one writer, and one flush to the disk for each commit. The mode is the file's, for every program.
 *
 * @throws HookswitchError `StoreUnavailable` where the file system has no shared memory, or another connection is busy
 */
export function useLog(db: SqliteHandle, path: string): void {
  const row = oncePossible(() => db.prepare('PRAGMA journal_mode = WAL').get()) as { journal_mode: string }
  if (row.journal_mode === 'wal') return
  throw unavailable(`${path} cannot be switched to a write-ahead log: it has to be on a local disk`)
}

/** Of this statement SQLite asks no busy handler: `busy_timeout` says nothing to it. */
function oncePossible<Result>(attempt: () => Result): Result {
  const until = performance.now() + WAIT_MS
  for (;;) {
    try {
      return attempt()
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > until) throw thrown
      // Sleeps: nothing else can be done before the database is open.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

/** How long this connection waits, blocking its thread, while another one writes. */
export function waitFor(db: SqliteHandle, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`)
}

/** Moves the log into the file, as far as nobody else reads. */
export function emptyLog(db: SqliteHandle): void {
  try {
    waitFor(db, 0)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The next to open the file does it: the log is as durable.
  }
}
