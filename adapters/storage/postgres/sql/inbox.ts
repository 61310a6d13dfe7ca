import type { Statement } from '../statement.js'
import { storeMs } from './store-clock.js'

export interface InboxRow {
  readonly id: string
  readonly accountId: string
  readonly callId: string | null
  readonly event: string
  readonly traceparent: string | null
}

/** Columns of `insertRows`, in the order of its values. */
const COLUMNS = ['shard', 'event_id', 'account_id', 'call_id', 'event', 'traceparent']

/** Inserts so many rows. Not by arrays: the host's session may say that an array has no nulls. */
export function insertRows(s: string, count: number): string {
  const row = (_: unknown, index: number) =>
    `(${COLUMNS.map((_, column) => `$${index * COLUMNS.length + column + 1}`).join()})`
  return `insert into ${s}.inbox (${COLUMNS.join()}) values ${Array.from({ length: count }, row).join()}`
}

export const inboxStatements = (s: string) =>
  ({
    /** The oldest `$2` entries of the owner's shards, each shard in the order of its writes. */
    staged: {
      name: 'inbox_staged',
      text: `select i.event_id as id, i.account_id as "accountId", i.call_id as "callId", i.event, i.traceparent
        from ${s}.shard m join ${s}.node n on n.owner = m.owner cross join lateral (
          select * from ${s}.inbox b where b.shard = m.id order by b.position limit $2
        ) i
        where m.owner = $1 and not m.leaving
          and n.alive_until_ms > ${storeMs(s, '$3')}
        order by i.position limit $2`,
    },
  }) satisfies Record<string, Statement>
