import type { SqliteHandle, SqliteValue } from './driver.js'

/** A prepared question, with the type of its rows. */
export interface Query<Row> {
  get(...parameters: SqliteValue[]): Row | undefined
  all(...parameters: SqliteValue[]): Row[]
}

export function query<Row>(db: SqliteHandle, sql: string): Query<Row> {
  return db.prepare(sql) as unknown as Query<Row>
}

/** A prepared change; how many rows it changed. */
export type Change = (...parameters: SqliteValue[]) => number

export function change(db: SqliteHandle, sql: string): Change {
  const statement = db.prepare(sql)
  return (...parameters) => Number(statement.run(...parameters).changes)
}

/** What stands in one column. */
export interface DocRow {
  readonly doc: string
}
