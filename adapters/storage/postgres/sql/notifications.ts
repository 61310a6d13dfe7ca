import type { Statement } from '../statement.js'

/** An endpoint that may be due earlier than its owner knows; null: a scan is needed. */
export interface NudgeRow {
  readonly webhookId: string | null
}

export const notificationStatements = (s: string) =>
  ({
    notify: { name: 'wake_notify', text: 'select pg_notify($1, $2) is null as told' },
    /** What other nodes left for the shards `$1`: the statement that runs once a second. */
    poll: {
      name: 'wake_poll',
      text: `with gone as (delete from ${s}.nudge where shard = any ($1::smallint[]) returning webhook_key)
        select distinct w.id as "webhookId" from gone g join ${s}.webhook w on w.key = g.webhook_key
        union all
        select null where exists (select from ${s}.inbox where shard = any ($1::smallint[]))
          or exists (select from ${s}.webhook w where w.stale and w.shard = any ($1::smallint[]))`,
    },
    nudge: {
      name: 'wake_nudge',
      text: `insert into ${s}.nudge (webhook_key, shard)
        select key, shard from ${s}.webhook where id = any ($1::text[])`,
    },
  }) satisfies Record<string, Statement>
