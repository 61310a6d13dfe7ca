/**
 * One SQL statement, with `$1`, `$2`, … for its values. A delivery state that an index depends on is a literal, never a
 * value: a parameter would hide the partial index from a generic plan.
 */
export interface Statement {
  /** Prefix of the name of the prepared statement. `''`: not prepared, for statements that run once. */
  readonly name: string
  readonly text: string
}

/** Quotes an SQL identifier. */
export function quoteIdentifier(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}
