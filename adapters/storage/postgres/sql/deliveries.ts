import { DELIVERY_COLUMNS, type DeliveryRow } from '../rows.js'
import type { Statement } from '../session.js'

/** A delivery with the epoch of its webhook now, and its webhook's number. */
export interface ReadDeliveryRow extends DeliveryRow {
  readonly webhookEpoch: number
  readonly webhookKey: number
}

/** How many of a lane must end before the row at this position. */
export interface AheadRow {
  readonly position: number
  readonly ahead: number
}

/**
 * What belongs to deliveries `d`, looked up row by row: a plan that is made for any limit expects many rows, and would
 * read all events for them.
 */
const whole = (s: string, deliveries: string) => `select ${DELIVERY_COLUMNS},
    w.epoch as "webhookEpoch", w.key as "webhookKey"
  from (${deliveries}) d
  cross join lateral (
    select * from ${s}.event e where e.position = d.event and e.variant = d.variant offset 0
  ) e
  cross join lateral (select * from ${s}.webhook w where w.key = d.webhook_key offset 0) w`

/**
 * `$1` webhook, `$2` its account, `$3` before or after this position, `$4` and `$5` accepted from and to, `$6` states by
 * number, null: any; at most `$7`. What waits for an older epoch is cancelled (5).
 *
 * @param failed literal states, which have an index: only exhausted, expired and quarantined ones are asked for
 */
function list(s: string, ascending: boolean, failed: boolean): Statement {
  const order = ascending ? '' : 'desc'
  // Not joined: the order of an index holds for one webhook, which a join does not promise.
  const webhook = (column: string) => `(select ${column} from ${s}.webhook where id = $1 and account_id = $2)`
  return {
    name: `deliveries${ascending ? '_up' : ''}${failed ? '_failed' : ''}`,
    text: `${whole(
      s,
      `select * from ${s}.delivery d
        where d.webhook_key = ${webhook('key')} and d.position ${ascending ? '>' : '<'} $3
          and d.accepted_ms between $4 and $5 ${failed ? 'and d.state in (3, 4, 6)' : ''}
          and ($6::int[] is null
            or case when d.state = 0 and d.epoch < ${webhook('epoch')} then 5 else d.state end = any ($6))
        order by d.position ${order} limit $7`,
    )} order by d.position ${order}`,
  }
}

export const deliveryStatements = (s: string) =>
  ({
    /** `$1` of the account `$2`. */
    one: {
      name: 'delivery',
      text: `${whole(s, `select * from ${s}.delivery where id = $1`)} where w.account_id = $2`,
    },
    down: list(s, false, false),
    up: list(s, true, false),
    downFailed: list(s, false, true),
    upFailed: list(s, true, true),
    /**
     * Of the rows of webhook `$1` at the positions `$4`, which wait in the lanes `$2` behind a head: each lane is walked
     * once. What waits for an epoch before `$3` is cancelled and in nobody's way; the head may be one of those.
     */
    ahead: {
      name: 'deliveries_ahead',
      text: `select position, ahead from (
          select b.position,
            count(*) over (partition by b.lane order by b.position) - coalesce(h.cancelled, 0) as ahead
          from ${s}.delivery b left join (
            select lane, count(*) as cancelled from ${s}.delivery
            where webhook_key = $1 and epoch < $3 and lane = any ($2::text[]) and state = 0 and due_ms is not null
            group by lane
          ) h on h.lane = b.lane
          where b.webhook_key = $1 and b.lane = any ($2::text[]) and b.state = 0 and b.due_ms is null
            and b.epoch >= $3
        ) x where position = any ($4::bigint[])`,
    },
    pending: {
      name: 'deliveries_pending',
      text: `select coalesce(sum(deliveries), 0)::bigint as pending from ${s}.pending`,
    },
  }) satisfies Record<string, Statement>
