import type { Statement } from '../statement.js'

/** A transaction that writes to a table. */
export interface WriterRow {
  readonly writer: string
}

export const readHorizonStatements = (s: string) =>
  ({
    last: { name: 'order_last', text: `select last_value as position from ${s}.position` },
    /** A transaction takes this lock before its row gets a position, and holds it until its commit is visible. */
    writers: {
      name: 'order_writers',
      text: `select distinct virtualtransaction as writer from pg_locks
        where locktype = 'relation' and relation = $1::regclass and mode = 'RowExclusiveLock'
          and database = (select oid from pg_database where datname = current_database())
          and pid <> pg_backend_pid()`,
    },
  }) satisfies Record<string, Statement>
