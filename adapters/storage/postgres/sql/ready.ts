import { ENDPOINT_COLUMNS } from '../rows.js'
import type { Statement } from '../statement.js'
import { storeMs } from './store-clock.js'

/**
 * The due time of the first head of a webhook `w` in its epoch, among first attempts or retries: the first index entry
 * from that point on, if it is still of that epoch and kind. The search ends with the webhook: before the entries of
 * the next one it would pass dead entries, those of the last minutes while an old snapshot keeps them.
 */
const firstHead = (s: string, retry: boolean) => `(
    select case when h.webhook_key = w.key and h.epoch = w.epoch and h.retry = ${retry} then h.due_ms end from (
      select d.webhook_key, d.epoch, d.retry, d.due_ms from ${s}.delivery d
      where (d.webhook_key, d.epoch, d.retry) >= (w.key, w.epoch, ${retry}) and d.webhook_key <= w.key
        and d.state = 0 and d.due_ms is not null
      order by d.webhook_key, d.epoch, d.retry, d.due_ms limit 1
    ) h
  )`

/**
 * Lateral: the due time of the earliest head of a webhook `w` in its current epoch. Two lookups in one index, written
 * so that the planner can use no other, even without statistics.
 */
export const earliestHead = (s: string) =>
  `(select least(${firstHead(s, false)}, ${firstHead(s, true)}) as due_ms)`

/** Shards in which the owner `$1` may claim now; `$2`: the clock of a test instead of the server's, or null. */
export const mayClaim = (s: string) => `select id, term from ${s}.shard
  where owner = $1 and not leaving
    and alive_until_ms > ${storeMs(s, '$2')}`

export const readyStatements = (s: string) =>
  ({
    /** All endpoints with a head: skips through the index from webhook to webhook, however many heads each has. */
    ready: {
      name: 'ready',
      text: `with recursive busy (key) as (
          (select webhook_key from ${s}.delivery where state = 0 and due_ms is not null
            order by webhook_key limit 1)
          union all
          select (select d.webhook_key from ${s}.delivery d
            where d.state = 0 and d.due_ms is not null and d.webhook_key > b.key order by d.webhook_key limit 1)
          from busy b where b.key is not null
        ), mine as materialized (${mayClaim(s)})
        select ${ENDPOINT_COLUMNS}, h.due_ms as "headMs"
        from busy b join ${s}.webhook w on w.key = b.key cross join lateral ${earliestHead(s)} h
        where w.shard = any (array(select id from mine))`,
    },
    /** The endpoints of the webhooks `$1`. */
    readyOf: {
      name: 'ready_of',
      text: `select ${ENDPOINT_COLUMNS}, h.due_ms as "headMs"
        from ${s}.webhook w cross join lateral ${earliestHead(s)} h where w.id = any ($1::text[])`,
    },
  }) satisfies Record<string, Statement>
