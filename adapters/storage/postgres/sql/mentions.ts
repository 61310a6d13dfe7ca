import type { Statement } from '../statement.js'

/** All bodies of one event or inbox entry. */
export interface BodiesRow {
  readonly position: number
  readonly callId: string | null
  /** JSON array of texts. */
  readonly bodies: string
}

const bodies = (s: string) =>
  `(select json_agg(b.body order by b.variant) from ${s}.event b where b.position = e.position)::text`

/** Bodies that concern the account `$1`, after the position `$2`, at most `$3`, oldest first. */
export const mentionStatements = (s: string) =>
  ({
    events: {
      name: 'mentions_events',
      text: `select e.position, e.call_id as "callId", ${bodies(s)} as bodies
        from ${s}.event e where e.account_id = $1 and e.position > $2 and e.variant = 0
        order by e.position limit $3`,
    },
    received: {
      name: 'mentions_received',
      text: `select d.position, e.call_id as "callId",
          case when e.account_id = $1 then '[]' else ${bodies(s)} end as bodies
        from (
          select d.* from ${s}.webhook w cross join lateral (
            select * from ${s}.delivery d where d.webhook_key = w.key and d.position > $2
            order by d.position limit $3
          ) d where w.account_id = $1 order by d.position limit $3
        ) d cross join lateral (
          select * from ${s}.event e where e.position = d.event and e.variant = d.variant offset 0
        ) e order by d.position`,
    },
    inbox: {
      name: 'mentions_inbox',
      text: `select position, call_id as "callId", json_build_array(event)::text as bodies
        from ${s}.inbox where account_id = $1 and position > $2 order by position limit $3`,
    },
  }) satisfies Record<string, Statement>
