import { statSync, unlinkSync, writeFileSync } from 'node:fs'
import { HookswitchError } from 'hookswitch/store'
import type { SqliteDriver, SqliteHandle } from './driver.js'
import { isBusy, isDamage, storeError, unavailable } from './errors.js'

/** A hold on a database, for one store in one process. */
export interface OwnerLock {
  /** Whether our tables were ever made in this database: if they are not there any more, it is damaged. */
  readonly wasSetUp: boolean
  /** Our tables are made. */
  markSetUp(): void
  /** @param trace false: leaves no file that was not there before */
  release(trace: boolean): void
}

/** Two that come at once wait for each other's look, so that one of them gets it. */
const WAIT_MS = 250

/** `PRAGMA user_version` of `PATH-owner` once our tables were made. */
const SET_UP = 1

/**
 * Takes the database for this store alone, by an exclusive lock on a tiny database of its own, `PATH-owner`: the kernel
 * frees it at the death of the process, and other programs may read the main file all the while.
 *
 * @throws HookswitchError `StoreUnavailable` when another store has it
 */
export function takeOwnership(driver: SqliteDriver, path: string): OwnerLock {
  const file = `${path}-owner`
  let made = false
  for (;;) {
    let db: SqliteHandle | undefined
    try {
      made = create(file) || made
      const before = inode(file)
      const wasSetUp = versionOf(driver, file) === SET_UP
      db = new driver.DatabaseSync(file)
      lock(db)
      // Else its former holder has removed it meanwhile: a lock on a file without a name keeps nobody out.
      if (before !== undefined && inode(file) === before) return held(db, file, { made, wasSetUp })
      db.close()
    } catch (thrown) {
      db?.close()
      throw refusal(thrown, file, path)
    }
  }
}

/**
 * Read through a connection of its own: `@photostructure/sqlite` 1.2 finalizes no statements when it closes, and a
 * connection with a statement keeps its locks until the garbage is collected.
 */
function versionOf({ DatabaseSync }: SqliteDriver, file: string): number {
  const db = new DatabaseSync(file)
  try {
    db.exec(`PRAGMA busy_timeout = ${WAIT_MS}`)
    return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  } finally {
    db.close()
  }
}

/** The exclusive mode keeps the lock when the transaction ends. One page of 512 bytes is written whole or not. */
function lock(db: SqliteHandle): void {
  db.exec(`PRAGMA busy_timeout = ${WAIT_MS}`)
  db.exec('PRAGMA page_size = 512')
  db.exec('PRAGMA journal_mode = MEMORY')
  db.exec('PRAGMA locking_mode = EXCLUSIVE')
  db.exec('BEGIN EXCLUSIVE; COMMIT')
}

function held(
  db: SqliteHandle,
  file: string,
  { made, wasSetUp }: { readonly made: boolean; readonly wasSetUp: boolean },
): OwnerLock {
  return {
    wasSetUp,
    markSetUp() {
      if (!wasSetUp) db.exec(`PRAGMA user_version = ${SET_UP}`)
    },
    release(trace) {
      try {
        // Under the lock: who takes it afterwards sees that the file is gone.
        if (made && !trace) unlinkSync(file)
      } finally {
        db.close()
      }
    },
  }
}

function refusal(thrown: unknown, file: string, path: string): HookswitchError {
  if (isBusy(thrown)) {
    const sentence =
      'is in use by another process, or by another store of this one: a file has one owner at a time'
    return unavailable(`${path} ${sentence}`, thrown)
  }
  if (!isDamage(thrown)) return storeError(thrown, file)
  const sentence = 'is damaged. It holds nothing but a lock: remove it, while no process uses the database'
  return new HookswitchError('StoreCorrupt', `${file} ${sentence}`, { cause: thrown })
}

/** True when it was not there. */
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
