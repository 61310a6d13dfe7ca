/**
 * Migrates a whole store into a PostgreSQL schema, in two transactions:
 *
 * 1. announce: creates the tables and stores the id of the migration, so that the schema is recognised later;
 * 2. load: writes all rows and marks the migration as complete. The source is marked right before this commit.
 *
 * A repetition after a crash looks up the id: it either finds the migration complete, or starts again.
 */
import { randomUUID } from 'node:crypto'
import {
  connectionTarget,
  type ExportedCounts,
  type ExportSource,
  HookswitchError,
  type Log,
  type StoreExport,
} from 'hookswitch/store'
import { constraintOf, isOutcomeUnknown } from './errors.js'
import { tableRowsOf } from './import-rows.js'
import { checkServer, migrate } from './migrations.js'
import { checkOptions, type PostgresConnectionOptions } from './options.js'
import { createSession, type Session, type Transaction } from './session.js'
import { createPool } from './session-pool.js'
import { type ImportRow, importStatements, type UsedTableRow } from './sql/import.js'
import { IMPORTED_TABLES, type ImportTable, insertStatements, type WrittenRow } from './sql/import-tables.js'
import { migrationStatements } from './sql/migrations.js'
import { quoteIdentifier } from './statement.js'

/** The target of a migration, as in `postgresStore`. */
export type MigrateToPostgresOptions = Pick<PostgresConnectionOptions, 'connectionString' | 'schema' | 'ssl'>

const CONNECT_WITHIN_MS = 5_000
/** For one statement: the last ones read every row. */
const ANSWER_WITHIN_MS = 3_600_000

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Migrates a whole store into a PostgreSQL schema that is empty or does not exist: everything in one transaction, or
 * nothing. Pending deliveries continue there as soon as a node is started with the secret of the source. The source can
 * no longer be opened. When the function is called again after a crash, it finds out how far the migration came, and
 * completes it.
 *
 * @param source the opened source, for example `sqliteExportSource({ path })`; the caller closes it
 * @param options `connectionString`, `schema` (default `hookswitch`) and `ssl`, as in `postgresStore`
 * @param onProgress called after each batch with the number of rows written so far, by kind
 * @returns the number of rows of each kind
 * @throws HookswitchError `InvalidOption` with the name of the option, also for a schema that is not empty or in use;
 *   `StoreUnavailable` (if the outcome is unknown, call it again); `StoreCorrupt` if the source is damaged
 * @example
 * const source = sqliteExportSource({ path: 'hookswitch.db' })
 * await migrateToPostgres(source, { connectionString }).finally(source.close)
 */
export async function migrateToPostgres(
  source: ExportSource,
  options: MigrateToPostgresOptions,
  onProgress: (counts: ExportedCounts) => void = () => {},
): Promise<ExportedCounts> {
  const { connection, schema: name } = checkOptions(options, 'migrateToPostgres')
  if ('pool' in connection) {
    throw invalid('pool', 'a migration takes no pool: give connectionString')
  }
  const pool = await createPool({ ...connection, maxConnections: 2, connectWithinMs: CONNECT_WITHIN_MS })
  pool.on('error', () => {})
  try {
    const limits = { connectWithinMs: CONNECT_WITHIN_MS, answerWithinMs: ANSWER_WITHIN_MS }
    const session = createSession(pool, { ...limits, isHostPool: false })
    await checkServer(session, 'connectionString')
    await migrate({ session, maintenanceSession: () => session, name, log: SILENT })
    // Never a user or a password: a server has answered at this host.
    const { host = 'localhost' } = connectionTarget(connection.connectionString) ?? {}
    return await importFrom(source, { session, name, host, onProgress })
  } finally {
    await pool.end()
  }
}

interface Target {
  readonly session: Session
  /** Name of the schema. */
  readonly name: string
  readonly host: string
  readonly onProgress: (counts: ExportedCounts) => void
}

async function importFrom(
  source: ExportSource,
  { session, name, host, onProgress }: Target,
): Promise<ExportedCounts> {
  const { databaseOf, announce, load } = createImporter(name)
  const to = `the PostgreSQL database ${await databaseOf(session)} on ${host} (schema ${name})`
  const migration: StoreExport = source.pendingExport ?? { id: randomUUID(), to }
  let counts = await session.transaction((tx) => announce(tx, source, migration))
  if (!counts) {
    try {
      counts = await session.transaction((tx) => load(tx, source, migration, onProgress))
    } catch (thrown) {
      if (isOutcomeUnknown(thrown)) throw unknownOutcome(thrown)
      // The announcement found no rows, and the transaction was rolled back.
      source.abandon()
      throw thrown
    }
  }
  source.end(migration)
  return counts
}

