import type { Statement } from '../statement.js'

/**
 * The tables that a migration fills, or stages, with the columns by their names in the rows, and their types. The rows of a batch
 * are passed as one JSON text: one value, whatever the number of rows and columns.
 */
const TABLES = {
  account: { id: 'text', realmKey: 'text', nameKey: 'text', parentId: 'text', doc: 'text' },
  goneAccount: { id: 'text' },
  goneUser: { accountId: 'text', id: 'text' },
  apiKey: { accountId: 'text', hash: 'text', doc: 'text' },
  accountUser: { accountId: 'text', id: 'text', nameKey: 'text', doc: 'text' },
  credential: { accountId: 'text', key: 'text', userId: 'text' },
  token: { hash: 'text', accountId: 'text', userId: 'text', expiresMs: 'float8', doc: 'text' },
  webhook: {
    id: 'text',
    accountId: 'text',
    hook: 'text',
    revision: 'int',
    epoch: 'int',
    deletedMs: 'float8',
    shard: 'smallint',
    doc: 'text',
    health: 'text',
    sortKey: 'text',
  },
  call: { accountId: 'text', callId: 'text', sequence: 'int', lastMs: 'float8' },
  callLeg: { accountId: 'text', callId: 'text', other: 'text' },
  event: {
    position: 'bigint',
    sequence: 'int',
    timestampMs: 'float8',
    id: 'text',
    accountId: 'text',
    callId: 'text',
    hook: 'text',
    traceparent: 'text',
    body: 'text',
  },
  body: { event: 'bigint', variant: 'smallint', body: 'text' },
  delivery: {
    position: 'bigint',
    event: 'bigint',
    lane: 'bigint',
    dueMs: 'float8',
    acceptedMs: 'float8',
    endedMs: 'float8',
    epoch: 'int',
    attempts: 'int',
    tries: 'int',
    interruptions: 'int',
    variant: 'smallint',
    form: 'smallint',
    state: 'smallint',
    deliveryId: 'text',
    id: 'text',
    replayOf: 'text',
    reason: 'text',
    failedMs: 'float8',
  },
  attempt: {
    position: 'bigint',
    atMs: 'float8',
    n: 'int',
    accountId: 'text',
    callId: 'text',
    eventId: 'text',
    hook: 'text',
    deliveryId: 'text',
    id: 'text',
    doc: 'text',
  },
  idempotency: {
    accountId: 'text',
    key: 'text',
    untilMs: 'float8',
    sequence: 'int',
    callId: 'text',
    eventId: 'text',
    bodyHash: 'text',
  },
  inbox: {
    shard: 'smallint',
    eventId: 'text',
    accountId: 'text',
    callId: 'text',
    event: 'text',
    traceparent: 'text',
  },
  encryption: { id: 'smallint', record: 'text' },
  hold: { scope: 'text' },
  openLeg: { addedMs: 'float8', source: 'text', callId: 'text', accountId: 'text', state: 'text' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/** Tables whose key of a webhook is that of the id in `webhookId`. */
const KEYED: readonly ImportTable[] = ['delivery', 'attempt']

/**
 * Rows that depend on rows of later batches: a delivery ends in the row of its last attempt. They are written to temporary tables
 * first (`moveStaged`).
 */
const STAGED = ['call', 'callLeg', 'event', 'delivery', 'attempt'] as const satisfies readonly ImportTable[]
const MOVED_TABLES = ['event', 'waiting', 'attempt']

export type ImportTable = keyof typeof TABLES

/** A row of a table. */
export type ImportTableRow<Table extends ImportTable> = {
  readonly [Column in keyof (typeof TABLES)[Table]]: string | number | boolean | null | undefined
} & (Table extends 'delivery' | 'attempt' ? { readonly webhookId: string } : unknown)

/** Number of rows that a statement wrote. */
export interface WrittenRow {
  readonly written: number
}

const snake = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)

const isStaged = (table: ImportTable) => STAGED.some((staged) => staged === table)

/** Names of the tables in the schema that get rows. */
export const IMPORTED_TABLES: readonly string[] = [
  ...(Object.keys(TABLES) as ImportTable[]).filter((table) => !isStaged(table)).map((table) => snake(table)),
  ...MOVED_TABLES,
]

/** Creates the temporary tables, until the end of the transaction. */
export const createStagedTables = STAGED.map((table) => {
  const columns = Object.entries(TABLES[table]).map(([name, type]) => `${snake(name)} ${type}`)
  if (KEYED.includes(table)) columns.push('webhook_key int')
  if (table === 'callLeg') columns.push('position bigint generated always as identity')
  return `create temporary table imported_${snake(table)} (${columns.join(', ')}) on commit drop;`
}).join('\n')

/** One INSERT per table; `$1`: the rows in their order, as JSON. */
export const insertStatements = (s: string): Readonly<Record<ImportTable, Statement>> =>
  Object.fromEntries(
    Object.entries(TABLES).map(([table, columns]) => [table, statementFor(s, table as ImportTable, columns)]),
  ) as Record<ImportTable, Statement>

function statementFor(s: string, table: ImportTable, columns: Readonly<Record<string, string>>): Statement {
  const names = Object.keys(columns)
  const isKeyed = KEYED.includes(table)
  const target = isStaged(table) ? `pg_temp.imported_${snake(table)}` : `${s}.${snake(table)}`
  const given = [...Object.entries(columns), ...(isKeyed ? [['webhookId', 'text']] : [])]
  const join = isKeyed ? `join ${s}.webhook w on w.id = r."webhookId"` : ''
  return {
    // A temporary table is another one in each session.
    name: isStaged(table) ? '' : `load_${snake(table)}`,
    text: `with written as (
        insert into ${target} (${[...names.map(snake), ...(isKeyed ? ['webhook_key'] : [])].join(', ')})
        select ${[...names.map((name) => `r."${name}"`), ...(isKeyed ? ['w.key'] : [])].join(', ')}
        from json_to_recordset($1::json) r (${given.map(([name, type]) => `"${name}" ${type}`).join(', ')}) ${join}
        ${table === 'credential' ? 'on conflict do nothing' : ''}
        returning 1
      ) select count(*) as written from written`,
  }
}
