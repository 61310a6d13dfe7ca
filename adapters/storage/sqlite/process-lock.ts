/** The lock that gives one store in one process exclusive use of a database: an SQLite lock on `PATH-owner`. */
import { statSync, unlinkSync, writeFileSync } from 'node:fs'
import { HookswitchError } from 'hookswitch/store'
import type { SqliteDriver, SqliteHandle } from './driver.js'
import { isBusy, isCorruption, toStoreError, unavailableError } from './errors.js'

export interface ProcessLock {
  /** Whether our tables have ever been created in this database: if they are missing now, it is damaged. */
  readonly wasInitialized: boolean
  /** Records that our tables exist. */
  markInitialized(): void
  /**
   * Checks that the lock file is still there: a lock on a removed file excludes nobody.
   *
   * @throws HookswitchError `StoreCorrupt`
   */
  assertHeld(): void
  /** @param keepFile false: removes the lock file if it did not exist before */
  release(keepFile: boolean): void
}

/** Two stores that open at once wait for each other's checks, so that one of them gets the lock. */
const BUSY_TIMEOUT_MS = 250

/** `PRAGMA user_version` of `PATH-owner` once our tables have been created. */
const INITIALIZED = 1

/**
 * Takes an exclusive lock on a tiny database, `PATH-owner`. The kernel releases it when the process dies, and other
 * programs can still read the main file.
 *
 * @throws HookswitchError `StoreUnavailable` when another store holds the lock
 */
export function acquireProcessLock(driver: SqliteDriver, path: string): ProcessLock {
  const file = `${path}-owner`
  let isCreated = false
  for (;;) {
    let db: SqliteHandle | undefined
    try {
      isCreated = create(file) || isCreated
      const before = inode(file)
      const wasInitialized = readVersion(driver, file) === INITIALIZED
      db = new driver.DatabaseSync(file)
      lock(db)
      // A different inode: the previous holder has removed the file, and a lock on an unlinked file excludes nobody.
      if (before !== undefined && inode(file) === before) {
        return createLock(db, file, before, { isCreated, wasInitialized })
      }
      db.close()
    } catch (thrown) {
      db?.close()
      throw lockError(thrown, file, path)
    }
  }
}

/**
 * Uses a separate connection: `@photostructure/sqlite` 1.2 does not finalize statements on close, and a connection with
 * an open statement keeps its locks until it is garbage-collected.
 */
function readVersion({ DatabaseSync }: SqliteDriver, file: string): number {
  const db = new DatabaseSync(file)
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  } finally {
    db.close()
  }
}

/** Exclusive mode keeps the lock after the transaction. A page of 512 bytes is written atomically. */
function lock(db: SqliteHandle): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  db.exec('PRAGMA page_size = 512')
  db.exec('PRAGMA journal_mode = MEMORY')
  db.exec('PRAGMA locking_mode = EXCLUSIVE')
  db.exec('BEGIN EXCLUSIVE; COMMIT')
}

function createLock(
  db: SqliteHandle,
  file: string,
  lockedInode: bigint,
  { isCreated, wasInitialized }: { readonly isCreated: boolean; readonly wasInitialized: boolean },
): ProcessLock {
  return {
    wasInitialized,
    markInitialized() {
      if (!wasInitialized) db.exec(`PRAGMA user_version = ${INITIALIZED}`)
    },
    assertHeld() {
      if (inode(file) === lockedInode) return
      const sentence =
        'was removed while the database is in use, so another process may use it too: stop all processes that do, then start one'
      throw new HookswitchError('StoreCorrupt', `${file} ${sentence}`)
    },
    release(keepFile) {
      try {
        // While the lock is held: the next holder then sees that the file is gone.
        if (isCreated && !keepFile && inode(file) === lockedInode) unlinkSync(file)
      } finally {
        db.close()
      }
    },
  }
}

function lockError(thrown: unknown, file: string, path: string): HookswitchError {
  if (isBusy(thrown)) {
    const sentence =
      'is in use by another process, or by another store in this process: only one store can use a file at a time'
    return unavailableError(`${path} ${sentence}`, thrown)
  }
  if (!isCorruption(thrown)) return toStoreError(thrown, file)
  const sentence = 'is damaged. It contains only a lock: remove it while no process uses the database'
  return new HookswitchError('StoreCorrupt', `${file} ${sentence}`, { cause: thrown })
}

/** Returns false if the file exists already. */
function create(file: string): boolean {
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
}

function inode(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino
}
