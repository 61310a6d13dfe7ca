import { stateNumberOf } from '../rows.js'
import type { Statement } from '../statement.js'
import { DELIVERED, REPLAYED, UNDELIVERED } from './ended.js'

/** A webhook with deliveries that are counted. */
export interface ReplayableRow {
  readonly webhookId: string
  readonly count: number
}

/** `form` of a test, or more: its lane is of the last kind (`rows.ts`). */
const TEST_FORM = 48
const CANCELLED = stateNumberOf('cancelled')

/**
 * How many deliveries of each of the webhooks `$1` ended in the states `$2` and were accepted from `$3` to `$4`, all of them from
 * the position `$6` on, which are neither replays nor tests; without those that a replay has recovered, unless `$5`. With
 * `isDetailed` also: of the kinds `$7`, for the reason `$8` (null: any).
 *
 * What has recovered is merged with the rest by position: the position of an original is that of the event of its replays. The
 * indexes of what was delivered and of what was not answer alone, unless the question is detailed. Replays that wait are read in the order of the
 * index that has them by webhook: where one webhook has nearly all of them, another index would look as good.
 */
export function replayableStatement(s: string, isDetailed: boolean): Statement {
  const matches = (
    position: string,
    reason: string,
  ) => `${position} >= $6 and replay_of is null and form < ${TEST_FORM}
        and case when accepted_ms >= $3 then accepted_ms <= $4 end
        ${
          isDetailed
            ? `and ($8::text is null or ${reason} = $8) and ($7::text[] is null or (
                select hook from ${s}.event e where e.position = event
              ) = any ($7))`
            : ''
        }`
  return {
    name: `deliveries_replayable${isDetailed ? '_detailed' : ''}`,
    text: `select g.id as "webhookId", d.count
      from (select distinct id from unnest($1::text[]) u (id)) g
      cross join lateral (select key, epoch from ${s}.webhook where id = g.id offset 0) w
      cross join lateral (select count(*)::int as count from (
        select position from (
          select delivery as position, false as recovers from ${s}.attempt
          where webhook_key = w.key and ${UNDELIVERED} and $2::int[] && array[3, 4, 5, 6] and state = any ($2)
            and ${matches('delivery', 'reason')}
          union all
          select delivery, false from ${s}.attempt
          where webhook_key = w.key and ${DELIVERED} and ${stateNumberOf('delivered')} = any ($2) and ${matches('delivery', 'reason')}
          union all
          select position, false from ${s}.waiting
          where webhook_key = w.key and epoch < w.epoch and w.epoch > 1 and ${CANCELLED} = any ($2)
            and ${matches('position', `'cancelled'`)}
          union all
          select event, true from ${s}.attempt where webhook_key = w.key and ${REPLAYED} and state >= 2 and not $5
          union all
          select event, true from (
            select event, epoch from ${s}.waiting where webhook_key = w.key and replay_of is not null
            order by lane, position offset 0
          ) r where epoch >= w.epoch and not $5
        ) u group by position having not bool_or(recovers)
      ) p) d where d.count > 0`,
  }
}
