import { ATTEMPT_COLUMNS, type AttemptRow } from '../rows.js'
import { none, type Statement } from '../statement.js'
import { DELIVERED, FAILED, OF_ALL_WEBHOOKS, OTHERS } from './ended.js'

/** An attempt with the body of its request; null where that is no longer stored. */
export interface ReadAttemptRow extends AttemptRow {
  readonly body: string | null
}

/** Filter by which attempts are looked up; each has an index in the order of positions. */
export type AttemptLookup = 'webhook' | 'delivery' | 'calls' | 'account'

/** Webhooks of an account from which on a page of its attempts is first looked for among the newest of all accounts. */
const MANY_WEBHOOKS = 100
/** So many of the newest attempts are looked at. */
const NEWEST_ATTEMPTS = 2_000

/** A record of a success, by its document `doc`; the index `attempt_failure` has this expression. */
export const isSuccess = (doc: string) => `starts_with(${doc}, '[1,')`

/** The first characters of the body of the attempt `a` of the event `e`. */
const bodyStart = (s: string, length: string) => `left(case a.variant when 0 then e.body else (
          select body from ${s}.body b where b.event = a.event and b.variant = a.variant
        ) end, ${length})`

/**
 * `$1`: account; `$2`: before or after this position; `$13`: up to this one; `$3`, `$4`: recorded from and to; `$5`: limit; `$6`: characters of a
 * body to read (at least the bytes that are shown); `$7`: webhook; `$8`: calls, each null for any; `$9`, `$10`: range of the
 * id of the delivery's event; `$11`, `$12`: stored ids of the delivery; `$14`:
 * kinds of events, null for any. Slim ends have no document.
 */
export function attemptStatement(
  s: string,
  lookup: AttemptLookup,
  { ascending, onlyFailures }: { readonly ascending: boolean; readonly onlyFailures: boolean },
): Statement {
  const order = ascending ? '' : 'desc'
  // The planner expects a range of parameters to leave almost no row, and half of the rows after a CASE. So it reads a page
  // in the order of its index, instead of sorting everything.
  const filters = `a.position ${ascending ? '>' : '<'} $2 and case when a.at_ms >= $3 then a.at_ms <= $4 end and a.doc is not null
    ${onlyFailures ? `and not ${isSuccess('a.doc')}` : ''}
    and case when $14::text[] is null then true else (select hook from ${s}.event e where e.position = a.event) = any ($14) end`
  /** As a row: of two bounds the planner would expect that they leave almost no row, too. */
  const upTo = (key: string) => `(a.webhook_key, a.position) ${ascending ? '<=' : '>='} (${key}, $13::bigint)`
  const end = `order by a.position ${order} limit $5`
  const ofAccount = `not ${none(
    `${s}.webhook`,
    'x.key = a.webhook_key and x.account_id = $1 and ($7::text is null or x.id = $7)',
  )}`
  const ofCalls = `($8::text[] is null or not ${none(`${s}.event`, 'x.position = a.event and x.call_id = any ($8)')})`
  /**
   * The lowest position of a page's worth of attempts among the newest of all accounts: no older attempt is on the page. Only
   * where the account has many webhooks, each of which would give a whole page to be merged. Positions of attempts are positive.
   */
  const newestBound = `select min(position) from (
      select a.position from (
        select * from (${[DELIVERED, OTHERS, FAILED]
          .map(
            (kind) =>
              `(select * from ${s}.attempt where ${kind} and ${OF_ALL_WEBHOOKS} and at_ms <= $4 order by at_ms desc limit ${NEWEST_ATTEMPTS})`,
          )
          .join(' union all ')}) kinds order by at_ms desc limit ${NEWEST_ATTEMPTS}
      ) a where ${filters} and ${ofAccount} ${end}
    ) page where (select count(*) from (
        select from ${s}.webhook where account_id = $1 limit ${MANY_WEBHOOKS}
      ) webhooks) = ${MANY_WEBHOOKS}
    having count(*) = $5`
  // A subquery, not a join: only with a single webhook can the order of the index be used.
  const ofId = `(select key from ${s}.webhook where id = $7 and account_id = $1)`
  const lookups: Record<AttemptLookup, string> = {
    account: ascending
      ? `select a.* from ${s}.webhook w cross join lateral (
          select * from ${s}.attempt a where a.webhook_key = w.key and ${filters} and ${upTo('w.key')} ${end}
        ) a where w.account_id = $1 ${end}`
      : `select a.* from (select greatest((${newestBound}), $13::bigint, 0) as position) bound
        cross join ${s}.webhook w cross join lateral (
          select * from ${s}.attempt a where a.webhook_key = w.key and a.position >= bound.position and ${filters} ${end}
        ) a where w.account_id = $1 ${end}`,
    webhook: `select * from ${s}.attempt a
      where a.webhook_key = ${ofId} and ${filters} and ${upTo(ofId)} and ${ofCalls} ${end}`,
    delivery: `select * from (
        select a.* from (
          select position as at from ${s}.event where id >= $9 and id < $10 offset 0
        ) e cross join lateral (
          select * from ${s}.attempt a where a.event = e.at and a.id = $11 offset 0
        ) a
        union all select a.* from ${s}.attempt a where a.id = $12 and left(a.id, 1) = '!'
      ) a where ${filters} and ${upTo('a.webhook_key')} and ${ofAccount} and ${ofCalls} ${end}`,
    calls: `select a.* from (
        select position as at from ${s}.event where call_id = any ($8::text[]) offset 0
      ) e cross join lateral (
        select * from ${s}.attempt a where a.event = e.at offset 0
      ) a where ${filters} and ${upTo('a.webhook_key')} and ${ofAccount} ${end}`,
  }
  return {
    name: `attempts_${lookup}${ascending ? '_up' : ''}${onlyFailures ? '_failed' : ''}`,
    text: `with given as (
        select $1::text, $5::int, $6::int, $7::text, $8::text[], $9::text, $10::text, $11::text, $12::text, $13::bigint, $14::text[]
      )
      select ${ATTEMPT_COLUMNS}, w.id as "webhookId", w.account_id as "accountId", e.id as "eventId", e.call_id as "callId",
        e.hook, ${bodyStart(s, '$6')} as body
      from (${lookups[lookup]}) a
      cross join lateral (select * from ${s}.webhook w where w.key = a.webhook_key offset 0) w
      cross join lateral (select * from ${s}.event e where e.position = a.event offset 0) e
      order by a.position ${order}`,
  }
}

