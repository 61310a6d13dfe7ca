/** Creates the tables, and brings those of an earlier version up to date. */
import type { DatabasePath } from './database-path.js'
import type { SqliteHandle } from './driver.js'
import { corruptError, invalidOptionError } from './errors.js'
import { inTransaction } from './query.js'
import { SCHEMA_1 } from './schema.js'

/** SQL that makes each version from the one before, beginning with version 1. A released step never changes; new ones are appended. */
const STEPS: readonly string[] = [SCHEMA_1]

/** "HkSw": the database belongs to hookswitch only (https://www.sqlite.org/fileformat.html 1.3.16). */
export const APPLICATION_ID = 0x486b5377

/**
 * Creates our tables or executes the steps that they lack, in one transaction. The caller has checked that the file may be ours
 * (`assertHookswitchFile`).
 *
 * The version is stored in `hookswitch_meta` and not in `user_version`, which belongs to the host in a host's file.
 * `application_id` is set only in a file without tables.
 *
 * @param db in no transaction
 * @throws HookswitchError `InvalidOption` (field: the option that named the file) for tables of a newer version, and of one before
 *   version 1; `StoreCorrupt`. Nothing has been written then
 */
export function migrateSchema(db: SqliteHandle, location: DatabasePath, steps = STEPS): void {
  const version = versionOf(db, location.path)
  if (version === steps.length) {
    assertNumbers(db, location.path, META, META_OF_OWNER)
    return
  }
  if (version !== undefined && (version > steps.length || version < 1)) {
    const count = steps.length
    const sentence =
      version < 1
        ? `was written by an older hookswitch (schema ${version}, this version supports ${count}), open it with that version`
        : `was written by a newer hookswitch (schema ${version}, this version supports ${count}), update the package`
    throw invalidOptionError(location.field, `${sentence}: ${location.path}`)
  }
  inTransaction(db, () => {
    if (version === undefined) createMeta(db)
    for (const step of steps.slice(version)) db.exec(step)
    db.prepare("update hookswitch_meta set value = ? where name = 'schema'").run(steps.length)
  })
}

/** The version of our tables; `undefined`: they do not exist. @throws HookswitchError `StoreCorrupt` */
function versionOf(db: SqliteHandle, path: string): number | undefined {
  const exists = db.prepare("select 1 from sqlite_schema where name = 'hookswitch_meta'").get() !== undefined
  if (!exists) return undefined
  assertNumbers(db, path, ['schema'])
  const row = db.prepare("select value from hookswitch_meta where name = 'schema'").get()
  return (row as { readonly value: number }).value
}

/** What `hookswitch_meta` has from the beginning: schema version, owner's term, reserved positions, whether rows were erased. */
const META = ['schema', 'term', 'position', 'erased']
/** What it has once a node owns the file. */
const META_OF_OWNER = ['store_time', 'store_time_offset', 'position_ahead']

/** @throws HookswitchError `StoreCorrupt` if one is missing, or no number that JavaScript has */
function assertNumbers(
  db: SqliteHandle,
  path: string,
  names: readonly string[],
  optional: readonly string[] = [],
): void {
  const select = db.prepare(
    `select typeof(value) = 'integer' and value between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} as valid
      from hookswitch_meta where name = ?`,
  )
  for (const name of [...names, ...optional]) {
    const row = select.get(name) as { readonly valid: 0 | 1 } | undefined
    if (row ? row.valid === 0 : names.includes(name))
      throw corruptError(path, `hookswitch_meta has no number ${name}`)
  }
}

/** Creates `hookswitch_meta`. Store time is added when a node first uses it. */
function createMeta(db: SqliteHandle): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema').get() === undefined
  if (isEmpty) db.exec(`pragma application_id = ${APPLICATION_ID}`)
  db.exec('create table hookswitch_meta (name text primary key, value integer not null) without rowid')
  for (const name of META) {
    db.prepare('insert into hookswitch_meta (name, value) values (?, 0)').run(name)
  }
}
