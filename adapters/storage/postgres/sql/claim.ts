import {
  type DeliveryRow,
  ENDPOINT_COLUMNS,
  type EndpointStand,
  DELIVERY_OWN_COLUMNS as TAKEN_COLUMNS,
} from '../rows.js'
import type { Statement } from '../session.js'
import { unindexed } from './unindexed.js'

/**
 * An endpoint that was named and is this node's; or (`webhookId` null) one of its heads; or (`place` 0) a shard with its
 * `term`.
 */
export interface LookRow extends Omit<EndpointStand, 'webhookId'> {
  readonly place: number
  readonly webhookId: string | null
  readonly key: number
  readonly epoch: number
  readonly probed: boolean
  readonly shard: number
  readonly term: number
  readonly revision: number
  /** Null: it is of the revision that is known already. */
  readonly doc: string | null
  readonly health: string | null
  readonly retry: boolean
  readonly dueMs: number
  readonly position: number
  readonly id: string
  /** Where the row is. */
  readonly ctid: string
}

/** Without its webhook, which is known. */
export interface TakenRow extends Omit<DeliveryRow, 'webhookId' | 'accountId'> {
  readonly key: number
  readonly body: string
  readonly traceparent: string | null
  /** Where the row is now. */
  readonly ctid: string
}

export const claimStatements = (s: string) =>
  ({
    /**
     * What is named (`$1` ids with `$2` room, `$3` the revision that is known, 0: none) in the shards `$4` of this owner
     * `$5`, now `$6`; the earliest heads of each, of both kinds and one more than the room: that is what is due next.
     */
    look: {
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
     * Heads at `$1` (their ids `$2`, the terms of their shards `$3`) are taken by the call `$4`, where the shards `$5` are
     * still this owner's `$6` in these terms `$7`, now `$8`, and the webhooks `$9` of these epochs `$10` (which
     * disabling and deleting end). Found where they
     * were seen, as the very version that was seen: one that was moved or taken since is left out.
     *
     * Locks shards, then webhooks, each in the order of its keys, so that only who takes the shard or ends the epoch has
     * to wait.
     */
    take: {
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
        select ${TAKEN_COLUMNS}, d.webhook_key as key, e.body, e.traceparent, d.at as ctid
        from taken d join ${s}.event e on e.position = d.event and e.variant = d.variant`,
    },
  }) satisfies Record<string, Statement>
