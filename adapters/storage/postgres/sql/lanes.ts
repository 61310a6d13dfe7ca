import { ENDPOINT_COLUMNS, type EndpointRow } from '../rows.js'
import type { Statement } from '../statement.js'
import { earliestHead } from './ready.js'

/** Location and lane of a delivery. */
export interface LocationRow {
  readonly id: string
  readonly key: number
  readonly lane: string
  /** Whether it is the head of its lane. */
  readonly head: boolean
  readonly ctid: string
}

/** A locked lane with its number of open deliveries. */
export interface LaneRow {
  readonly key: number
  readonly lane: string
  readonly open: number
}

/** A webhook after deliveries have left its lanes. */
export interface LaneEndpointRow extends EndpointRow {
  readonly key: number
  readonly epoch: number
}

/** Locks the lane `u.lane` of the webhook `u.key`. Callers lock lanes in the order of their keys. */
export const lockedLane = (s: string) =>
  `(select webhook_key as key, lane, open from ${s}.lane where webhook_key = u.key and lane = u.lane for no key update)`

/** Location of that lane, which is locked already and so does not move. */
const laneAt = (s: string) =>
  `(select ctid as at from ${s}.lane where webhook_key = u.key and lane = u.lane offset 0)`

export const laneStatements = (s: string) =>
  ({
    locate: {
      name: 'lanes_locate',
      text: `select d.id, d.webhook_key as key, d.lane, d.state = 1 or d.due_ms is not null as head, d.ctid
        from ${s}.delivery d where d.id = any ($1::text[])`,
    },
    /**
     * Locks lanes, and does nothing else. The next deliveries are searched by a later statement: this one may have
     * waited for an acceptance and does not see what that added.
     */
    lock: {
      name: 'lanes_lock',
      text: `select l.* from (
          select key, lane from unnest($1::int[], $2::text[]) u (key, lane) order by key, lane collate "C"
        ) u cross join lateral ${lockedLane(s)} l`,
    },
    /**
     * In locked lanes: lowers the open count of `$1`, `$2` by `$3`; deletes `$4`, `$5`; makes the next delivery of
     * `$6`, `$7` due at `$8`; lowers the pending count in the slot `$9` by `$10`. Returns the webhooks `$11` in their
     * state after that.
     */
    leave: {
      name: 'lanes_leave',
      text: `with fewer as (
          update ${s}.lane l set open = l.open - f.ended
          from (
            select u.ended, t.at from unnest($1::int[], $2::text[], $3::int[]) u (key, lane, ended)
            cross join lateral ${laneAt(s)} t
          ) f where l.ctid = f.at
        ), gone as (
          delete from ${s}.lane l using (
            select t.at from unnest($4::int[], $5::text[]) u (key, lane) cross join lateral ${laneAt(s)} t
          ) e where l.ctid = e.at
        ), counted as (
          update ${s}.pending set deliveries = deliveries - $10 where slot = $9 and $10 <> 0
        ), next as (
          update ${s}.delivery d set due_ms = n.now
          from unnest($6::int[], $7::text[], $8::float8[]) u (key, lane, now) cross join lateral (
            select b.ctid as at, u.now from ${s}.delivery b
            where b.webhook_key = u.key and b.lane = u.lane and b.state = 0 and b.due_ms is null
            order by b.position limit 1
          ) n
          where d.ctid = n.at
          returning d.webhook_key, d.epoch, d.due_ms
        )
        select ${ENDPOINT_COLUMNS}, w.key, w.epoch, h.due_ms as "headMs", false as promoted
        from ${s}.webhook w cross join lateral ${earliestHead(s)} h where w.key = any ($11::int[])
        union all
        select null, null, null, null, null, null, webhook_key, epoch, due_ms, true from next`,
    },
  }) satisfies Record<string, Statement>
