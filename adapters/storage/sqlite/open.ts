/** Opens the database in the current thread: lock, checks, schema, engine. Requests come through `run`. */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { type DatabasePath, resolveDatabasePath } from './database-path.js'
import { type DriverName, loadDriver, type SqliteHandle } from './driver.js'
import { createEngine } from './engine.js'
import { toStoreError } from './errors.js'
import { createGroupCommit, type RunGroup } from './group-commit.js'
import { assertHookswitchFile, assertUndamaged } from './integrity-check.js'
import { assertLogUndamaged } from './log-check.js'
import { assertNotMigrated } from './migration-marker.js'
import { migrateSchema } from './migrations.js'
import { BUSY_TIMEOUT_MS, checkpointWal, configureConnection, enableWal, setBusyTimeout } from './pragmas.js'
import { acquireProcessLock, type ProcessLock } from './process-lock.js'
import { loadEncryptionKey, replaceEncryptionKey } from './secret.js'

/** Which database to open. Can be sent to a thread. */
export interface OpenRequest {
  /** As the host passed it. */
  readonly path: string
  readonly field: DatabasePath['field']
  /** The driver of the host's handle. Default: the first one available. */
  readonly driver?: DriverName
}

/** A database that is open in this thread. */
export interface SqliteDatabase {
  readonly run: RunGroup
  /** Whether committed calls since the last call of this method concern the subscribers. */
  takeNotice(): boolean
  /** Number of webhook changes since it was opened. */
  webhookVersion(): number
  /** The database file. */
  readonly path: string
  /** The key that encrypts secrets. Throws `StoreCorrupt`, `StoreUnavailable`. */
  secret(): string
  /** Replaces the key file, if there is one. Throws `InvalidOption`, `StoreUnavailable`. */
  replaceSecret(secret: string): void
  close(): void
}

/**
 * Opens the database and locks it for this process. If it throws (`InvalidOption` naming the option,
 * `StoreUnavailable`, `StoreCorrupt`), nothing on the disk has changed.
 *
 * @param warn logs a problem that the host should fix
 * @param busyTimeoutMs how long a call may block this thread while another connection writes
 */
export function openDatabase(
  request: OpenRequest,
  warn: (sentence: string) => void,
  busyTimeoutMs: number = BUSY_TIMEOUT_MS,
): SqliteDatabase {
  const location = resolveDatabasePath(request.path, request.field)
  const driver = loadDriver(request.driver)
  const lock = acquireProcessLock(driver, location.path)
  const isNew = !existsSync(location.path)
  let db: SqliteHandle | undefined
  try {
    // A host's database may be open elsewhere, and its log be written at this moment.
    if (location.field === 'path' && !isNew) assertLogUndamaged(location.path)
    // Readable by the owner only; SQLite gives the log the same permissions.
    if (isNew) closeSync(openSync(location.path, 'wx', 0o600))
    db = new driver.DatabaseSync(location.path)
    return initialize(db, { lock, location, isNew, warn, busyTimeoutMs })
  } catch (thrown) {
    db?.close()
    // The database file last: a log without a database looks like the remains of a damaged one.
    if (isNew)
      for (const suffix of ['-wal', '-shm', '-journal', '']) rmSync(location.path + suffix, { force: true })
    lock.release(false)
    throw toStoreError(thrown, location.path)
  }
}

interface OpenContext {
  readonly lock: ProcessLock
  readonly location: DatabasePath
  readonly isNew: boolean
  readonly warn: (sentence: string) => void
  readonly busyTimeoutMs: number
}

function initialize(
  db: SqliteHandle,
  { lock, location, isNew, warn, busyTimeoutMs }: OpenContext,
): SqliteDatabase {
  const { path } = location
  setBusyTimeout(db, BUSY_TIMEOUT_MS)
  // A missing file was removed on purpose: a new one is created, even if the lock file says that it was initialized.
  assertHookswitchFile(db, location, lock.wasInitialized && !isNew)
  configureConnection(db)
  assertUndamaged(db, location)
  enableWal(db, path)
  migrateSchema(db, location)
  assertNotMigrated(db, location)
  // What a crash left at the end of the log would look like damage after the next crash.
  checkpointWal(db)
  const engine = createEngine(db)
  const run = createGroupCommit({
    db,
    engine,
    path,
    busyTimeoutMs,
    assertOwner: lock.assertHeld,
  })
  lock.markInitialized()
  return {
    run,
    path,
    takeNotice: engine.takeNotice,
    webhookVersion: engine.webhookVersion,
    secret: () => loadEncryptionKey(db, path, warn),
    replaceSecret: (secret) => replaceEncryptionKey(path, secret),
    close() {
      checkpointWal(db)
      try {
        db.close()
      } finally {
        lock.release(true)
      }
    },
  }
}
