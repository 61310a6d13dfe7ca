import { existsSync } from 'node:fs'
import type { Move, MoveSource } from 'hookswitch/store'
import { loadDriver, type SqliteHandle } from './driver.js'
import { dumpedRows } from './dump-rows.js'
import { invalidOption, storeError } from './errors.js'
import { migrate } from './migrations.js'
import { type MoveMark, markMove, moveMarkOf, wasMoved } from './move-mark.js'
import { checkedOptions } from './options.js'
import { takeOwnership } from './owner-lock.js'
import { checkedPlace, type Place } from './place.js'
import { emptyLog, settleConnection, useLog, WAIT_MS, waitFor } from './pragmas.js'
import { query } from './query.js'
import { refuseDamage, refuseWrongFile } from './soundness.js'

/** Which file. */
export interface SqliteSourceOptions {
  /** The database file. */
  readonly path: string
}

/**
 * Everything in a SQLite file, to be moved to another store. Until it is closed no other process can open the file.
 *
 * @throws HookswitchError `InvalidOption` (field `path`) where no store of ours is, and for one that was moved before;
 *   `StoreUnavailable` while a service uses it; `StoreCorrupt`
 * @example
 * const source = sqliteSource({ path: 'hookswitch.db' })
 * await moveToPostgres(source, { connectionString }).finally(source.close)
 */
export function sqliteSource(options: SqliteSourceOptions): MoveSource {
  const { db, place, close } = hold(options)
  const { path } = place
  const mark = (to: MoveMark | undefined) => {
    try {
      markMove(db, to)
    } catch (thrown) {
      throw storeError(thrown, path)
    }
  }
  try {
    const found = moveMarkOf(db)
    if (found?.isDone) throw wasMoved(found, place)
    return {
      name: path,
      lastPosition: query<{ readonly value: number }>(
        db,
        "select value from hookswitch_meta where name = 'position'",
      ).get()!.value,
      begun: found && { id: found.id, to: found.to },
      rows: () => dumpedRows(db, path),
      begin: ({ id, to }) => mark({ id, to, isDone: false }),
      end: ({ id, to }) => mark({ id, to, isDone: true }),
      abandon: () => mark(undefined),
      close,
    }
  } catch (thrown) {
    close()
    throw storeError(thrown, path)
  }
}

/**
 * Brings a file that was moved, or may be, back into use: for who gives the other store up. What is pending in both
 * would be sent twice.
 *
 * @returns where it had been moved to; `undefined`: nowhere
 * @throws HookswitchError as `sqliteSource`
 */
export function undoMove(options: SqliteSourceOptions): Move['to'] | undefined {
  const { db, place, close } = hold(options)
  try {
    const mark = moveMarkOf(db)
    markMove(db, undefined)
    return mark?.to
  } catch (thrown) {
    throw storeError(thrown, place.path)
  } finally {
    close()
  }
}

interface Held {
  readonly db: SqliteHandle
  readonly place: Place
  close(): void
}

/** Opens a file that is there, for this process alone. */
function hold(options: SqliteSourceOptions): Held {
  const chosen = checkedOptions(options)
  if (chosen.kind === 'database') throw invalidOption('path', 'is required: the name of a file')
  const place = checkedPlace(chosen.path, 'path')
  const { path } = place
  if (!existsSync(path)) throw invalidOption('path', `names a file that is not there: ${path}`)
  const driver = loadDriver()
  const lock = takeOwnership(driver, path)
  let db: SqliteHandle | undefined
  try {
    const opened = new driver.DatabaseSync(path)
    db = opened
    waitFor(opened, WAIT_MS)
    refuseWrongFile(opened, place, lock.wasSetUp)
    refuseNew(opened, place)
    settleConnection(opened)
    refuseDamage(opened, place)
    useLog(opened, path)
    migrate(opened, place)
    let isOpen = true
    return {
      db: opened,
      place,
      close() {
        if (!isOpen) return
        isOpen = false
        emptyLog(opened)
        try {
          opened.close()
        } finally {
          lock.release(false)
        }
      },
    }
  } catch (thrown) {
    db?.close()
    lock.release(false)
    throw storeError(thrown, path)
  }
}

/** An empty file, or a host's, in which we were never. */
function refuseNew(db: SqliteHandle, { path, field }: Place): void {
  const ours = db.prepare("select 1 from sqlite_schema where name = 'hookswitch_meta'").get()
  if (ours === undefined) throw invalidOption(field, `holds nothing of hookswitch: ${path}`)
}
