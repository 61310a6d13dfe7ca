import type { Statement } from '../statement.js'

/** An event of a call, or one that names it as its other leg; for an account with its event or a delivery of it. */
export interface LegRow {
  readonly callId: string
  readonly other: string | null
}

/**
 * Whether a webhook of the account `$1`, or of any (null), has a delivery of the event `e`, row by row: EXISTS may read the
 * whole table.
 */
const isReceived = (s: string, table: 'waiting' | 'attempt') => `(
      select true from (
        select webhook_key from ${s}.${table} where event = e.position offset 0
      ) d cross join lateral (
        select account_id from ${s}.webhook w where w.key = d.webhook_key offset 0
      ) w where w.account_id = coalesce($1, w.account_id) limit 1
    ) is not null`

/** The account `$1`, the call leg `$2`. */
export const legsStatement = (s: string): Statement => ({
  name: 'legs',
  text: `select e.call_id as "callId", e.other_leg as other
    from (
      select * from ${s}.event where call_id = $2
      union all select * from ${s}.event where other_leg = $2 and call_id <> $2
    ) e
    where e.account_id = $1 or ${isReceived(s, 'waiting')} or ${isReceived(s, 'attempt')}
    order by abs(e.position)`,
})

/** An event of which a delivery is stored. */
export interface EventRow {
  readonly accountId: string
  readonly hook: string
  readonly callId: string | null
}

/** The account `$1` or null, the event `$2`. */
export const eventStatement = (s: string): Statement => ({
  name: 'event',
  text: `select e.account_id as "accountId", e.hook, e.call_id as "callId" from ${s}.event e
    where e.id = $2 and (${isReceived(s, 'waiting')} or ${isReceived(s, 'attempt')})`,
})
