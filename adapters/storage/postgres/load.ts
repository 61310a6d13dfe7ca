import { randomUUID } from 'node:crypto'
import { HookswitchError, type Log, type Move, type MovedCounts, type MoveSource } from 'hookswitch/store'
import { isUnsure } from './errors.js'
import { loaderInto } from './load-steps.js'
import { checkServer, migrate, SCHEMA_VERSION, versionOf } from './migrations.js'
import { checkOptions, type PostgresConnectionOptions } from './options.js'
import { createSession, type Session } from './session.js'
import { quoted } from './session-listen.js'
import { ownPool } from './session-pool.js'

/** Where to. */
export type PostgresMoveOptions = Pick<PostgresConnectionOptions, 'connectionString' | 'schema' | 'ssl'>

const CONNECT_WITHIN_MS = 5_000
/** For one statement: the last ones look at every row. */
const PATIENT_MS = 3_600_000

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Moves a whole store into a PostgreSQL schema that is empty, or not there yet: all of it in one transaction, or nothing.
 * What is pending goes on there as soon as a node is started with the secret that the source was used with. The source
 * is left unusable; called again after a crash, it finds out how far the move came, and ends it.
 *
 * @param told after each batch: how many rows of each kind were written so far
 * @returns how many rows there are of each kind
 * @throws HookswitchError `InvalidOption` naming the option, `StoreUnavailable`, `StoreCorrupt` (the source is damaged)
 * @example
 * const source = sqliteSource({ path: 'hookswitch.db' })
 * await moveToPostgres(source, { connectionString }).finally(source.close)
 */
export async function moveToPostgres(
  source: MoveSource,
  options: PostgresMoveOptions,
  told: (counts: MovedCounts) => void = () => {},
): Promise<MovedCounts> {
  const { connect, schema: name } = checkOptions(options)
  if ('pool' in connect) {
    throw new HookswitchError('InvalidOption', 'pool cannot be moved to: give connectionString', {
      field: 'pool',
    })
  }
  const pool = await ownPool({ ...connect, maxConnections: 2, connectWithinMs: CONNECT_WITHIN_MS })
  pool.on('error', () => {})
  try {
    const patience = { connectWithinMs: CONNECT_WITHIN_MS, answerWithinMs: PATIENT_MS }
    const session = createSession(pool, { ...patience, foreign: false })
    await checkServer(session, 'connectionString')
    if ((await versionOf(session, name, quoted(name))) < SCHEMA_VERSION) {
      await migrate(session, name, quoted(name), SILENT)
    }
    return await moveInto(session, { source, name, host: hostOf(connect.connectionString), told })
  } finally {
    await pool.end()
  }
}

interface Way {
  readonly source: MoveSource
  /** Of the schema. */
  readonly name: string
  readonly host: string
  readonly told: (counts: MovedCounts) => void
}

async function moveInto(session: Session, { source, name, host, told }: Way): Promise<MovedCounts> {
  const { databaseOf, announce, load } = loaderInto(name)
  const to = `the PostgreSQL database ${await databaseOf(session)} on ${host} (schema ${name})`
  const move: Move = source.begun ?? { id: randomUUID(), to }
  let counts = await session.transaction((tx) => announce(tx, source, move))
  if (!counts) {
    try {
      counts = await session.transaction((tx) => load(tx, source, move, told))
    } catch (thrown) {
      if (isUnsure(thrown)) throw unsure(thrown)
      // It was there a moment ago without any rows, and was rolled back.
      source.abandon()
      throw thrown
    }
  }
  source.end(move)
  return counts
}

function unsure(cause: unknown): HookswitchError {
  const sentence = `${(cause as Error).message}, while the move was written: move again, which finds out whether it was`
  return new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1, cause })
}

/** As `pg` reads it; never a user or a password, since a server has answered there. */
function hostOf(connectionString: string): string {
  if (!URL.canParse(connectionString)) return 'this machine'
  const { host, searchParams } = new URL(connectionString)
  return searchParams.get('host') || decodeURIComponent(host) || 'localhost'
}
