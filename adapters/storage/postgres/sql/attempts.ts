import { ATTEMPT_COLUMNS, type AttemptRow } from '../rows.js'
import type { Statement } from '../statement.js'

/** An attempt with its request; null where the delivery is no longer stored. */
export interface ReadAttemptRow extends AttemptRow {
  readonly httpVerb: 'get' | 'post' | 'put' | 'patch' | 'delete' | null
  readonly body: string | null
}

/** Filter by which attempts are looked up; each has an index in the order of positions. */
export type AttemptLookup = 'webhook' | 'delivery' | 'calls' | 'account'

/**
 * `$1`: account; `$2`: before or after this position; `$3`, `$4`: recorded from and to; `$5`: limit; `$6`: webhook,
 * `$7`: delivery, `$8`: calls, each null for any; `$9`: characters of a body to read (at least the bytes that are
 * shown).
 */
export function attemptStatement(s: string, lookup: AttemptLookup, ascending: boolean): Statement {
  const order = ascending ? '' : 'desc'
  const webhook = `(select key from ${s}.webhook where id = $6 and account_id = $1)`
  const delivery = (column: string) => `(select ${column} from ${s}.delivery where id = $7)`
  const filters = `a.account_id = $1 and a.position ${ascending ? '>' : '<'} $2 and a.at_ms between $3 and $4
      and ($6::text is null or a.webhook_key = ${webhook})
      and ($7::text is null or a.delivery_id = $7) and ($8::text[] is null or a.call_id = any ($8))`
  const end = `order by a.position ${order} limit $5`
  const lookups: Record<AttemptLookup, string> = {
    account: `select * from ${s}.attempt a where ${filters} ${end}`,
    webhook: `select * from ${s}.attempt a where a.webhook_key = ${webhook} and ${filters} ${end}`,
    // Attempts have higher positions than their delivery.
    delivery: `select * from ${s}.attempt a where a.webhook_key = ${delivery('webhook_key')}
      and a.position > ${delivery('position')} and ${filters} ${end}`,
    calls: `select a.* from (select distinct id from unnest($8::text[]) c (id)) c cross join lateral (
        select * from ${s}.attempt a where a.call_id = c.id and ${filters} ${end}
      ) a ${end}`,
  }
  return {
    name: `attempts_${lookup}${ascending ? '_up' : ''}`,
    // Lateral subqueries: see `deliveries.ts`.
    text: `select ${ATTEMPT_COLUMNS}, sent.http_verb as "httpVerb", sent.body
      from (${lookups[lookup]}) a
      cross join lateral (select id from ${s}.webhook w where w.key = a.webhook_key offset 0) w
      left join lateral (
        select d.http_verb, left(e.body, $9) as body
        from ${s}.delivery d join ${s}.event e on e.position = d.event and e.variant = d.variant
        where d.id = a.delivery_id offset 0
      ) sent on true
      order by a.position ${order}`,
  }
}

/** The last recorded success of a webhook. */
export interface LastSuccessRow {
  readonly webhookId: string
  readonly atMs: number
}

/**
 * The last success of each webhook `$1`, among its newest 1,000 records. The text that is searched for cannot occur
 * inside a value: JSON escapes its quotes there.
 */
export const lastSuccessStatement = (s: string): Statement => ({
  name: 'attempts_last_success',
  text: `select w.id as "webhookId", a.at_ms as "atMs" from ${s}.webhook w cross join lateral (
      select at_ms from (
        select position, at_ms, doc from ${s}.attempt where webhook_key = w.key order by position desc limit 1000
      ) newest where strpos(doc, '"result":"success"') > 0 order by position desc limit 1
    ) a where w.id = any ($1::text[])`,
})
