/** Prepared statements with typed rows, and transactions. */
import type { SqliteHandle, SqliteValue } from './driver.js'

/** A prepared SELECT with the type of its rows. */
export interface PreparedQuery<Row> {
  get(...parameters: SqliteValue[]): Row | undefined
  all(...parameters: SqliteValue[]): Row[]
}

export function prepareQuery<Row>(db: SqliteHandle, sql: string): PreparedQuery<Row> {
  return db.prepare(sql) as unknown as PreparedQuery<Row>
}

/** A prepared INSERT, UPDATE or DELETE; returns the number of changed rows. */
export type PreparedChange = (...parameters: SqliteValue[]) => number

export function prepareChange(db: SqliteHandle, sql: string): PreparedChange {
  const statement = db.prepare(sql)
  return (...parameters) => Number(statement.run(...parameters).changes)
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
