/** The versions of the schema, and the checks of a server and a schema before they are used. */
import { HookswitchError, type Log } from 'hookswitch/store'
import { createTables } from './schema.js'
import type { Session, Transaction } from './session.js'
import { migrationStatements } from './sql/migrations.js'
import { quoteIdentifier } from './statement.js'

/** One version of the schema. @internal */
export interface Migration {
  readonly version: number
  /** SQL, several statements: what makes this version of the one before. */
  text(schema: string): string
}

/**
 * The versions, ascending. The first one creates the tables. A released one never changes; the next one is appended.
 *
 * @internal
 */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, text: createTables }]

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
 * @param migrations the supported versions
 * @throws HookswitchError `InvalidOption` (field `schema`) if it contains other tables, or an unsupported version of ours
 */
async function versionOf(
  on: Transaction,
  name: string,
  schema: string,
  migrations: readonly Migration[],
): Promise<number> {
  const sql = migrationStatements(schema)
  const [found] = await on.query<{ ours: boolean; tables: number }>(sql.found, [name])
  if (!found!.ours) {
    if (found!.tables === 0) return 0
    throw unsuitable(
      `the schema ${name} contains tables that are not of hookswitch: choose another with the option schema`,
    )
  }
  const [row] = await on.query<{ version: number }>(sql.version, [])
  const { version } = row!
  const newest = migrations.at(-1)!.version
  const oldest = migrations[0]!.version
  const sentence = `the schema ${name} has version ${version}, this package supports`
  if (version > newest) throw unsuitable(`${sentence} ${newest}: update hookswitch`)
  if (version < oldest)
    throw unsuitable(`${sentence} ${oldest} and later: start an earlier hookswitch on it first`)
  return version
}

const unsuitable = (sentence: string) => new HookswitchError('InvalidOption', sentence, { field: 'schema' })

/**
 * Nodes of the version before cannot use the new tables: they would refuse every event, and send what another node sends.
 *
 * @throws HookswitchError `StoreUnavailable` while one of them runs, or was killed less than a lease ago
 */
async function refuseLivingNodes(tx: Transaction, name: string, schema: string): Promise<void> {
  const [row] = await tx.query<{ nodes: number }>(migrationStatements(schema).livingNodes, [])
  const { nodes } = row!
  if (nodes === 0) return
  throw new HookswitchError(
    'StoreUnavailable',
    `nodes of an older version still use the schema ${name} (${nodes} running), whose tables this version changes` +
      ': stop all nodes first (one that was killed counts for up to 30 seconds)',
    { retryAfterSeconds: 30 },
  )
}

/** Where a schema is migrated. */
interface MigrationTarget {
  readonly session: Session
  /** Creates a session with a time limit that allows to build an index over all rows. */
  readonly maintenanceSession: () => Session
  /** Name of the schema, unquoted. */
  readonly name: string
  readonly log: Log
}

/**
 * Brings the schema to the newest version, one transaction per version. Nodes that start at the same time wait for each other.
 *
 * @param migrations the supported versions
 * @throws HookswitchError `InvalidOption` (field `schema`) if it contains other tables, or an unsupported version of ours;
 *   `StoreUnavailable` while nodes of an older version run
 */
export async function migrate(
  { session, maintenanceSession, name, log }: MigrationTarget,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const schema = quoteIdentifier(name)
  if ((await versionOf(session, name, schema, migrations)) === migrations.at(-1)!.version) return
  const sql = migrationStatements(schema)
  const patient = maintenanceSession()
  for (const { version, text } of migrations) {
    const isMigrated = await patient.transaction(async (tx) => {
      await tx.query(sql.lock, [`hookswitch migrations of ${name}`])
      const before = await versionOf(tx, name, schema, migrations)
      if (before >= version) return false
      if (before > 0) await refuseLivingNodes(tx, name, schema)
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
  const tables = await patient.query<{ table: string }>(sql.tables, [name])
  await patient.query(
    { name: '', text: `analyze ${tables.map(({ table }) => `${schema}.${table}`).join(', ')}` },
    [],
  )
}
