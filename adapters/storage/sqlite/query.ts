/** Prepared statements with typed rows, and transactions. */
import type { SqliteHandle, SqliteValue } from './driver.js'

/** A prepared SELECT with the type of its rows. */
export interface PreparedQuery<Row> {
  get(...parameters: SqliteValue[]): Row | undefined
  all(...parameters: SqliteValue[]): Row[]
}

/** A prepared INSERT, UPDATE or DELETE; returns the number of changed rows. */
type PreparedChange = (...parameters: SqliteValue[]) => number

/** Prepares statements on one connection. */
export interface Statements {
  /** For statements that return rows. */
  prepareQuery<Row>(sql: string): PreparedQuery<Row>
  /** Both directions of a list: returns a function that chooses one. */
  prepareBoth<Row>(sql: (ascending: boolean) => string): (ascending: boolean) => PreparedQuery<Row>
  prepareChange(sql: string): PreparedChange
  /** An INSERT that returns the integer key of the new row. */
  prepareInsert(sql: string): PreparedChange
}

export function statementsOf(db: SqliteHandle): Statements {
  const prepareQuery = <Row>(sql: string) => db.prepare(sql) as unknown as PreparedQuery<Row>
  return {
    prepareQuery,
    prepareBoth<Row>(sql: (ascending: boolean) => string) {
      const [up, down] = [prepareQuery<Row>(sql(true)), prepareQuery<Row>(sql(false))]
      return (ascending) => (ascending ? up : down)
    },
    prepareChange(sql) {
      const statement = db.prepare(sql)
      return (...parameters) => Number(statement.run(...parameters).changes)
    },
    prepareInsert(sql) {
      const statement = db.prepare(sql)
      return (...parameters) => Number(statement.run(...parameters).lastInsertRowid)
    },
  }
}

/** Runs `work` in a transaction, which is rolled back if it throws. */
export function inTransaction(db: SqliteHandle, work: () => void): void {
  db.exec('begin immediate')
  try {
    work()
    db.exec('commit')
  } catch (thrown) {
    try {
      db.exec('rollback')
    } catch {
      // SQLite has rolled back already, as it does for a full disk and a few other errors.
    }
    throw thrown
  }
}

/** A row whose data is one JSON document. */
export interface DocRow {
  readonly doc: string
}
