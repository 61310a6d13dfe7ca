/** Creates and upgrades the tables. */
import type { DatabasePath } from './database-path.js'
import type { SqliteHandle } from './driver.js'
import { invalidOptionError } from './errors.js'
import { moveQueue } from './migrate-queue.js'
import { inTransaction } from './query.js'
import { SCHEMA_1 } from './schema.js'
import { SCHEMA_9 } from './schema-account-indexes.js'
import { SCHEMA_4 } from './schema-account-lists.js'
import { SCHEMA_3 } from './schema-encryption.js'
import { SCHEMA_8 } from './schema-failures.js'
import { SCHEMA_11 } from './schema-first-failure.js'
import { SCHEMA_2 } from './schema-open-legs.js'
import { SCHEMA_5, SCHEMA_6 } from './schema-queue.js'
import { SCHEMA_10 } from './schema-replay-index.js'
import { SCHEMA_12 } from './schema-replays.js'
import { SCHEMA_7 } from './schema-stats.js'

/** A released migration never changes; new ones are appended. */
const MIGRATIONS: readonly string[] = [
  SCHEMA_1,
  SCHEMA_2,
  SCHEMA_3,
  SCHEMA_4,
  SCHEMA_5,
  SCHEMA_6,
  SCHEMA_7,
  SCHEMA_8,
  SCHEMA_9,
  SCHEMA_10,
  SCHEMA_11,
  SCHEMA_12,
]

/** The version whose old tables have to be empty before they are removed. */
const MOVES_QUEUE = 5

/** The schema version that this version of the store uses. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** "HkSw": the database belongs to hookswitch only (https://www.sqlite.org/fileformat.html 1.3.16). */
export const APPLICATION_ID = 0x486b5377

/**
 * Creates our tables in one transaction, or migrates them: one transaction per step, or per some hundred events. After a crash the next call
 * continues. The caller has checked that the file may be ours
 * (`assertHookswitchFile`).
 *
 * The version is stored in `hookswitch_meta` and not in `user_version`, which belongs to the host in a host's file.
 * `application_id` is set only in a file without tables.
 *
 * @param db in no transaction
 * @param maxBatches see `moveQueue`
 * @throws HookswitchError `InvalidOption` (field: the option that named the file) for tables of a newer version; nothing
 *   has been written then
 */
export function migrateSchema(db: SqliteHandle, location: DatabasePath, maxBatches?: number): void {
  let version = versionOf(db)
  if (version > SCHEMA_VERSION) {
    const sentence = `was written by a newer hookswitch (schema ${version}, this version supports ${SCHEMA_VERSION})`
    throw invalidOptionError(location.field, `${sentence}, update the package: ${location.path}`)
  }
  if (version === 0) {
    inTransaction(db, () => {
      createMeta(db)
      for (; version < SCHEMA_VERSION; version += 1) migrateFrom(db, version)
    })
  }
  for (; version < SCHEMA_VERSION; version += 1) {
    if (version === MOVES_QUEUE) moveQueue(db, maxBatches)
    inTransaction(db, () => migrateFrom(db, version))
  }
}

function migrateFrom(db: SqliteHandle, version: number): void {
  db.exec(MIGRATIONS[version]!)
  db.prepare("update hookswitch_meta set value = ? where name = 'schema'").run(version + 1)
}

/** The version of our tables; 0: they do not exist. */
function versionOf(db: SqliteHandle): number {
  const exists = db.prepare("select 1 from sqlite_schema where name = 'hookswitch_meta'").get() !== undefined
  if (!exists) return 0
  const row = db.prepare("select value from hookswitch_meta where name = 'schema'").get()
  return (row as { readonly value: number }).value
}

/**
 * Creates `hookswitch_meta`: schema version, owner's term, reserved positions, whether rows were erased. Store time is
 * added when a node first uses it.
 */
function createMeta(db: SqliteHandle): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema').get() === undefined
  if (isEmpty) db.exec(`pragma application_id = ${APPLICATION_ID}`)
  db.exec('create table hookswitch_meta (name text primary key, value integer not null) without rowid')
  for (const name of ['schema', 'term', 'position', 'erased']) {
    db.prepare('insert into hookswitch_meta (name, value) values (?, 0)').run(name)
  }
}
