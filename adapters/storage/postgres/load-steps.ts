import { HookswitchError, type Move, type MovedCounts, type MoveSource } from 'hookswitch/store'
import { constraintOf } from './errors.js'
import { tableRowsOf } from './load-rows.js'
import type { Transaction } from './session.js'
import { quoted } from './session-listen.js'
import { loadSteps, type MoveRow, type UsedRow } from './sql/load.js'
import { LOAD_TABLES, type LoadedRow, type LoadTable, loadStatements } from './sql/load-tables.js'
import { migrationStatements } from './sql/migrations.js'

/** The transactions of a move into one schema, whose tables are there. */
export function loaderInto(name: string) {
  const schema = quoted(name)
  const sql = loadSteps(schema, LOAD_TABLES)
  const inserts = loadStatements(schema)
  const { tables } = migrationStatements(schema)

  /**
   * Holds the schema until the end of the transaction, and looks how far this move came: its counts when it was carried
   * out, `undefined` when nothing of it is there.
   *
   * @param isKnown whether it was announced here before
   */
  async function standing(tx: Transaction, move: Move, isKnown: boolean): Promise<MovedCounts | undefined> {
    await tx.query(sql.impatience, [])
    await tx.query(sql.lock, []).catch((thrown: unknown) => {
      throw isHeld(thrown) ? inUse(name) : thrown
    })
    await tx.query(sql.patience, [])
    await tx.query(sql.createMoves, [])
    const [known] = await tx.query<MoveRow>(sql.move, [move.id])
    if (known?.counts) return JSON.parse(known.counts) as MovedCounts
    if (isKnown && !known) {
      const sentence = `a move to ${move.to} was begun, and may be complete: name that place, or give that move up first`
      throw invalid('connectionString', sentence)
    }
    const used = await tx.query<UsedRow>(sql.used, [])
    if (used.length > 0) {
      const full = used.map(({ table }) => table).join(', ')
      throw invalid('schema', `the schema ${name} is not empty (${full}): move into one of another name`)
    }
    if ((await tx.query(sql.node, [])).length > 0) throw inUse(name)
    return undefined
  }

  async function write(
    tx: Transaction,
    from: string,
    table: LoadTable,
    rows: readonly unknown[],
  ): Promise<void> {
    if (rows.length === 0) return
    const [row] = await tx
      .query<LoadedRow>(inserts[table], [JSON.stringify(rows)])
      .catch((thrown: unknown) => {
        throw constraintOf(thrown) === undefined
          ? thrown
          : damaged(from, `of ${table} it has one twice`, thrown)
      })
    const isWhole = row!.written === rows.length || table === 'credential'
    if (!isWhole) throw damaged(from, `of ${table} some are of no webhook`)
  }

  return {
    async databaseOf(on: Transaction): Promise<string> {
      return (await on.query<{ readonly database: string }>(sql.place, []))[0]!.database
    },
    /** Leaves the move's id here, by which its schema is known again. */
    async announce(tx: Transaction, source: MoveSource, move: Move): Promise<MovedCounts | undefined> {
      const done = await standing(tx, move, source.begun !== undefined)
      if (!done) await tx.query(sql.announce, [move.id])
      return done
    },
    async load(
      tx: Transaction,
      source: MoveSource,
      move: Move,
      told: (counts: MovedCounts) => void,
    ): Promise<MovedCounts> {
      const done = await standing(tx, move, true)
      if (done) return done
      await tx.query(sql.position, [source.lastPosition])
      const counts: { -readonly [Kind in keyof MovedCounts]: MovedCounts[Kind] } = {}
      for await (const batch of source.rows()) {
        for (const { table, rows } of tableRowsOf(batch)) await write(tx, source.name, table, rows)
        counts[batch.kind] = (counts[batch.kind] ?? 0) + batch.rows.length
        told(counts)
      }
      for (const step of [sql.free, sql.lanes, sql.pending, sql.stale]) await tx.query(step, [])
      await tx.query(sql.end, [move.id, JSON.stringify(counts)])
      // Without figures the first plans would be guesses.
      for (const { table } of await tx.query<UsedRow>(tables, [name])) {
        await tx.query({ name: '', text: `analyze ${schema}.${table}` }, [])
      }
      source.begin(move)
      return counts
    },
  }
}

/** `lock_not_available` */
function isHeld(thrown: unknown): boolean {
  return (thrown as { cause?: { code?: unknown } }).cause?.code === '55P03'
}

function inUse(name: string): HookswitchError {
  return invalid('schema', `the schema ${name} is in use: stop every node and every other move into it first`)
}

function damaged(from: string, found: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreCorrupt', `${from} is damaged: ${found}`, { cause })
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', message, { field })
}
