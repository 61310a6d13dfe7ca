/** Files as earlier versions of the store made them. */
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { APPLICATION_ID } from '../../../adapters/storage/sqlite/migrations.js'
import { SCHEMA_1 } from '../../../adapters/storage/sqlite/schema.js'
import { SCHEMA_9 } from '../../../adapters/storage/sqlite/schema-account-indexes.js'
import { SCHEMA_4 } from '../../../adapters/storage/sqlite/schema-account-lists.js'
import { SCHEMA_3 } from '../../../adapters/storage/sqlite/schema-encryption.js'
import { SCHEMA_8 } from '../../../adapters/storage/sqlite/schema-failures.js'
import { SCHEMA_2 } from '../../../adapters/storage/sqlite/schema-open-legs.js'
import { SCHEMA_5, SCHEMA_6 } from '../../../adapters/storage/sqlite/schema-queue.js'
import { SCHEMA_7 } from '../../../adapters/storage/sqlite/schema-stats.js'

const SCHEMAS = [SCHEMA_1, SCHEMA_2, SCHEMA_3, SCHEMA_4, SCHEMA_5, SCHEMA_6, SCHEMA_7, SCHEMA_8, SCHEMA_9]

/** Creates a file of an earlier schema version: 1 (hookswitch 0.1) to 9. The caller closes it. */
export function createOldFile(path: string, version: number): SqliteHandle {
  const { DatabaseSync } = loadDriver()
  const db = new DatabaseSync(path)
  db.exec(`pragma application_id = ${APPLICATION_ID}; pragma journal_mode = wal;
    create table hookswitch_meta (name text primary key, value integer not null) without rowid;
    insert into hookswitch_meta values ('schema', ${version}), ('term', 0), ('position', 0), ('erased', 0)`)
  for (const schema of SCHEMAS.slice(0, version)) db.exec(schema)
  return db
}
