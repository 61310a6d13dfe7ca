/**
 * Other names of a database file: hard links. SQLite keeps its log beside the name under which it opens a file, and the lock
 * of this package is beside it too, so that two processes with two names would each take the file for theirs and damage it.
 * The file records the name under which it was opened last: a lock on that name keeps others away, whatever theirs is.
 */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HookswitchError } from 'hookswitch/store'
import { sizeOf } from './database-path.js'
import type { SqliteDriver, SqliteHandle } from './driver.js'
import { acquireProcessLock, type ProcessLock } from './process-lock.js'

/** The row of the name in `hookswitch_meta`. */
const NAME = 'path'

/** Records the name under which the file is open. */
export function recordName(db: SqliteHandle, path: string): void {
  if (recordedName(db) === path) return
  db.prepare('insert or replace into hookswitch_meta (name, value) values (?, ?)').run(NAME, path)
}

function recordedName(db: SqliteHandle): string | undefined {
  const hasTable = db.prepare("select 1 from sqlite_master where name = 'hookswitch_meta'").get()
  const row = hasTable && db.prepare('select value from hookswitch_meta where name = ?').get(NAME)
  return (row as { readonly value: string } | undefined)?.value
}

/**
 * Locks the other names of a file, as far as they are known: the recorded one, and those in the same folder.
 *
 * @param warn logs that the file has several names
 * @returns the locks, to be released with the file's own
 * @throws HookswitchError `StoreUnavailable` if the file is in use under another name; `StoreCorrupt` if there is a log beside
 *   another name, whose commits would be lost
 */
export function lockOtherNames(
  driver: SqliteDriver,
  db: SqliteHandle,
  path: string,
  warn: (sentence: string) => void,
): readonly ProcessLock[] {
  const { ino, dev, nlink } = statSync(path, { bigint: true })
  if (nlink < 2n) return []
  const isSame = (name: string) => {
    const stat = statSync(name, { bigint: true, throwIfNoEntry: false })
    return name !== path && stat?.ino === ino && stat.dev === dev
  }
  const folder = dirname(path)
  const recorded = recordedName(db)
  const candidates = [
    ...(recorded === undefined ? [] : [recorded]),
    ...readdirSync(folder).map((name) => join(folder, name)),
  ]
  const names = [...new Set(candidates)].filter(isSame)
  const locks: ProcessLock[] = []
  try {
    for (const name of names) {
      locks.push(acquireProcessLock(driver, name))
      if (sizeOf(`${name}-wal`) === 0) continue
      const sentence = `is also ${name}, whose log ${name}-wal has commits that are not in the file: open it by that name`
      throw new HookswitchError('StoreCorrupt', `${path} ${sentence}`)
    }
  } catch (thrown) {
    for (const lock of locks) lock.release(false)
    throw thrown
  }
  const known = names.length === 0 ? '' : `, also ${names.join(', ')}`
  warn(
    `${path} has ${nlink} names (hard links)${known}: remove the others, because a copy by another name misses the log`,
  )
  return locks
}
