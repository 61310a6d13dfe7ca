/** Prepared statements with typed rows. */
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

/** A row whose data is one JSON document. */
export interface DocRow {
  readonly doc: string
}
