import { DELIVERY_COLUMNS, type DeliveryRow } from '../rows.js'
import type { Statement } from '../statement.js'

/** A delivery with the current epoch and the key of its webhook. */
export interface ReadDeliveryRow extends DeliveryRow {
  readonly webhookEpoch: number
  readonly webhookKey: number
}

/** Number of deliveries in the lane that must end before the one at this position. */
export interface AheadRow {
  readonly position: number
  readonly ahead: number
}

/**
 * Adds event and webhook to deliveries `d`, with lateral subqueries that are executed row by row: a generic plan, made
 * for any limit, expects many rows and would otherwise read all events.
 */
const withEventAndWebhook = (s: string, deliveries: string) => `select ${DELIVERY_COLUMNS},
    w.epoch as "webhookEpoch", w.key as "webhookKey"
  from (${deliveries}) d
  cross join lateral (
    select * from ${s}.event e where e.position = d.event and e.variant = d.variant offset 0
  ) e
  cross join lateral (select * from ${s}.webhook w where w.key = d.webhook_key offset 0) w`

/**
 * `$1`: webhook; `$2`: its account; `$3`: before or after this position; `$4`, `$5`: accepted from and to; `$6`: states
 * by number, null for any; `$7`: limit. A delivery that waits for an older epoch counts as cancelled (5).
 *
 * @param failed only exhausted, expired and quarantined deliveries: literal states, which have an index
 */
function list(s: string, ascending: boolean, failed: boolean): Statement {
  const order = ascending ? '' : 'desc'
  // A subquery, not a join: only with a single webhook can the order of the index be used.
  const webhook = (column: string) => `(select ${column} from ${s}.webhook where id = $1 and account_id = $2)`
  return {
    name: `deliveries${ascending ? '_up' : ''}${failed ? '_failed' : ''}`,
    text: `${withEventAndWebhook(
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
    /** The delivery `$1` of the account `$2`. */
    one: {
      name: 'delivery',
      text: `${withEventAndWebhook(s, `select * from ${s}.delivery where id = $1`)} where w.account_id = $2`,
    },
    down: list(s, false, false),
    up: list(s, true, false),
    downFailed: list(s, false, true),
    upFailed: list(s, true, true),
    /**
     * For the deliveries of webhook `$1` at the positions `$4`, which wait behind a head in the lanes `$2`. Each lane
     * is read once. Deliveries of an epoch before `$3` are cancelled and do not count; the head may be one of them.
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