/**
 * The log of the accounts `$1` after the position `$2`, `$3` records at most, with up to `$4` characters of their bodies, and
 * the last position that was assigned before.
 */
export const attemptLogStatements = (s: string) =>
  ({
    /** A sequence that has given no value yet has the first one as its last. */
    last: {
      name: 'attempt_log_last',
      text: `select case when is_called then last_value else last_value - 1 end as position from ${s}.position`,
    },
    log: {
      name: 'attempt_log',
      text: `select ${ATTEMPT_COLUMNS}, w.id as "webhookId", w.account_id as "accountId", e.id as "eventId",
          e.call_id as "callId", e.hook, ${bodyStart(s, '$4')} as body
        from (
          select a.* from ${s}.webhook w cross join lateral (
            select * from ${s}.attempt a
            where a.webhook_key = w.key and a.position > $2 and a.doc is not null order by a.position limit $3
          ) a where w.account_id = any ($1::text[]) order by a.position limit $3
        ) a
        cross join lateral (select * from ${s}.webhook w where w.key = a.webhook_key offset 0) w
        cross join lateral (select * from ${s}.event e where e.position = a.event offset 0) e
        order by a.position`,
    },
  }) satisfies Record<string, Statement>

/** The last recorded success of a webhook. */
export interface LastSuccessRow {
  readonly webhookId: string
  readonly atMs: number
}

/** The last success of each webhook `$1`, among its newest 1,000 records. */
export const lastSuccessStatement = (s: string): Statement => ({
  name: 'attempts_last_success',
  text: `select w.id as "webhookId", a.at_ms as "atMs" from ${s}.webhook w cross join lateral (
      select at_ms from (
        select position, at_ms, doc from ${s}.attempt where webhook_key = w.key and doc is not null
        order by position desc limit 1000
      ) newest where ${isSuccess('doc')} order by position desc limit 1
    ) a where w.id = any ($1::text[])`,
})
