/** Opens the database in the current thread: lock, checks, schema, engine. Requests come through `run`. */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { type DatabasePath, resolveDatabasePath } from './database-path.js'
import { type DriverName, loadDriver, type SqliteDriver, type SqliteHandle } from './driver.js'
import { createEngine, type Engine } from './engine.js'
import { ANY_ERROR, corruptError, messageOf, resultCode, toStoreError } from './errors.js'
import { createGroupCommit, type RunGroup } from './group-commit.js'
import { assertHookswitchFile, assertUndamaged } from './integrity-check.js'
import { assertLogUndamaged } from './log-check.js'
import { assertNotMigrated } from './migration-marker.js'
import { migrateSchema } from './migrations.js'
import { lockOtherNames, recordName } from './other-names.js'
import {
  BUSY_TIMEOUT_MS,
  checkpointWal,
  configureConnection,
  enableIncrementalVacuum,
  enableWal,
  setBusyTimeout,
} from './pragmas.js'
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
 * `StoreUnavailable`, `StoreCorrupt`), no row has changed, except those of an older version that was brought up to date.
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
  const { path } = location
  const use = ({ db, lock, close }: OwnerConnection): SqliteDatabase => {
    assertNotMigrated(db, location)
    // Before a row is written: its statements find damage in the schema.
    const engine = createEngineOf(db, location)
    recordName(db, path)
    // What a crash left at the end of the log would look like damage after the next crash.
    checkpointWal(db)
    const run = createGroupCommit({ db, engine, path, busyTimeoutMs, assertOwner: lock.assertHeld })
    lock.markInitialized()
    return {
      run,
      path,
      takeNotice: engine.takeNotice,
      webhookVersion: engine.webhookVersion,
      secret: () => loadEncryptionKey(db, path, warn),
      replaceSecret: (secret) => replaceEncryptionKey(path, secret),
      close: () => close(true),
    }
  }
  return openConnection(location, loadDriver(request.driver), use, { warn })
}

/** @throws HookswitchError `StoreCorrupt` where a statement does not fit the schema of our own file */
function createEngineOf(db: SqliteHandle, { path, field }: DatabasePath): Engine {
  try {
    return createEngine(db)
  } catch (thrown) {
    // In a host's file it may be a trigger of the host.
    if (field === 'database' || resultCode(thrown) !== ANY_ERROR) throw thrown
    throw corruptError(path, messageOf(thrown), { cause: thrown })
  }
}

/** The connection of the one process that uses the file. */
export interface OwnerConnection {
  readonly db: SqliteHandle
  readonly lock: ProcessLock
  /** @param keepLockFile see `ProcessLock.release` */
  close(keepLockFile: boolean): void
}

/**
 * Locks the file for this process, checks it, and creates or updates its tables. A missing file is created.
 *
 * @param use if it throws, the connection is closed, and a new file removed
 */
export function openConnection<Result>(
  location: DatabasePath,
  driver: SqliteDriver,
  use: (connection: OwnerConnection) => Result,
  {
    check = () => {},
    warn = () => {},
  }: {
    /** Called with the file as it was found. */
    check?(db: SqliteHandle): void
    /** Logs a problem that the host should fix. */
    warn?(sentence: string): void
  } = {},
): Result {
  const { path, field } = location
  const lock = acquireProcessLock(driver, path)
  const isNew = !existsSync(path)
  const locks = [lock]
  const release = (keepLockFile: boolean) => {
    for (const held of locks) held.release(keepLockFile && held === lock)
  }
  let opened: SqliteHandle | undefined
  try {
    // A host's database may be open elsewhere, and its log be written at this moment.
    if (field === 'path' && !isNew) assertLogUndamaged(path)
    // Readable by the owner only; SQLite gives the log the same permissions.
    if (isNew) closeSync(openSync(path, 'wx', 0o600))
    const db = new driver.DatabaseSync(path)
    opened = db
    setBusyTimeout(db, BUSY_TIMEOUT_MS)
    locks.push(...lockOtherNames(driver, db, path, warn))
    // A missing file was removed on purpose: a new one is created, even if the lock file says that it was initialized.
    assertHookswitchFile(db, location, lock.wasInitialized && !isNew)
    check(db)
    configureConnection(db)
    if (field === 'path') enableIncrementalVacuum(db)
    assertUndamaged(db, location)
    enableWal(db, path)
    migrateSchema(db, location)
    const close = (keepLockFile: boolean) => {
      checkpointWal(db)
      try {
        db.close()
      } finally {
        release(keepLockFile)
      }
    }
    return use({ db, lock, close })
  } catch (thrown) {
    opened?.close()
    // The database file last: a log without a database looks like the remains of a damaged one.
    if (isNew) for (const suffix of ['-wal', '-shm', '-journal', '']) rmSync(path + suffix, { force: true })
    release(false)
    throw toStoreError(thrown, path)
  }
}
