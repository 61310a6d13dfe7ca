import { ENDPOINT_COLUMNS, type EndpointRow } from '../rows.js'
import type { Statement } from '../session.js'
import { earliestHead } from './ready.js'

/** A delivery and its lane, for who does not know them. */
export interface PlaceRow {
  readonly id: string
  readonly key: number
  readonly lane: string
  /** Whether it is the first of its lane. */
  readonly head: boolean
  readonly ctid: string
}

/** A lane that is locked, and how many are open in it. */
export interface LaneRow {
  readonly key: number
  readonly lane: string
  readonly open: number
}

/** A webhook after what ended. */
export interface LeftRow extends EndpointRow {
  readonly key: number
  readonly epoch: number
}

export const laneStatements = (s: string) =>
  ({
    locate: {
      name: 'lanes_locate',
      text: `select d.id, d.webhook_key as key, d.lane, d.state = 1 or d.due_ms is not null as head, d.ctid
        from ${s}.delivery d where d.id = any ($1::text[])`,
    },
    /**
     * Locks lanes, and does nothing else: what is behind in them is looked for by a later statement. This one may have
     * waited for an acceptance, and cannot see what that brought.
     */
    lock: {
      name: 'lanes_lock',
      text: `select l.webhook_key as key, l.lane, l.open
        from unnest($1::int[], $2::text[]) u (key, lane)
        join ${s}.lane l on l.webhook_key = u.key and l.lane = u.lane
        order by l.webhook_key, l.lane for no key update of l`,
    },
    /**
     * In lanes that are locked: fewer are open in `$1`, `$2` by `$3`; `$4`, `$5` are empty; the next of `$6`, `$7` is
     * due at `$8`; the pending count is lower by `$10` in the slot `$9`. Gives the webhooks `$11` as they stand then.
     */
    leave: {
      name: 'lanes_leave',
      text: `with fewer as (
          update ${s}.lane l set open = l.open - u.ended
          from unnest($1::int[], $2::text[], $3::int[]) u (key, lane, ended)
          where l.webhook_key = u.key and l.lane = u.lane
        ), gone as (
          delete from ${s}.lane l using unnest($4::int[], $5::text[]) u (key, lane)
          where l.webhook_key = u.key and l.lane = u.lane
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
