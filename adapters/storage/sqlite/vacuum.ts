/**
 * Gives the free pages of a file back to the disk, beside a store that uses it.
 *
 * Theory of operation: SQLite keeps the pages of removed rows for new ones and never makes the file smaller. With
 * `auto_vacuum=INCREMENTAL` it can move the last pages of the file into free ones, a few in a transaction. Each transaction
 * here is short and followed by a longer pause, so that the store, which waits for it like for any other writer, is held up
 * by some milliseconds. The file itself becomes smaller when the log is copied into it. No lock of the store is taken: a store
 * may be opened and closed meanwhile. A kill loses nothing: what was moved so far stays moved.
 */
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { locateFile, sizeOf } from './database-path.js'
import { loadDriver, type SqliteHandle } from './driver.js'
import { invalidOptionError, toStoreError } from './errors.js'
import { assertHookswitchFile } from './integrity-check.js'
import { APPLICATION_ID } from './migrations.js'
import { BUSY_TIMEOUT_MS, configureConnection, hasIncrementalVacuum, setBusyTimeout } from './pragmas.js'
import { inTransaction } from './query.js'

/** How far `vacuumDatabase` is. */
export interface VacuumProgress {
  /** Bytes of the file when it began, with its log. */
  readonly bytesBefore: number
  /** Bytes of the file now, with its log. */
  readonly bytes: number
  /** Bytes in the file that are free. */
  readonly freeBytes: number
}

/** How long a transaction should take, ms: meanwhile no other connection can write. */
const STEP_MS = 8
/** How long the pause after a transaction is, in times its duration, and at least, ms. */
const PAUSES = 4
const MIN_PAUSE_MS = 25
/** Pages that the first transaction moves, and that one moves at most. */
const FIRST_PAGES = 16
const MAX_PAGES = 4_096
/** Pages of the log (4 MiB) at which this connection copies it into the file: before the store, whose writes would wait. */
const CHECKPOINT_PAGES = 1_000
/** How often the log is tried to be emptied, once all pages are moved: another connection may read it. */
const MAX_CHECKPOINTS = 100

/**
 * Gives the free space inside a SQLite file back to the disk. A store may use the file: its writes wait for some
 * milliseconds at a time. Blocks the calling thread for as long.
 *
 * @param options `path`: the file, required
 * @param onProgress called after each step
 * @returns the sizes at the end. While another connection reads an old state, the file becomes smaller only after that
 * @throws HookswitchError `InvalidOption` (field `path`) for a file that does not exist, is not a store of ours, is a host's
 *   database, or has several names; `StoreUnavailable` for a full disk, and while another connection writes for longer than
 *   five seconds; `StoreCorrupt`. What was given back until then stays so
 * @example
 * const { bytesBefore, bytes } = await vacuumDatabase({ path: 'hookswitch.db' })
 */
export async function vacuumDatabase(
  options: { readonly path: string },
  onProgress: (progress: VacuumProgress) => void = () => {},
): Promise<VacuumProgress> {
  const location = locateFile('vacuumDatabase', options)
  const { path } = location
  // A log belongs to one name: changes under another one would damage what a store writes under its own.
  const { nlink } = statSync(path)
  if (nlink > 1)
    throw invalidOptionError('path', `has ${nlink} names (hard links), remove all but one: ${path}`)
  const db = new (loadDriver().DatabaseSync)(path)
  try {
    setBusyTimeout(db, BUSY_TIMEOUT_MS)
    assertHookswitchFile(db, location, false)
    if (read(db, 'application_id') !== APPLICATION_ID || !hasIncrementalVacuum(db))
      throw invalidOptionError('path', `is not a file that hookswitch created for itself: ${path}`)
    configureConnection(db)
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    return await giveBack(db, path, onProgress)
  } catch (thrown) {
    throw toStoreError(thrown, path)
  } finally {
    db.close()
  }
}

const read = (db: SqliteHandle, pragma: string) =>
  Object.values(db.prepare(`PRAGMA ${pragma}`).get() as Readonly<Record<string, number>>)[0]!

async function giveBack(
  db: SqliteHandle,
  path: string,
  onProgress: (progress: VacuumProgress) => void,
): Promise<VacuumProgress> {
  const size = () => sizeOf(path) + sizeOf(`${path}-wal`)
  const bytesBefore = size()
  const pageBytes = read(db, 'page_size')
  const progress = () => ({ bytesBefore, bytes: size(), freeBytes: read(db, 'freelist_count') * pageBytes })
  // Not what becomes free meanwhile: a store that removes rows all the time would keep this from ending.
  let left = read(db, 'freelist_count')
  let pages = FIRST_PAGES
  while (left > 0 && read(db, 'freelist_count') > 0) {
    let startedMs = 0
    inTransaction(db, () => {
      startedMs = performance.now()
      db.exec(`PRAGMA incremental_vacuum(${Math.min(pages, left)})`)
    })
    const tookMs = performance.now() - startedMs
    left -= pages
    pages = Math.max(1, Math.min(MAX_PAGES, Math.floor((pages * STEP_MS) / Math.max(STEP_MS / 2, tookMs))))
    onProgress(progress())
    await sleep(Math.max(MIN_PAUSE_MS, tookMs * PAUSES))
  }
  await emptyLog(db)
  return progress()
}

/** Copies the log into the file, which becomes smaller by that. */
async function emptyLog(db: SqliteHandle): Promise<void> {
  // Beside writers, so that what keeps them away has little to copy.
  db.exec('PRAGMA wal_checkpoint(PASSIVE)')
  setBusyTimeout(db, STEP_MS)
  for (let tries = 0; tries < MAX_CHECKPOINTS; tries += 1) {
    if (read(db, 'wal_checkpoint(TRUNCATE)') === 0) return
    await sleep(MIN_PAUSE_MS)
  }
}
