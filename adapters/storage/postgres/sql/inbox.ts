import type { Statement } from '../statement.js'
import { storeMs } from './store-clock.js'

export interface InboxRow {
  readonly id: string
  readonly accountId: string
  readonly callId: string | null
  readonly event: string
  readonly traceparent: string | null
}

export const inboxStatements = (s: string) =>
  ({
    put: {
      name: 'hookswitch_inbox_put',
      text: `insert into ${s}.inbox (shard, event_id, account_id, call_id, event, traceparent)
        values ($1, $2, $3, $4, $5, $6)`,
    },
    /** The oldest `$2` entries of the owner's shards, each shard in the order of its writes. */
    staged: {
      name: 'inbox_staged',
      text: `select i.event_id as id, i.account_id as "accountId", i.call_id as "callId", i.event, i.traceparent
        from ${s}.shard m cross join lateral (
          select * from ${s}.inbox b where b.shard = m.id order by b.position limit $2
        ) i
        where m.owner = $1 and not m.leaving
          and m.alive_until_ms > ${storeMs(s, '$3')}
        order by i.position limit $2`,
    },
    /** Locks the entries that still exist: another node that accepts them waits here, and then finds them gone. */
    lock: {
      name: 'inbox_hold',
      text: `select event_id as id from ${s}.inbox where event_id = any ($1::text[]) order by event_id for update`,
    },
    remove: { name: 'inbox_admit', text: `delete from ${s}.inbox where event_id = any ($1::text[])` },
  }) satisfies Record<string, Statement>
