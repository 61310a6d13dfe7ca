/** The versions of the schema, and the checks of a server and a schema before they are used. */
import { HookswitchError, type Log } from 'hookswitch/store'
import { withoutParentIndex } from './schema-account-indexes.js'
import { accountLists } from './schema-account-lists.js'
import { accountTables, maintenanceIndexes } from './schema-accounts.js'
import { webhookChangeMarks } from './schema-changes.js'
import { storeClockTable } from './schema-clock.js'
import { encryptionTable } from './schema-encryption.js'
import { failureIndex } from './schema-failures.js'
import { firstFailure } from './schema-first-failure.js'
import { liveTables } from './schema-live.js'
import { openLegTable } from './schema-open-legs.js'
import { queueTables } from './schema-queue.js'
import { queueLogTables } from './schema-queue-log.js'
import { replayTables } from './schema-replays.js'
import { statsTables } from './schema-stats.js'
import { undeliveredIndex } from './schema-undelivered.js'
import type { Session, Transaction } from './session.js'
import { migrationStatements } from './sql/migrations.js'

/** One version of the schema. A released migration never changes; the next one is appended. */
export interface Migration {
  readonly version: number
  /** SQL, several statements. */
  text(schema: string): string
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, text: (s) => accountTables(s) + queueTables(s) + maintenanceIndexes(s) },
  { version: 2, text: webhookChangeMarks },
  { version: 3, text: openLegTable },
  { version: 4, text: encryptionTable },
  { version: 5, text: accountLists },
  { version: 6, text: storeClockTable },
  { version: 7, text: queueLogTables },
  { version: 8, text: statsTables },
  { version: 9, text: failureIndex },
  { version: 10, text: liveTables },
  { version: 11, text: withoutParentIndex },
  { version: 12, text: undeliveredIndex },
  { version: 13, text: firstFailure },
  { version: 14, text: replayTables },
]

/** The schema version of this package. */
export const SCHEMA_VERSION = MIGRATIONS[MIGRATIONS.length - 1]!.version

/** Oldest server version that supports all statements. */
const OLDEST_SERVER = 13

/** @throws HookswitchError `InvalidOption` if the server is too old, or the encoding of the database is not UTF8 */
export async function checkServer(session: Session, field: string): Promise<void> {
  const [row] = await session.query<{ version: number; encoding: string }>(migrationStatements('').server, [])
  const { version, encoding } = row!
  const major = Math.floor(version / 10_000)
  if (!(major >= OLDEST_SERVER)) {
    const sentence = `PostgreSQL ${major} is too old: ${OLDEST_SERVER} or later is required`
    throw new HookswitchError('InvalidOption', sentence, { field })
  }
  if (encoding !== 'UTF8') {
    const sentence = `the encoding of this database is ${encoding}: create one with ENCODING 'UTF8'`
    throw new HookswitchError('InvalidOption', sentence, { field })
  }
}

/**
 * The version of the schema; 0 if it is empty or does not exist.
 *
 * @param name of the schema, unquoted
 * @throws HookswitchError `InvalidOption` (field `schema`) if it contains other tables, or a newer version of ours
 */
export async function versionOf(on: Transaction, name: string, schema: string): Promise<number> {
  const sql = migrationStatements(schema)
  const [found] = await on.query<{ ours: boolean; tables: number }>(sql.found, [name])
  if (!found!.ours) {
    if (found!.tables === 0) return 0
    const sentence = `the schema ${name} contains tables that are not of hookswitch: choose another with the option schema`
    throw new HookswitchError('InvalidOption', sentence, { field: 'schema' })
  }
  const [row] = await on.query<{ version: number }>(sql.version, [])
  const { version } = row!
  if (version > SCHEMA_VERSION) {
    const sentence = `the schema ${name} has version ${version}, this package supports ${SCHEMA_VERSION}: update hookswitch`
    throw new HookswitchError('InvalidOption', sentence, { field: 'schema' })
  }
  return version
}

/** The version from which on a table has the offset of the store's clock. */
const STORE_CLOCK_VERSION = 6

/**
 * Nodes of the version before cannot use the new tables: they would refuse every event, and send what another node sends.
 *
 * @param version of the schema, before the migration
 * @throws HookswitchError `StoreUnavailable` while one of them runs, or was killed less than a lease ago
 */
async function refuseLivingNodes(
  tx: Transaction,
  name: string,
  schema: string,
  version: number,
): Promise<void> {
  const { livingNodes, livingNodesByServerTime } = migrationStatements(schema)
  const statement = version < STORE_CLOCK_VERSION ? livingNodesByServerTime : livingNodes
  const [row] = await tx.query<{ nodes: number }>(statement, [])
  const { nodes } = row!
  if (nodes === 0) return
  throw new HookswitchError(
    'StoreUnavailable',
    `nodes of an older version still use the schema ${name} (${nodes} running), whose tables this version changes` +
      ': stop all nodes first (one that was killed counts for up to 30 seconds)',
    { retryAfterSeconds: 30 },
  )
}

/**
 * Migrates the schema to this version, one transaction per step. Nodes that start at the same time wait for each other.
 *
 * @param session with a time limit that allows to build an index over all rows
 * @throws HookswitchError `StoreUnavailable` while nodes of an older version run
 */
export async function migrate(session: Session, name: string, schema: string, log: Log): Promise<void> {
  const sql = migrationStatements(schema)
  for (const { version, text } of MIGRATIONS) {
    const isMigrated = await session.transaction(async (tx) => {
      await tx.query(sql.lock, [`hookswitch migrations of ${name}`])
      const before = await versionOf(tx, name, schema)
      if (before >= version) return false
      if (before > 0) await refuseLivingNodes(tx, name, schema, before)
      // CREATE SCHEMA IF NOT EXISTS needs the privilege even where the schema exists.
      if ((await tx.query(sql.schema, [name])).length === 0) await tx.query(sql.createSchema, [])
      if (before === 0) await tx.query(sql.createVersions, [])
      await tx.query({ name: '', text: text(schema) }, [])
      await tx.query(sql.record, [version])
      return true
    })
    if (isMigrated) log.info({ schema: name, version }, 'migrated the PostgreSQL schema to a new version')
  }
  // Without statistics the first plans would be guesses.
  const tables = await session.query<{ table: string }>(sql.tables, [name])
  await session.query(
    { name: '', text: `analyze ${tables.map(({ table }) => `${schema}.${table}`).join(', ')}` },
    [],
  )
}
