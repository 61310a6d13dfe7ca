import type { CallIndexKind } from 'hookswitch/store'
import { deleting, type Statement } from '../statement.js'

const EVENT = `id, account_id as "accountId", call_id as "callId", hook, sequence, timestamp_ms as "timestampMs",
  accepted_ms as "acceptedMs", source, is_internal as "isInternalLeg"`
const CALL = 'account_id as "accountId", call_id as "callId", source, accepted_ms as "acceptedMs"'

const TABLES = ['unwanted_event', 'call_number'] as const

/** Newest rows first: up to `limit` of each element of the array `keys`, of the account `account` or (null) of all. */
const newestOf = (
  table: string,
  columns: string,
  { keys, column, account, limit }: { keys: string; column: string; account: string; limit: string },
) => `select x.* from unnest(${keys}) u (key) cross join lateral (
    select ${columns} from ${table} where ${column} = u.key and (${account}::text is null or account_id = ${account})
    order by n desc limit ${limit}
  ) x order by x."acceptedMs" desc limit ${limit}`

const trimming = (table: string, kind: CallIndexKind) => ({
  /** `n` of the newest row of the account `$1` that is not among its newest `$2`. */
  excessOfAccount: {
    name: `call_index_excess_of_account_${kind}`,
    text: `select n from ${table} where account_id = $1 order by n desc offset $2 limit 1`,
  },
  /** The same of all accounts, without a scan where there are surely no more than `$1` rows: trimmed accounts leave gaps in `n`. */
  excess: {
    name: `call_index_excess_${kind}`,
    text: `select n from (select case when max(n) - min(n) >= $1
        then (select n from ${table} order by n desc offset $1 limit 1) end as n from ${table}) x where n is not null`,
  },
  /** Of the account `$1` up to `$3` of the oldest rows, up to `$2`. */
  trim: {
    name: `call_index_trim_${kind}`,
    text: deleting(table, 'account_id = $1 and n <= $2 order by n limit $3 for update skip locked'),
  },
  /** Of the oldest `$3` rows those that were accepted before `$1`, and those up to `$2`. */
  prune: {
    name: `call_index_prune_${kind}`,
    text: deleting(
      table,
      `n = any (array(select n from (select n, accepted_ms from ${table} order by n limit $3) x
        where accepted_ms < $1 or n <= $2))`,
    ),
  },
})

export const callIndexStatements = (s: string) =>
  ({
    /**
     * Takes the lock of the table before the snapshot: after an erasure it sees that the events are gone. Rows are numbered in the
     * order of the batch, whatever the join.
     */
    putEvents: {
      name: 'call_index_put_events',
      text: `insert into ${s}.unwanted_event
          (id, account_id, call_id, hook, source, sequence, is_internal, timestamp_ms, accepted_ms)
        select u.id, u.account_id, u.call_id, u.hook, u.source, u.sequence, u.is_internal, u.timestamp_ms, u.accepted_ms
        from unnest(
            $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::bool[], $8::float8[], $9::float8[]
          ) with ordinality u (id, account_id, call_id, hook, source, sequence, is_internal, timestamp_ms, accepted_ms, i)
        where exists (select from ${s}.event e where e.id = u.id) order by u.i
        on conflict (id) do nothing`,
    },
    putNumbers: {
      name: 'call_index_put_numbers',
      text: `insert into ${s}.call_number (number, account_id, call_id, source, accepted_ms)
        select u.number, u.account_id, u.call_id, u.source, u.accepted_ms
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[])
          with ordinality u (number, account_id, call_id, source, accepted_ms, event_id, i)
        where exists (select from ${s}.event e where e.id = u.event_id) order by u.i`,
    },
    eventById: {
      name: 'call_index_event',
      text: `select ${EVENT} from ${s}.unwanted_event where id = $1 and ($2::text is null or account_id = $2)`,
    },
    /** Of the calls `$1`, of the account `$2` or (null) of all, the newest `$3`. */
    eventsOfCalls: {
      name: 'call_index_events_of_calls',
      text: newestOf(`${s}.unwanted_event`, EVENT, {
        keys: '$1::text[]',
        column: 'call_id',
        account: '$2',
        limit: '$3',
      }),
    },
    eventsOfAccount: {
      name: 'call_index_events_of_account',
      text: `select ${EVENT} from ${s}.unwanted_event where account_id = $1 order by n desc limit $2`,
    },
    /** Of the numbers `$1` over all accounts, some `$2` of each. */
    callsOfNumbers: {
      name: 'call_index_calls_of_numbers',
      text: `select x.* from unnest($1::bigint[]) u (number) cross join lateral (
          select ${CALL} from ${s}.call_number where number = u.number order by number desc, account_id desc, n desc limit $2
        ) x order by x."acceptedMs" desc limit $2`,
    },
    /** Of the numbers `$1` in the account `$2`, the newest `$3`. */
    callsOfNumbersAndAccount: {
      name: 'call_index_calls_of_account',
      text: `select x.* from unnest($1::bigint[]) u (number) cross join lateral (
          select ${CALL} from ${s}.call_number where number = u.number and account_id = $2 order by n desc limit $3
        ) x order by x."acceptedMs" desc limit $3`,
    },
    callsOfIds: {
      name: 'call_index_calls_of_ids',
      text: newestOf(`${s}.call_number`, CALL, {
        keys: '$1::text[]',
        column: 'call_id',
        account: '$2',
        limit: '$3',
      }),
    },
    /** Waits for batches that are being written, and keeps others from being written until the end of the transaction. */
    lock: {
      name: '',
      text: `lock table ${TABLES.map((table) => `${s}.${table}`).join(', ')} in share row exclusive mode`,
    },
    eraseCalls: TABLES.map((table) => ({
      name: `call_index_erase_calls_${table}`,
      text: deleting(
        `${s}.${table}`,
        `ctid = any (array(
          select c.location from unnest($2::text[]) u (call_id) cross join lateral (
            select ctid as location, account_id from ${s}.${table} where call_id = u.call_id offset 0
          ) c where c.account_id = $1 limit $3
        ))`,
      ),
    })),
    eraseAccount: TABLES.map((table) => ({
      name: `call_index_erase_account_${table}`,
      text: deleting(`${s}.${table}`, 'account_id = $1 order by n limit $2'),
    })),
    events: trimming(`${s}.unwanted_event`, 'events'),
    numbers: trimming(`${s}.call_number`, 'numbers'),
  }) satisfies Record<
    string,
    Statement | readonly Statement[] | Readonly<Record<keyof ReturnType<typeof trimming>, Statement>>
  >
