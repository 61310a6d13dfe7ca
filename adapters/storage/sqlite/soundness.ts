import { statSync } from 'node:fs'
import type { SqliteHandle } from './driver.js'
import { damaged, invalidOption, resultCode } from './errors.js'
import type { Place } from './place.js'

/**
 * Files up to this size are read whole at the start, in a few tenths of a second. A larger one would keep a service
 * down for minutes after every crash, and a crash damages nothing: the log has checksums. What a disk has damaged deep
 * inside is told by the call that meets it.
 */
const CHECKED_BYTES = 64 * 1024 * 1024

/** `PRAGMA application_id` of files that are ours alone: "HkSw". */
const OURS = 0x486b5377

/**
 * Refuses a file of another program, and one whose contents are lost, before anything is written. Never takes what was
 * full once for new.
 *
 * @param wasSetUp whether our tables were made here before
 * @throws HookswitchError `InvalidOption` for another program's, `StoreCorrupt`
 */
export function refuseWrongFile(db: SqliteHandle, { path, field }: Place, wasSetUp: boolean): void {
  const names = tablesOf(db, { path, field }, wasSetUp)
  if (names.some(isOurs)) return
  if (wasSetUp) throw damaged(path, 'it has lost its tables; or remove it to start anew')
  if (field === 'database') return
  const { application_id: program } = db.prepare('PRAGMA application_id').get() as { application_id: number }
  if (names.length > 0 || (program !== 0 && program !== OURS)) {
    throw invalidOption(field, `is a database of another program: ${path}`)
  }
}

/**
 * Looks for damage, in files that are small enough.
 *
 * @throws HookswitchError `StoreCorrupt`
 */
export function refuseDamage(db: SqliteHandle, { path, field }: Place): void {
  const bytes = sizeOf(path)
  const { page_size: page } = db.prepare('PRAGMA page_size').get() as { page_size: number }
  // A crash may leave half a page at the end, and the whole one in the log.
  if (bytes % page !== 0 && sizeOf(`${path}-wal`) === 0) throw damaged(path, 'its end is missing')
  if (bytes > CHECKED_BYTES) return
  // Of a host's file ours only: its own rows may break its own rules, which the check tells of too.
  const parts = field === 'database' ? tableNames(db).filter(isOurs) : [1]
  for (const part of parts) {
    const [row] = db.prepare(`PRAGMA quick_check(${part})`).all() as { quick_check: string }[]
    if (row && row.quick_check !== 'ok') throw damaged(path, row.quick_check)
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** SQLite's own words for a first page that is none. */
const NOTADB = 26

function tablesOf(db: SqliteHandle, { path, field }: Place, wasSetUp: boolean): readonly string[] {
  try {
    return tableNames(db)
  } catch (thrown) {
    if (resultCode(thrown) !== NOTADB || wasSetUp) throw thrown
    const sentence = `is no SQLite database, but a file of another program, or its beginning is damaged: ${path}`
    throw invalidOption(field, sentence, thrown)
  }
}

function tableNames(db: SqliteHandle): readonly string[] {
  const rows = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  return (rows as { name: string }[]).map(({ name }) => name)
}

const isOurs = (name: string) => name.startsWith('hookswitch_')
