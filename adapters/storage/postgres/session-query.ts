import { createHash } from 'node:crypto'
import type { PostgresQuery } from './session-pool.js'
import type { Statement } from './statement.js'

/** OID of `bigint`. */
const INT8 = 20

/** `pg` reads a `bigint` as text; ours are counts, positions and milliseconds, all below 2^53. Text stays text. */
const TYPES: NonNullable<PostgresQuery['types']> = {
  getTypeParser(oid) {
    return READERS[oid] ?? asItIs
  },
}

const asItIs = (text: string) => text
const READERS: Readonly<Record<number, (text: string) => unknown>> = {
  // bool, bigint, smallint, int, float4, float8
  16: (text) => text === 't',
  [INT8]: Number,
  21: Number,
  23: Number,
  700: Number,
  701: Number,
}

/** Statements as prepared ones: named by what they say, so that two stores on one pool never mix theirs up. */
export function queriesOf(): (statement: Statement, values: readonly unknown[]) => PostgresQuery {
  const names = new WeakMap<Statement, string>()
  return (statement, values) => {
    // Without a name, and without values: as text, which may be of several statements.
    if (statement.name === '') return { text: statement.text, values: values as unknown[], types: TYPES }
    let name = names.get(statement)
    if (name === undefined) {
      const digest = createHash('sha256').update(statement.text).digest('hex').slice(0, 16)
      // PostgreSQL keeps 63 bytes of a name.
      name = `${statement.name.slice(0, 40)}_${digest}`
      names.set(statement, name)
    }
    return { name, text: statement.text, values: values as unknown[], types: TYPES }
  }
}
