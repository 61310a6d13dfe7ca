import { none, type Statement } from '../statement.js'
import { ofEachKind } from './ended.js'

/** All bodies of one event or inbox entry. */
export interface BodiesRow {
  readonly position: number
  readonly callId: string | null
  /** JSON array of texts. */
  readonly bodies: string
}

/** The body of an event without a delivery stays for a while, and is not searched. */
const bodies = (s: string) =>
  `(case when e.body is null or (
      ${none(`${s}.waiting`, 'x.event = e.position')} and ${none(`${s}.attempt`, 'x.event = e.position')}
    ) then '[]' else (
    select json_agg(t.body)::text from (
      select e.body union all select b.body from ${s}.body b where b.event = e.position
    ) t
  ) end)`

/**
 * Met by every row, and part of the index that has the events of all calls of an account: see `OF_ALL_WEBHOOKS`. Before the
 * server's statistics know of the events, one call's seem to cost the same by either index.
 */
export const OF_ALL_CALLS = 'accepted_ms >= 0'

/** Bodies that concern the account `$1`, after the position `$2`, at most `$3`, oldest first. */
export const mentionStatements = (s: string) =>
  ({
    events: {
      name: 'mentions_events',
      text: `select e.position, e.call_id as "callId", ${bodies(s)} as bodies
        from ${s}.event e where e.account_id = $1 and e.${OF_ALL_CALLS} and e.position > $2
        order by e.position limit $3`,
    },
    received: {
      name: 'mentions_received',
      text: `select d.position, e.call_id as "callId", case when e.account_id = $1 then '[]' else ${bodies(s)} end as bodies
        from (
          select d.position, d.event from ${s}.webhook w cross join lateral (
            (select position, event from ${s}.waiting where webhook_key = w.key and position > $2
              order by position limit $3)
            union all
            ${ofEachKind(
              (
                kind,
              ) => `select delivery, event from ${s}.attempt where webhook_key = w.key and ${kind} and delivery > $2
                order by delivery limit $3`,
            )}
          ) d where w.account_id = $1 order by d.position fetch first $3 rows with ties
        ) d cross join lateral (
          select * from ${s}.event e where e.position = d.event offset 0
        ) e order by d.position`,
    },
    inbox: {
      name: 'mentions_inbox',
      text: `select position, call_id as "callId", json_build_array(event)::text as bodies
        from ${s}.inbox where account_id = $1 and position > $2 order by position limit $3`,
    },
  }) satisfies Record<string, Statement>
