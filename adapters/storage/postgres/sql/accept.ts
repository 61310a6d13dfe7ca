import type { Statement } from '../statement.js'

/** A webhook that deliveries are accepted for, locked so that its epoch does not change. */
export interface AcceptWebhookRow {
  readonly id: string
  readonly key: number
  readonly shard: number
  readonly epoch: number
  readonly accountId: string
  readonly origin: string
  readonly failing: boolean
  readonly deleted: boolean
  readonly pausedMs: number
  /** Pending deliveries of the whole store: the same in every row. */
  readonly pending: number
}

/** A body of the event of a delivery that is replayed. */
export interface StoredBodyRow {
  /** Id of the delivery. */
  readonly id: string
  readonly eventId: string
  readonly position: number
}

/**
 * The last sequence number of a call (`key` null), or the number of open deliveries in a lane. A lane with a single
 * one, the usual case, has no row.
 */
export interface CountRow {
  readonly key: number | null
  readonly account: string | null
  readonly name: string
  readonly count: number
}

/** The time of a call's last event is indexed, and calls are kept for a day: it is written at most this often. */
const TOUCH_MS = 3_600_000

export const acceptStatements = (s: string) =>
  ({
    /** Serialises acceptances near the limit of pending deliveries. */
    lockPending: {
      name: 'accept_lock',
      text: `select pg_advisory_xact_lock(hashtextextended('${s} pending', 0)) is null as locked`,
    },
    lockWebhooks: {
      name: 'accept_hold',
      text: `select w.id, w.key, w.shard, w.epoch, w.account_id as "accountId", w.origin, w.failing,
          w.deleted_ms is not null as deleted, w.paused_ms as "pausedMs",
          (select coalesce(sum(deliveries), 0)::bigint from ${s}.pending) as pending
        from ${s}.webhook w where w.id = any ($1::text[]) order by w.key for key share of w`,
    },
    /** Bodies of the events of the deliveries `$1`, locked so that pruning does not remove them. */
    lockEvents: {
      name: 'accept_events',
      text: `select d.id, e.* from (
          select id, event from ${s}.delivery where id = any ($1::text[]) order by event + 0
        ) d cross join lateral (
          select e.id as "eventId", e.position from ${s}.event e where e.position = d.event order by e.variant for key share
        ) e`,
    },
    /** Adds to the sequence numbers of calls and to the counts of lanes, each sorted by key. */
    count: {
      name: 'accept_count',
      text: `with c as (
          insert into ${s}.call (account_id, call_id, sequence, last_ms)
          select * from unnest($1::text[], $2::text[], $3::int[], $4::float8[])
            u (account_id, call_id, sequence, last_ms) order by account_id collate "C", call_id collate "C"
          on conflict (account_id, call_id) do update
            set sequence = call.sequence + excluded.sequence,
              last_ms = case when call.last_ms < excluded.last_ms - ${TOUCH_MS} then excluded.last_ms else call.last_ms end
            where excluded.sequence > 0 or call.last_ms < excluded.last_ms - ${TOUCH_MS}
          returning account_id, call_id, sequence
        ), l as (
          insert into ${s}.lane (webhook_key, lane, open)
          select * from unnest($5::int[], $6::text[], $7::int[]) u (key, lane, open) order by key, lane collate "C"
          on conflict (webhook_key, lane) do update set open = lane.open + excluded.open
          returning webhook_key, lane, open
        )
        select null::int as key, account_id as account, call_id as name, sequence as count from c
        union all select webhook_key, null, lane, open from l where open <> 1`,
    },
    /**
     * `$1`: number of events; `$2`–`$10`: their bodies; `$11`–`$23`: deliveries in their order; `$24`, `$25`: slot of
     * the pending count and what to add; `$26`–`$28`: legs of calls; `$29`, `$30`: webhooks to nudge with their shards.
     */
    write: {
      name: 'accept_write',
      text: `with p as materialized (
          select array(
            select nextval('${s}.position') from generate_series(1, $1::int + cardinality($26::text[]))
          ) as positions
        ), e as (
          insert into ${s}.event
            (position, variant, timestamp_ms, id, account_id, call_id, hook, traceparent, body)
          select p.positions[b.i], b.variant, b.timestamp_ms, b.id, b.account_id, b.call_id, b.hook, b.traceparent, b.body
          from unnest($2::int[], $3::int[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::text[], $10::text[])
            b (i, variant, timestamp_ms, id, account_id, call_id, hook, traceparent, body)
          cross join p
        ), c as (
          update ${s}.pending set deliveries = deliveries + $25 where slot = $24
        ), l as (
          insert into ${s}.call_leg (position, account_id, call_id, other)
          select p.positions[$1 + g.place], g.account_id, g.call_id, g.other
          from unnest($26::text[], $27::text[], $28::text[]) with ordinality g (account_id, call_id, other, place)
          cross join p order by 2, 3, 4 on conflict do nothing
        ), n as (
          insert into ${s}.nudge (webhook_key, shard) select * from unnest($29::int[], $30::smallint[])
        )
        insert into ${s}.delivery (event, accepted_ms, due_ms, webhook_key, shard, variant, epoch, id, lane, encoding,
          http_verb, replay_of)
        select coalesce(p.positions[d.i], d.event), d.now, case when d.head then d.now end, d.webhook_key, d.shard,
          d.variant, d.epoch, d.id, d.lane, d.encoding, d.http_verb, d.replay_of
        from unnest($11::int[], $12::bigint[], $13::float8[], $14::bool[], $15::int[], $16::smallint[], $17::int[],
          $18::int[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[]) with ordinality
          d (i, event, now, head, webhook_key, shard, variant, epoch, id, lane, encoding, http_verb, replay_of, place)
        cross join p order by d.place`,
    },
  }) satisfies Record<string, Statement>
