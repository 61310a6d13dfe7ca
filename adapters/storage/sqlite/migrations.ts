import type { SqliteHandle } from './driver.js'
import { invalidOption } from './errors.js'
import type { Place } from './place.js'
import { SCHEMA_1 } from './schema.js'

/** Each is one transaction, never changed once it was released: the next one is added behind it. */
const MIGRATIONS: readonly string[] = [SCHEMA_1]

/** What this version of the store works on. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** "HkSw": the database is ours alone (https://www.sqlite.org/fileformat.html 1.3.16). */
export const APPLICATION_ID = 0x486b5377

/**
 * Brings our tables to this version, each step in a transaction of its own.
 *
 * The version stands in a table of ours, `hookswitch_meta`, not in `user_version`: where the file is the host's, so is
 * that. `application_id` is set in a file that had no tables. Whether the file may be ours is looked at before
 * (`refuseWrongFile`).
 *
 * @param db in no transaction
 * @throws HookswitchError `InvalidOption` (field: the option that named the file) for tables of a newer version; then
 *   nothing was written
 */
export function migrate(db: SqliteHandle, place: Place): void {
  let version = versionOf(db)
  if (version > SCHEMA_VERSION) {
    const sentence = `was written by a newer hookswitch (schema ${version}, this one knows ${SCHEMA_VERSION})`
    throw invalidOption(place.field, `${sentence}, update the package: ${place.path}`)
  }
  for (; version < SCHEMA_VERSION; version += 1) {
    db.exec('begin immediate')
    try {
      if (version === 0) begin(db)
      db.exec(MIGRATIONS[version]!)
      db.prepare("update hookswitch_meta set value = ? where name = 'schema'").run(version + 1)
      db.exec('commit')
    } catch (thrown) {
      undo(db)
      throw thrown
    }
  }
}

/** The version of our tables; 0: there are none. */
function versionOf(db: SqliteHandle): number {
  const isThere = db.prepare("select 1 from sqlite_schema where name = 'hookswitch_meta'").get() !== undefined
  if (!isThere) return 0
  const row = db.prepare("select value from hookswitch_meta where name = 'schema'").get()
  return (row as { readonly value: number }).value
}

/** Beside the rows: the schema's version, the owner's term, how far positions are given out, whether to scrub. */
function begin(db: SqliteHandle): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema').get() === undefined
  if (isEmpty) db.exec(`pragma application_id = ${APPLICATION_ID}`)
  db.exec('create table hookswitch_meta (name text primary key, value integer not null) without rowid')
  for (const name of ['schema', 'term', 'position', 'erased']) {
    db.prepare('insert into hookswitch_meta (name, value) values (?, 0)').run(name)
  }
}

function undo(db: SqliteHandle): void {
  try {
    db.exec('rollback')
  } catch {
    // A full disk, and a few other errors, have undone it already.
  }
}
