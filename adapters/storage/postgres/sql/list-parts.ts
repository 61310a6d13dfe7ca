import type { Statement } from '../statement.js'
import { DELIVERED, ENDED, FAILED, OF_ALL_WEBHOOKS, OTHERS, UNDELIVERED } from './ended.js'

/** The bounds of a part; null: there are none. */
export interface PartRow {
  /** Behind this position are all rows that the range may have. */
  readonly first: number | null
  /** No row behind this position is of the range. */
  readonly last: number | null
  /** The part ends here at the latest. */
  readonly nth: number | null
}

/** Attempts are recorded later than they were sent, ms; more than that is a fault. */
const MAX_LATE_MS = 3_600_000
/** So many attempts beyond a range tell where it ends: some may be of a clock that is wrong. */
const NEIGHBOURS = 10

/** The positions of the attempts next to a time. */
const neighbours = (s: string, condition: string, order: string) => `select position from (
      ${[DELIVERED, OTHERS, FAILED]
        .map(
          (kind) =>
            `(select position, at_ms from ${s}.attempt where ${kind} and ${OF_ALL_WEBHOOKS} and ${condition} order by at_ms ${order} limit ${NEIGHBOURS})`,
        )
        .join(' union all ')}
    ) kinds order by at_ms ${order} limit ${NEIGHBOURS}`

/**
 * `$1`: account; `$2`: webhook; `$3`: before or after this position; `$4`, `$5`: recorded from and to; `$6`: rows of the part, in
 * that of an account also those of others. Finds the range by the
 * indexes of time, which have the attempts of all accounts.
 */
function attemptPart(s: string, ascending: boolean, isOfWebhook: boolean): Statement {
  const [after, order, outermost] = ascending ? ['>', '', 'min'] : ['<', 'desc', 'max']
  const [before, behind] = ascending ? ['r.below', 'r.above'] : ['r.above', 'r.below']
  const start = ascending ? `greatest($3, ${before})` : `least($3, ${before})`
  const rows = `from ${s}.attempt where webhook_key = w.key and doc is not null and position ${after} b.first`
  const ofWebhook = `select position as nth ${rows} order by position ${order} limit 1 offset $6::int - 1`
  const ofAccount = `select ${outermost}(position) ${ascending ? '+' : '-'} ($6::int - 1) as nth`
  // The last attempts of all accounts by time have the last positions, but for those of a clock that is wrong.
  const [beyond, farthest, lastByTime] = ascending ? ['<', 'max', 'desc'] : ['>', 'min', '']
  const hasMore = `nth ${beyond} (select ${farthest}(position) from (${neighbours(s, 'true', lastByTime)}) n)`
  return {
    name: `attempts_part${isOfWebhook ? '_webhook' : ''}${ascending ? '_up' : ''}`,
    text: `with given as (select $1::text, $2::text, $3::bigint), r as materialized (
        select (
          select max(position) + 1 from (
            ${neighbours(s, `at_ms > $5::float8 + ${MAX_LATE_MS} and at_ms <= extract(epoch from statement_timestamp()) * 1000`, '')}
          ) n
        ) as above, (
          select min(position) - 1 from (${neighbours(s, `at_ms < $4::float8 - ${MAX_LATE_MS}`, 'desc')}) n
        ) as below
      ), b as materialized (select ${start} as first, ${behind} as last from r)
      select b.first, b.last, p.nth from b left join lateral (
        ${
          isOfWebhook
            ? `select (${ofWebhook}) as nth from ${s}.webhook w where w.id = $2 and w.account_id = $1`
            : `select nth from (${ofAccount} from ${s}.webhook w cross join lateral (
          select position ${rows} order by position ${order} limit 1
        ) a where w.account_id = $1 and $2::text is null and (b.last is null or abs(b.first - b.last) > $6)) e where ${hasMore}`
        }
      ) p on true`,
  }
}

/** Rows of each webhook that a part of a search has at least, of each kind. */
const MIN_SEARCHED = 10

/**
 * `$1`: account; `$2`: webhook; `$3`: before or after this position; `$4`: rows of the part, of each kind; `$5`: states by number,
 * null for any. In a search account and webhook may be null, and its webhooks share the rows: one with fewer does not end a part.
 */
function deliveryPart(s: string, ascending: boolean, isSearch = false): Statement {
  const [after, order, nearest] = ascending ? ['>', '', 'min'] : ['<', 'desc', 'max']
  const selected = isSearch
    ? '($1::text is null or account_id = $1) and ($2::text is null or id = $2)'
    : 'account_id = $1 and id = $2'
  const rows = isSearch
    ? `greatest(${MIN_SEARCHED}, $4::int / (select nullif(count(*), 0) from ${s}.webhook where ${selected}))`
    : '$4::int'
  const nth = (table: string, column: string, condition: string, states: string) => `(
        select ${column} as position from ${s}.${table}
        where webhook_key = w.key and ${condition} and ${column} ${after} $3
          and ($5::int[] is null or $5 && array[${states}])
        order by ${column} ${order} limit 1 offset ${rows} - 1
      )`
  return {
    name: `deliveries_part${ascending ? '_up' : ''}${isSearch ? '_search' : ''}`,
    text: `select null as first, null as last, (
        select ${nearest}(p.position) from (select key from ${s}.webhook where ${selected}) w cross join lateral (${[
          nth('waiting', 'position', 'true', '0, 5'),
          ...ENDED.map((kind) => nth('attempt', 'delivery', kind, kind === UNDELIVERED ? '3, 4, 5, 6' : '2')),
        ].join(' union all ')}) p
      ) as nth`,
  }
}

/** Statements for the next part of a list; each in both directions, `down` and `up`. */
export const listPartStatements = (s: string) => {
  const both = (statement: (ascending: boolean) => Statement) => ({
    down: statement(false),
    up: statement(true),
  })
  return {
    ofWebhook: both((ascending) => attemptPart(s, ascending, true)),
    ofAccount: both((ascending) => attemptPart(s, ascending, false)),
    deliveries: both((ascending) => deliveryPart(s, ascending)),
    search: deliveryPart(s, false, true),
  }
}
