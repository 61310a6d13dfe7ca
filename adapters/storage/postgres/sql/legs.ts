import type { Statement } from '../statement.js'

/** An event of a call, or one that names it as its other leg; for an account with its event or a delivery of it. */
export interface LegRow {
  readonly callId: string
  readonly other: string | null
}

/** The account `$1`, the call leg `$2`. */
export const legsStatement = (s: string): Statement => ({
  name: 'legs',
  text: `select e.call_id as "callId", e.other_leg as other
    from (
      select * from ${s}.event where call_id = $2
      union all select * from ${s}.event where other_leg = $2 and call_id <> $2
    ) e
    where e.account_id = $1 or exists (
      select from ${s}.waiting d join ${s}.webhook w on w.key = d.webhook_key
      where d.event = e.position and w.account_id = $1
    ) or exists (
      select from ${s}.attempt d join ${s}.webhook w on w.key = d.webhook_key
      where d.event = e.position and w.account_id = $1
    )
    order by abs(e.position)`,
})
