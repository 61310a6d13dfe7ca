/** Checks made while the database is opened: whether the file is ours, and whether it is damaged. */
import { type DatabasePath, sizeOf } from './database-path.js'
import type { SqliteHandle } from './driver.js'
import { corruptError, invalidOptionError, resultCode } from './errors.js'
import { APPLICATION_ID } from './migrations.js'

/**
 * Files up to this size are checked completely when they are opened, which takes a few tenths of a second. Checking a
 * larger one would keep a service down for minutes after every crash, although a crash damages nothing: the log has
 * checksums. Damage deep inside a large file is reported by the call that reads it.
 */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/**
 * Rejects a file of another program, and a file that has lost our tables, before anything is written. A file that once
 * had contents is never treated as new.
 *
 * @param wasInitialized whether our tables have been created here before
 * @throws HookswitchError `InvalidOption` for a file of another program, `StoreCorrupt`
 */
export function assertHookswitchFile(
  db: SqliteHandle,
  { path, field }: DatabasePath,
  wasInitialized: boolean,
): void {
  const names = readTableNames(db, { path, field }, wasInitialized)
  if (names.some(isOurs)) return
  if (wasInitialized) {
    throw corruptError(path, 'its tables are missing', {
      advice: 'restore it from a backup, or remove it to start with an empty database',
    })
  }
  if (field === 'database') return
  const { application_id: id } = db.prepare('PRAGMA application_id').get() as { application_id: number }
  if (names.length > 0 || (id !== 0 && id !== APPLICATION_ID)) {
    throw invalidOptionError(field, `is a database of another program: ${path}`)
  }
}

/**
 * Runs SQLite's integrity check on files that are small enough.
 *
 * @throws HookswitchError `StoreCorrupt`
 */
export function assertUndamaged(db: SqliteHandle, { path, field }: DatabasePath): void {
  const bytes = sizeOf(path)
  const { page_size: page } = db.prepare('PRAGMA page_size').get() as { page_size: number }
  // A crash may leave half a page at the end; the whole page is then in the log.
  if (bytes % page !== 0 && sizeOf(`${path}-wal`) === 0) throw corruptError(path, 'its end is missing')
  if (bytes > MAX_CHECKED_BYTES) return
  // In a host's file only our tables: the host's rows may violate the host's constraints, which the check reports too.
  const parts = field === 'database' ? tableNames(db).filter(isOurs) : [1]
  for (const part of parts) {
    const [row] = db.prepare(`PRAGMA quick_check(${part})`).all() as { quick_check: string }[]
    if (row && row.quick_check !== 'ok') throw corruptError(path, row.quick_check)
  }
}

/** SQLite's result code for an invalid first page. */
const NOTADB = 26

function readTableNames(
  db: SqliteHandle,
  { path, field }: DatabasePath,
  wasInitialized: boolean,
): readonly string[] {
  try {
    return tableNames(db)
  } catch (thrown) {
    if (resultCode(thrown) !== NOTADB || wasInitialized) throw thrown
    const sentence = `is not an SQLite database, but a file of another program, or its beginning is damaged: ${path}`
    throw invalidOptionError(field, sentence, thrown)
  }
}

function tableNames(db: SqliteHandle): readonly string[] {
  const rows = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  return (rows as { name: string }[]).map(({ name }) => name)
}

const isOurs = (name: string) => name.startsWith('hookswitch_')
