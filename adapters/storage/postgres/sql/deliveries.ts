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

/**
 * Deliveries of all accounts, newest first. `$1`: before this position; `$2`, `$3`: accepted from and to; `$4`: states by
 * number, null for any; `$5`: limit; `$6`: account, `$7`: webhook, `$8`: call leg, each null for any.
 *
 * Positions alone have no index, which every accept would pay for: the newest of each webhook are read and merged. The
 * events of a call are materialized: costs of the rest, a guess, would otherwise hide that the index is cheaper.
 */
function search(s: string, by: 'webhook' | 'failed' | 'call'): Statement {
  const state = 'case when d.state = 0 and d.epoch < w.epoch then 5 else d.state end'
  const matching = `d.webhook_key = w.key and d.position < $1 and d.accepted_ms between $2 and $3
    and ($4::int[] is null or ${state} = any ($4)) ${by === 'failed' ? 'and d.state in (3, 4, 6)' : ''}`
  const chosen = `($6::text is null or w.account_id = $6) and ($7::text is null or w.id = $7)`
  const found =
    by === 'call'
      ? `with of_call as materialized (select position, variant from ${s}.event where call_id = $8)
          select d.* from of_call e
          cross join lateral (
            select * from ${s}.delivery d where d.event = e.position and d.variant = e.variant offset 0
          ) d
          cross join lateral (select * from ${s}.webhook w where w.key = d.webhook_key offset 0) w
          where ${matching} and ${chosen}`
      : `select d.* from ${s}.webhook w cross join lateral (
            select * from ${s}.delivery d where ${matching} order by d.position desc limit $5
          ) d where ${chosen} and $8::text is null`
  return {
    name: `deliveries_search_${by}`,
    text: `${withEventAndWebhook(s, `${found} order by d.position desc limit $5`)} order by d.position desc`,
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
    search: search(s, 'webhook'),
    searchFailed: search(s, 'failed'),
    searchCall: search(s, 'call'),
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
