import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { type DriverName, loadDriver, type SqliteHandle } from './driver.js'
import { createEngine } from './engine.js'
import { storeError } from './errors.js'
import { groupRunner, type RunGroup } from './group.js'
import { migrate } from './migrations.js'
import { refuseMoved } from './move-mark.js'
import { type OwnerLock, takeOwnership } from './owner-lock.js'
import { checkedPlace, type Place } from './place.js'
import { emptyLog, settleConnection, useLog, WAIT_MS, waitFor } from './pragmas.js'
import { secretOf } from './secret.js'
import { refuseDamage, refuseWrongFile } from './soundness.js'
import { gatheredWakeUps, type WakeUp } from './wake-ups.js'

/** What to open, as it can travel to a thread. */
export interface Opening {
  /** As the host gave it. */
  readonly path: string
  readonly field: Place['field']
  /** The driver that the host's handle is of. Default: the one at hand. */
  readonly driver?: DriverName
}

/** An open database in this thread. */
export interface Session {
  readonly run: RunGroup
  /** Of committed calls, once. */
  takeWakeUps(): readonly WakeUp[]
  /** How often webhooks have changed since it was opened. */
  webhookChanges(): number
  /** The database file. */
  readonly path: string
  /** The key for secrets at rest. Throws `StoreCorrupt`, `StoreUnavailable`. */
  secret(): string
  close(): void
}

/**
 * Opens the database and makes it this process's own.
 *
 * Nothing is left changed on the disk where it throws: `InvalidOption` naming the option, `StoreUnavailable`,
 * `StoreCorrupt`.
 *
 * @param warn told what the host should know
 * @param waitMs how long a call may block this thread while another connection writes
 */
export function openSession(
  opening: Opening,
  warn: (sentence: string) => void,
  waitMs: number = WAIT_MS,
): Session {
  const place = checkedPlace(opening.path, opening.field)
  const driver = loadDriver(opening.driver)
  const lock = takeOwnership(driver, place.path)
  const isNew = !existsSync(place.path)
  let db: SqliteHandle | undefined
  try {
    // What is in it concerns nobody else; its log gets the same rights from SQLite.
    if (isNew) closeSync(openSync(place.path, 'wx', 0o600))
    db = new driver.DatabaseSync(place.path)
    return session(db, { lock, place, isNew, warn, waitMs })
  } catch (thrown) {
    db?.close()
    // The file last: a log without it would look like what is left of a damaged one.
    if (isNew) for (const end of ['-wal', '-shm', '-journal', '']) rmSync(place.path + end, { force: true })
    lock.release(false)
    throw storeError(thrown, place.path)
  }
}

interface Circumstances {
  readonly lock: OwnerLock
  readonly place: Place
  readonly isNew: boolean
  readonly warn: (sentence: string) => void
  readonly waitMs: number
}

function session(db: SqliteHandle, { lock, place, isNew, warn, waitMs }: Circumstances): Session {
  const { path } = place
  waitFor(db, WAIT_MS)
  // Whoever removed the file wants a new one.
  refuseWrongFile(db, place, lock.wasSetUp && !isNew)
  settleConnection(db)
  refuseDamage(db, place)
  useLog(db, path)
  migrate(db, place)
  refuseMoved(db, place)
  const wakeUps = gatheredWakeUps()
  const engine = createEngine(db, wakeUps.gather)
  const run = groupRunner({ db, engine, wakeUps, path, waitMs })
  lock.markSetUp()
  return {
    run,
    path,
    takeWakeUps: wakeUps.take,
    webhookChanges: engine.webhookChanges,
    secret: () => secretOf(db, path, warn),
    close() {
      emptyLog(db)
      try {
        db.close()
      } finally {
        lock.release(true)
      }
    },
  }
}
