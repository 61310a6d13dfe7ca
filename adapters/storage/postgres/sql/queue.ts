import { EVENT_COLUMNS, WAITING_COLUMNS, WEBHOOK_ID_COLUMNS } from '../rows.js'
import type { Statement } from '../statement.js'
import { watchMark } from './live.js'
import { heldKeys, isGone } from './session-keys.js'
import { storeMs } from './store-clock.js'

/** Waiting deliveries as bytes (`waiting-rows.ts`), and their webhooks as a JSON array of key, document and health. */
interface WaitingRow {
  readonly version: number
  readonly waiting: string | null
  readonly webhooks: string | null
}

export interface LoadRow extends WaitingRow {
  /** Key of the webhook where the next part begins; null: there are no more. */
  readonly nextKey: number | null
  /** Position after which the next part begins in this webhook. */
  readonly nextAfter: number
}

export interface PollRow extends WaitingRow {
  readonly pendingElsewhere: number
  readonly xid: string
}

export interface WatchRow {
  readonly hasWork: boolean
  readonly watched: string | null
  readonly holdsKey: boolean
  /** JSON array of fence, key, process and end of the lease; null: none. */
  readonly gone: string | null
}

export interface ChangesRow {
  readonly version: number
  /** How many of the versions since then are listed. */
  readonly listed: number
  /** JSON array of id of the webhook and positions (null: it was edited). */
  readonly changes: string | null
  readonly webhooks: string | null
}

export interface InterruptedRow {
  readonly webhookId: string
  readonly position: number
  readonly attempt: number
  readonly epoch: number
}

/** What one part of a load reads at most: 100,000 rows are 5 MB, and take 0.4 s. */
const PART_LIMITS = { webhooks: 1_000, rows: 100_000 }

const asBytes = (order: string) => `string_agg(
  int4send(r.webhook_key) || int8send(r.position) || int8send(r.lane) || int4send(r.sequence)
    || float8send(coalesce(r.due_ms, 0)) || int4send(r.epoch) || int4send(r.attempts) || int4send(r.tries)
    || int4send(r.interruptions) || float8send(coalesce(r.failed_ms, 0)), '' order by ${order})`

/** `condition` on `webhook w`. */
const webhooksAsJson = (s: string, condition: string) =>
  `(select json_agg(json_build_array(w.key, w.doc, w.health))::text from ${s}.webhook w where ${condition})`

const ofRows = 'w.key = any (array(select distinct webhook_key from rows))'

/** The node `$1` with the fence `$2`, while its lease holds. `clock`: parameter with the clock of a test, or null. */
const living = (s: string, columns: string, clock: string) =>
  `select ${columns} from ${s}.node where owner = $1 and fence = $2 and alive_until_ms > ${storeMs(s, clock)}`

