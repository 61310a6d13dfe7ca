import { ENDPOINT_COLUMNS } from '../rows.js'
import type { Statement } from '../session.js'

/**
 * The first entry of the index of heads from a place on: of this webhook, epoch and kind, or a later one of the webhook.
 * Never one of the next webhook, whose dead entries it would pass first: those of the last minutes, where an old
 * snapshot holds them.
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
 * Lateral: when the earliest head of a webhook `w`, of its own epoch, is due. Two looks into an index, said so that no
 * other index can be taken for it, however little the server knows of the table.
 */
export const earliestHead = (s: string) =>
  `(select least(${firstHead(s, false)}, ${firstHead(s, true)}) as due_ms)`

/** Shards of the owner `$1` in which it may claim, at `$2` or, where that is null, now by the server's clock. */
export const mayClaim = (s: string) => `select id, term from ${s}.shard
  where owner = $1 and not leaving
    and alive_until_ms > coalesce($2::float8, extract(epoch from clock_timestamp()) * 1000)`

export const readyStatements = (s: string) =>
  ({
    /** Of all endpoints: walks the index of heads from webhook to webhook, however many heads each has. */
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
    /** Of these webhooks. */
    readyOf: {
      name: 'ready_of',
      text: `select ${ENDPOINT_COLUMNS}, h.due_ms as "headMs"
        from ${s}.webhook w cross join lateral ${earliestHead(s)} h where w.id = any ($1::text[])`,
    },
  }) satisfies Record<string, Statement>
