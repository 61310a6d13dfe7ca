import { HookswitchError, type Log } from 'hookswitch/store'
import { webhookChanges } from './schema-changes.js'
import { groundIndexes, groundTables } from './schema-ground.js'
import { queueTables } from './schema-queue.js'
import type { Session, Transaction } from './session.js'
import { migrationStatements } from './sql/migrations.js'

/** One step of the schema. Never changed once it was released: the next one is added behind it. */
interface Migration {
  readonly version: number
  /** SQL of several statements. */
  text(schema: string): string
}

const MIGRATIONS: readonly Migration[] = [
  { version: 1, text: (s) => groundTables(s) + queueTables(s) + groundIndexes(s) },
  { version: 2, text: webhookChanges },
]

/** What this version of the store works on. */
export const SCHEMA_VERSION = MIGRATIONS[MIGRATIONS.length - 1]!.version

/** Oldest server that has all that the statements use. */
const OLDEST_SERVER = 13

/**
 * Whether this is a server that the store can work on.
 *
 * @throws HookswitchError `InvalidOption` for one that is too old, or a database that cannot hold every text
 */
export async function checkServer(session: Session, field: string): Promise<void> {
  const [row] = await session.query<{ version: number; encoding: string }>(migrationStatements('').server, [])
  const { version, encoding } = row!
  const major = Math.floor(version / 10_000)
  if (!(major >= OLDEST_SERVER)) {
    const sentence = `PostgreSQL ${major} is too old: ${OLDEST_SERVER} or later is needed`
    throw new HookswitchError('InvalidOption', sentence, { field })
  }
  if (encoding !== 'UTF8') {
    const sentence = `the encoding of this database is ${encoding}: create one with ENCODING 'UTF8'`
    throw new HookswitchError('InvalidOption', sentence, { field })
  }
}

/**
 * The schema's version; 0: nothing is there yet.
 *
 * @param name as the option says it
 * @throws HookswitchError `InvalidOption` (field `schema`) for tables of somebody else, and of a newer version of ours
 */
export async function versionOf(on: Transaction, name: string, schema: string): Promise<number> {
  const sql = migrationStatements(schema)
  const [found] = await on.query<{ ours: boolean; tables: number }>(sql.found, [name])
  if (!found!.ours) {
    if (found!.tables === 0) return 0
    const sentence = `the schema ${name} holds tables of somebody else: name another with the option schema`
    throw new HookswitchError('InvalidOption', sentence, { field: 'schema' })
  }
  const [row] = await on.query<{ version: number }>(sql.version, [])
  const { version } = row!
  if (version > SCHEMA_VERSION) {
    const sentence = `the schema ${name} is of version ${version}, this package knows ${SCHEMA_VERSION}: update hookswitch`
    throw new HookswitchError('InvalidOption', sentence, { field: 'schema' })
  }
  return version
}

/**
 * Brings the schema to this version, one transaction a step. Nodes that start together wait for each other.
 *
 * @param session one that waits long enough for an index over all rows
 */
export async function migrate(session: Session, name: string, schema: string, log: Log): Promise<void> {
  const sql = migrationStatements(schema)
  for (const { version, text } of MIGRATIONS) {
    const done = await session.transaction(async (tx) => {
      await tx.query(sql.lock, [`hookswitch migrations of ${name}`])
      const before = await versionOf(tx, name, schema)
      if (before >= version) return false
      // With IF NOT EXISTS it would need the right to make schemas even where there is nothing to make.
      if ((await tx.query(sql.schema, [name])).length === 0) await tx.query(sql.createSchema, [])
      if (before === 0) await tx.query(sql.createVersions, [])
      await tx.query({ name: '', text: text(schema) }, [])
      await tx.query(sql.record, [version])
      return true
    })
    if (done) log.info({ schema: name, version }, 'the PostgreSQL schema was brought to a new version')
  }
  // Without figures the first plans would be guesses.
  const tables = await session.query<{ table: string }>(sql.tables, [name])
  await session.query(
    { name: '', text: `analyze ${tables.map(({ table }) => `${schema}.${table}`).join(', ')}` },
    [],
  )
}