export const queueStatements = (s: string) =>
  ({
    /**
     * The next part of the shards `$3`, after the position `$6` of the webhook with the key `$4`: a limited number of rows,
     * the first of each webhook, and it ends where the first webhook has more. Without the limit, a webhook with millions of
     * waiting deliveries could not be loaded within the time limit of a statement.
     */
    load: {
      name: 'queue_load',
      text: `with n as materialized (${living(s, 'version', '$5')}), batch as materialized (
          select key, case when key = $4 then $6::bigint else 0 end as after from ${s}.webhook
          where shard = any ($3::smallint[]) and key >= $4 and exists (select from n)
          order by key limit ${PART_LIMITS.webhooks}
        ), firsts as materialized (
          select r.* from batch b cross join lateral (
            select * from ${s}.waiting w where w.webhook_key = b.key and w.position > b.after
            order by w.position limit ${PART_LIMITS.rows}
          ) r limit ${PART_LIMITS.rows}
        ), cut as materialized (
          select b.key, coalesce(f.position, b.after) as after from batch b left join (
            select webhook_key, max(position) as position from firsts group by webhook_key
          ) f on f.webhook_key = b.key
          where (select count(*) from firsts) = ${PART_LIMITS.rows} and exists (
            select from ${s}.waiting w where w.webhook_key = b.key and w.position > coalesce(f.position, b.after)
          ) order by b.key limit 1
        ), rows as materialized (
          select * from firsts where webhook_key <= coalesce((select key from cut), webhook_key)
        )
        select n.version, (select ${asBytes('r.webhook_key, r.position')} from rows r)::text as waiting,
          ${webhooksAsJson(s, ofRows)} as webhooks,
          coalesce(
            (select key from cut),
            (select case when count(*) = ${PART_LIMITS.webhooks} then max(key) end from batch)
          ) as "nextKey",
          coalesce((select after from cut), ${Number.MAX_SAFE_INTEGER}) as "nextAfter"
        from n`,
    },
    /** Starts of leases that ended with any of the shards `$1`. */
    starts: {
      name: 'queue_starts',
      text: `select fence, entries::text from ${s}.start
        where fence = any (array(select distinct fence from ${s}.takeover where shard = any ($1::smallint[])))`,
    },
    /** Which of these starts, of leases that ended with their shard, have no stored outcome. */
    interrupted: {
      name: 'queue_interrupted',
      text: `select distinct w.id as "webhookId", d.position, u.attempt, d.epoch
        from unnest($1::int[], $2::bigint[], $3::int[], $4::int[]) u (key, position, attempt, fence)
        cross join lateral (select id, shard from ${s}.webhook where key = u.key offset 0) w
        cross join lateral (
          select * from ${s}.waiting
          where webhook_key = u.key and position = u.position and attempts = u.attempt - 1 offset 0
        ) d
        where w.shard = any ($5::smallint[]) and exists (
          select from ${s}.takeover t where t.shard = w.shard and t.fence = u.fence
        )`,
    },
    /** Takes incoming deliveries of transactions from `$3` on. */
    poll: {
      name: 'queue_poll',
      text: `with n as materialized (${living(s, 'version', '$4')}), taken as (
          delete from ${s}.incoming
          where shard = any (array(select id from ${s}.shard where owner = $1 and exists (select from n)))
            and xid >= $3::xid8
          returning webhook_key, position
        ), rows as materialized (
          select r.* from (select distinct webhook_key, position from taken) t cross join lateral (
            select * from ${s}.waiting w where w.webhook_key = t.webhook_key and w.position = t.position offset 0
          ) r
        )
        select n.version, pg_snapshot_xmin(pg_current_snapshot())::text as xid,
          (select coalesce(sum(pending), 0)::bigint from ${s}.node where owner <> $1) as "pendingElsewhere",
          (select ${asBytes('r.position, r.webhook_key')} from rows r)::text as waiting,
          ${webhooksAsJson(s, ofRows)} as webhooks
        from n`,
    },
    /** Raises the version without a change: the node loads its shards again. */
    requireLoad: {
      name: 'queue_require_load',
      text: `update ${s}.node set version = version + 1 where owner = $1 and fence = $2`,
    },
    changes: {
      name: 'queue_changes',
      text: `with n as materialized (${living(s, 'fence, version', '$4')}), c as materialized (
          select * from ${s}.change where fence = $2 and n > $3
        )
        select n.version, (select count(distinct n) from c) as listed,
          (select json_agg(json_build_array(webhook_id, positions))::text from c) as changes,
          ${webhooksAsJson(s, 'w.id = any (array(select webhook_id from c where positions is null))')} as webhooks
        from n`,
    },
    bodies: {
      name: 'queue_bodies',
      text: `select u.i::int, d.*, ${EVENT_COLUMNS}, ${WEBHOOK_ID_COLUMNS}, e.traceparent,
          case d.variant when 0 then e.body else (
            select body from ${s}.body b where b.event = d.event and b.variant = d.variant
          ) end as body
        from unnest($1::text[], $2::bigint[]) with ordinality u (webhook_id, position, i)
        cross join lateral (select * from ${s}.webhook w where w.id = u.webhook_id offset 0) w
        cross join lateral (
          select ${WAITING_COLUMNS} from ${s}.waiting where webhook_key = w.key and position = u.position offset 0
        ) d
        cross join lateral (select * from ${s}.event e where e.position = d.event offset 0) e`,
    },
    /**
     * Whether any of the nodes `$1` with the fences `$2`, which have polled up to `$3` and know the versions `$4`, has
     * something to do, or any shard is free, and what is watched of live items. Whether a session holds the key `$6`, and
     * which other nodes have lost their sessions, as a JSON array of arrays. Stores the numbers of pending deliveries, `$5`.
     * The statement that runs once a second.
     */
    watch: {
      name: 'queue_watch',
      text: `with u as materialized (
          select * from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bigint[])
            u (owner, fence, xid, version, pending)
        ), p as (
          update ${s}.node n set pending = u.pending
          from u where n.owner = u.owner and n.fence = u.fence and n.pending <> u.pending
        ), ${heldKeys}
        select exists (select from ${s}.shard where owner is null) or exists (
          select from u cross join lateral (
            select * from ${s}.node where owner = u.owner and fence = u.fence offset 0
          ) n
          where n.version > u.version or exists (
            select from ${s}.shard m where m.owner = u.owner and (
              exists (select from ${s}.incoming g where g.shard = m.id and g.xid >= u.xid::xid8)
              or exists (select from ${s}.inbox i where i.shard = m.id)
            )
          )
        ) as "hasWork", ${watchMark(s)} as watched,
          exists (select from held where key = $6::bigint) as "holdsKey", (
            select json_agg(json_build_array(n.fence, k.key::text, k.process, n.alive_until_ms))::text
            from ${s}.node n join ${s}.node_session k on k.fence = n.fence
            where n.fence <> all ($2::int[]) and ${isGone}
          ) as gone`,
    },
  }) satisfies Record<string, Statement>
