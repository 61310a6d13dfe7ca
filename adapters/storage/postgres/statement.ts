/**
 * One SQL statement, with `$1`, `$2`, … for its values. A delivery state that an index depends on is a literal, never a
 * value: a parameter would hide the partial index from a generic plan.
 */
export interface Statement {
  /** Prefix of the name of the prepared statement. `''`: not prepared, for statements that run once. */
  readonly name: string
  readonly text: string
  /** The server refuses it in a transaction. */
  readonly isOutsideTransactions?: true
}

/** Quotes an SQL identifier. */
export function quoteIdentifier(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/**
 * True if the table, as `x`, has no such row: one index lookup per row, where NOT EXISTS may read the whole table.
 */
export const none = (table: string, condition: string): string =>
  `((select true from ${table} x where ${condition} limit 1) is null)`

/**
 * Deletes the rows of a table that these conditions (with an order and a limit) select, and returns how many it `removed`. A row
 * is deleted by its location, which is cheap as rows share pages.
 */
export const deleting = (table: string, conditions: string): string => `with gone as (
    delete from ${table} where ctid = any (array(select ctid from ${table} where ${conditions})) returning 1
  ) select count(*) as removed from gone`
