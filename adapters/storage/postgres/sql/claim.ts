import { DELIVERY_OWN_COLUMNS, type DeliveryRow, ENDPOINT_COLUMNS, type EndpointState } from '../rows.js'
import type { Statement } from '../statement.js'
import { unindexed } from './unindexed.js'

/**
 * A requested endpoint in a shard of this node; or (`webhookId` null) one of its heads; or (`place` 0) a shard with its
 * `term`.
 */
export interface ScanRow extends Omit<EndpointState, 'webhookId'> {
  readonly place: number
  readonly webhookId: string | null
  readonly key: number
  readonly epoch: number
  readonly probed: boolean
  readonly shard: number
  readonly term: number
  readonly revision: number
  /** Null: the cached revision is current. */
  readonly doc: string | null
  readonly health: string | null
  readonly retry: boolean
  readonly dueMs: number
  readonly position: number
  readonly id: string
  /** Location of the row. */
  readonly ctid: string
}

/** A claimed delivery, without the columns of its webhook. */
export interface ClaimedRow extends Omit<DeliveryRow, 'webhookId' | 'accountId'> {
  readonly key: number
  readonly body: string
  readonly traceparent: string | null
  /** Location of the row after the claim. */
  readonly ctid: string
}

export const claimStatements = (s: string) =>
  ({
    /**
     * The requested webhooks (`$1` ids, `$2` slots, `$3` cached revisions, 0: none) in the shards `$4` of the owner
     * `$5` at the time `$6`, with the earliest first attempts and retries of each: one more than it has slots, since
     * that one is due next.
     */
    scan: {
      name: 'claim_look',
      text: `with mine as materialized (
          select id, term from ${s}.shard
          where id = any ($4::smallint[]) and owner = $5 and alive_until_ms > $6 and not leaving
        ), named as materialized (
          select w.*, n.place, n.room, n.known
          from unnest($1::text[], $2::int[], $3::int[]) with ordinality n (id, room, known, place)
          join ${s}.webhook w on w.id = n.id
          where w.shard = any (array(select id from mine))
        )
        select w.place, ${ENDPOINT_COLUMNS}, w.key, w.epoch, w.probed, w.shard, null::int as term, w.revision,
          case when w.known <> w.revision then w.doc end as doc, w.health,
          null::bool as retry, null::float8 as "dueMs", null::bigint as position, null::text as id, null::tid as ctid
        from named w
        union all
        select 0, null, null, null, null, null, null, null, null, null, id, term, null, null, null, null, null, null, null, null
        from mine
        union all
        select n.place, null, null, null, null, null, null, null, null, null, null, null, null, null, null, h.*
        from named n cross join lateral (
          (select d.retry, d.due_ms, d.position, d.id, d.ctid from ${s}.delivery d
            where d.webhook_key = n.key and d.epoch = n.epoch and not d.retry and d.state = 0 and d.due_ms is not null
            order by d.due_ms, d.position limit n.room + 1)
          union all
          (select d.retry, d.due_ms, d.position, d.id, d.ctid from ${s}.delivery d
            where d.webhook_key = n.key and d.epoch = n.epoch and d.retry and d.state = 0 and d.due_ms is not null
            order by d.due_ms, d.position limit n.room + 1)
        ) h`,
    },
    /**
     * Claims the heads at `$1` (ids `$2`, terms of their shards `$3`) with the token `$4`, if the shards `$5` still
     * belong to the owner `$6` under the terms `$7` at the time `$8`, and the webhooks `$9` are still in the epochs
     * `$10` (disabling and deleting end an epoch). Rows are found at the location and in the version that the scan saw:
     * one that was moved or claimed since is left out.
     *
     * Locks shards, then webhooks, each sorted by key; only a takeover of the shard or the end of the epoch has to
     * wait.
     */
    claim: {
      name: 'claim_take',
      text: `with mine as materialized (
          select s.id from ${s}.shard s
          where s.id = any ($5::smallint[]) and s.term = ($7::int[])[array_position($5::smallint[], s.id)]
            and s.owner = $6 and s.alive_until_ms > $8 and not s.leaving
          order by s.id for key share
        ), held as materialized (
          select w.key from ${s}.webhook w
          where w.key = any ($9::int[]) and w.epoch = ($10::int[])[array_position($9::int[], w.key)]
            and w.shard = any (array(select id from mine))
          order by w.key for key share
        ), taken as (
          update ${s}.delivery d
          set state = 1, fence = d.fence + 1, due_ms = null, claim = $4, term = u.term
          from unnest($1::tid[], $2::text[], $3::int[]) u (at, id, term)
          where d.ctid = u.at and ${unindexed('d.id', 'u.id')} and d.state = 0
            and d.webhook_key + 0 = any (array(select key from held))
          returning d.*, d.ctid as at
        )
        select ${DELIVERY_OWN_COLUMNS}, d.webhook_key as key, e.body, e.traceparent, d.at as ctid
        from taken d join ${s}.event e on e.position = d.event and e.variant = d.variant`,
    },
  }) satisfies Record<string, Statement>