function unknownOutcome(cause: unknown): HookswitchError {
  const sentence = `${(cause as Error).message}, during the commit of the migration: repeat it to find out whether it is complete`
  return new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1, cause })
}

/** The transactions of a migration into one schema, whose tables exist. */
function createImporter(name: string) {
  const schema = quoteIdentifier(name)
  const sql = importStatements(schema, IMPORTED_TABLES)
  const inserts = insertStatements(schema)
  const { tables } = migrationStatements(schema)

  /**
   * Locks the schema until the end of the transaction and reads how far the migration came: its counts if it is
   * complete, `undefined` if it has written nothing.
   *
   * @param isAnnounced whether it was announced here before
   */
  async function progressOf(
    tx: Transaction,
    migration: StoreExport,
    isAnnounced: boolean,
  ): Promise<ExportedCounts | undefined> {
    await tx.query(sql.setLockTimeout, [])
    await tx.query(sql.lock, []).catch((thrown: unknown) => {
      throw isLockNotAvailable(thrown) ? inUse(name) : thrown
    })
    await tx.query(sql.resetLockTimeout, [])
    await tx.query(sql.createImports, [])
    const [row] = await tx.query<ImportRow>(sql.import, [migration.id])
    if (row?.counts) return JSON.parse(row.counts) as ExportedCounts
    if (isAnnounced && !row) {
      const sentence = `a migration to ${migration.to} was begun and may be complete: name that target, or undo that migration first`
      throw invalid('connectionString', sentence)
    }
    const used = await tx.query<UsedTableRow>(sql.used, [])
    if (used.length > 0) {
      const names = used.map(({ table }) => table).join(', ')
      throw invalid('schema', `the schema ${name} is not empty (${names}): migrate into another schema`)
    }
    if ((await tx.query(sql.node, [])).length > 0) throw inUse(name)
    return undefined
  }

  async function insert(
    tx: Transaction,
    from: string,
    table: ImportTable,
    rows: readonly unknown[],
  ): Promise<void> {
    if (rows.length === 0) return
    const [row] = await tx
      .query<WrittenRow>(inserts[table], [JSON.stringify(rows)])
      .catch((thrown: unknown) => {
        throw constraintOf(thrown) === undefined
          ? thrown
          : damaged(from, `a row of ${table} occurs twice`, thrown)
      })
    const isComplete = row!.written === rows.length || table === 'credential'
    if (!isComplete) throw damaged(from, `rows of ${table} have no webhook`)
  }

  return {
    async databaseOf(on: Transaction): Promise<string> {
      return (await on.query<{ readonly database: string }>(sql.database, []))[0]!.database
    },
    /** Stores the id of the migration. Returns the counts if the migration is complete already. */
    async announce(
      tx: Transaction,
      source: ExportSource,
      migration: StoreExport,
    ): Promise<ExportedCounts | undefined> {
      const counts = await progressOf(tx, migration, source.pendingExport !== undefined)
      if (!counts) await tx.query(sql.announce, [migration.id])
      return counts
    },
    async load(
      tx: Transaction,
      source: ExportSource,
      migration: StoreExport,
      onProgress: (counts: ExportedCounts) => void,
    ): Promise<ExportedCounts> {
      const complete = await progressOf(tx, migration, true)
      if (complete) return complete
      await tx.query(sql.position, [source.lastPosition])
      await tx.query(sql.clearEncryption, [])
      await tx.query(sql.createStaged, [])
      const counts: { -readonly [Kind in keyof ExportedCounts]: ExportedCounts[Kind] } = {}
      for await (const batch of source.rows()) {
        for (const { table, rows } of tableRowsOf(batch)) await insert(tx, source.name, table, rows)
        counts[batch.kind] = (counts[batch.kind] ?? 0) + batch.rows.length
        onProgress(counts)
      }
      for (const step of [sql.moveStaged, sql.freeShards]) await tx.query(step, [])
      await tx.query(sql.clock, [source.storeMs ?? null])
      await tx.query(sql.end, [migration.id, JSON.stringify(counts)])
      // Without statistics the first plans would be guesses.
      for (const { table } of await tx.query<UsedTableRow>(tables, [name])) {
        await tx.query({ name: '', text: `analyze ${schema}.${table}` }, [])
      }
      source.begin(migration)
      return counts
    },
  }
}

/** `lock_not_available`. */
function isLockNotAvailable(thrown: unknown): boolean {
  return (thrown as { cause?: { code?: unknown } }).cause?.code === '55P03'
}

function inUse(name: string): HookswitchError {
  return invalid(
    'schema',
    `the schema ${name} is in use: stop every node and every other migration into it first`,
  )
}

function damaged(from: string, found: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreCorrupt', `${from} is damaged: ${found}`, { cause })
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', message, { field })
}
