/** One SQL statement, with `$1`, `$2`, … for its values. Never a state as value where an index needs it. */
export interface Statement {
  /** Short and telling: it begins the name of the prepared statement. '': not prepared, for what is said once. */
  readonly name: string
  readonly text: string
}
