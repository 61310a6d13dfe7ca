import type { Statement } from '../statement.js'
import { lockedLane } from './lanes.js'
import { unindexed } from './unindexed.js'

/** A shard with its owner, or (`id` not null) a webhook of the batch. */
export interface OwnerRow {
  readonly id: string | null
  /** Number of the shard, or key of the webhook. */
  readonly key: number
  readonly owner: string | null
  readonly aliveUntilMs: number | null
}

/** A locked webhook that a settlement may change. */
export interface LockedWebhookRow {
  readonly key: number
  readonly id: string
  readonly epoch: number
  readonly health: string | null
  /** Null unless a settlement may disable the webhook: only disabling needs it. */
  readonly doc: string | null
}

export interface SettledRow {
  /** Place of the entry in the values, from 1. */
  readonly place: number
  readonly epoch: number
}

/** A stored delivery, to find out whether a settlement was written. */
export interface StoredDeliveryRow {
  readonly id: string
  readonly webhookId: string
  readonly state: number
  readonly fence: number
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly reason: string | null
}

/** A shard with its owner, or (`lane` not null) a locked lane. */
export interface LeaseOrLaneRow {
  readonly lane: string | null
  /** Number of the shard, or key of the lane's webhook. */
  readonly key: number
  readonly owner: string | null
  readonly aliveUntilMs: number | null
  readonly open: number | null
}

export const settleStatements = (s: string) =>
  ({
    /** Locks the shards `$1`, then the lanes `$2`, `$3`, and does nothing else (see `lanes.lock`). */
    lockEnding: {
      name: 'settle_begin',
      text: `with mine as materialized (
          select id, owner, alive_until_ms from ${s}.shard where id = any ($1::smallint[]) and owner is not null
          order by id for key share
        ), locked as materialized (
          select l.* from (
            select key, lane from unnest($2::int[], $3::text[]) u (key, lane)
            where (select count(*) from mine) >= 0 order by key, lane collate "C"
          ) u cross join lateral ${lockedLane(s)} l
        )
        select null as lane, id as key, owner, alive_until_ms as "aliveUntilMs", null::int as open from mine
        union all select lane, key, null, null, open from locked`,
    },
    /** Locks the shards `$2` against a takeover, and reads them and the webhooks `$1`. */
    lockShards: {
      name: 'settle_hold',
      text: `with mine as materialized (
          select id, owner, alive_until_ms from ${s}.shard where id = any ($2::smallint[]) and owner is not null
          order by id for key share
        )
        select null as id, id as key, owner, alive_until_ms as "aliveUntilMs" from mine
        union all select id, key, null, null from ${s}.webhook where id = any ($1::text[])`,
    },
    /** Locks webhooks whose health may change, or whose epoch must not, since a delivery goes back to waiting. */
    lock: {
      name: 'settle_lock',
      text: `select key, id, epoch, health, case when id = any ($2::text[]) then doc end as doc
        from ${s}.webhook where key = any ($1::int[]) order by key for no key update`,
    },
    /** The same when a webhook may be disabled: blocks acceptances and claims in its epoch too. */
    lockToDisable: {
      name: 'settle_lock_all',
      text: `select key, id, epoch, health, case when id = any ($2::text[]) then doc end as doc
        from ${s}.webhook where key = any ($1::int[]) order by key for update`,
    },
    /**
     * Updates the deliveries `$2` at the locations `$1` that are in the expected state (`$3` to `$5`), and inserts
     * their records (`$13` to `$16`). Only heads have a due time.
     */
    write: {
      name: 'settle_write',
      text: `with gone_on as (
          update ${s}.delivery d
          set state = u.state, ended_ms = u.ended_ms,
            due_ms = case when d.state = 1 or d.due_ms is not null then u.due_ms end, attempts = u.attempts, retry = u.attempts > 0,
            tries = u.tries, interruptions = u.interruptions, reason = u.reason, claim = null
          from unnest($1::tid[], $2::text[], $3::int[], $4::smallint[], $5::int[], $6::smallint[], $7::float8[],
            $8::float8[], $9::int[], $10::int[], $11::int[], $12::text[], $13::float8[], $14::text[], $15::text[],
            $16::text[]) with ordinality
            u (at, id, key, was, fence, state, due_ms, ended_ms, attempts, tries, interruptions, reason,
              at_ms, account_id, call_id, doc, place)
          where d.ctid = u.at and ${unindexed('d.id', 'u.id')} and d.webhook_key + 0 = u.key and d.state = u.was
            and d.fence = u.fence
          returning d.id, d.webhook_key, d.epoch, u.at_ms, u.account_id, u.call_id, u.doc, u.place
        ), recorded as (
          insert into ${s}.attempt (at_ms, webhook_key, account_id, delivery_id, call_id, doc)
          select at_ms, webhook_key, account_id, id, call_id, doc from gone_on where doc is not null order by place
        )
        select place, epoch from gone_on`,
    },
    /** Updates health and, for webhooks that are disabled, revision and document (otherwise null). */
    change: {
      name: 'settle_change',
      text: `update ${s}.webhook w
        set health = u.health, paused_ms = u.paused_ms, failing = u.failing, probed = u.probed, stale = w.stale or w.epoch < u.epoch,
          epoch = u.epoch,
          revision = coalesce(u.revision, w.revision), doc = coalesce(u.doc, w.doc)
        from unnest($1::int[], $2::text[], $3::float8[], $4::bool[], $5::bool[], $6::int[], $7::int[], $8::text[])
          u (key, health, paused_ms, failing, probed, epoch, revision, doc)
        where w.key = u.key`,
    },
    stored: {
      name: 'settle_standing',
      text: `select d.id, w.id as "webhookId", d.state, d.fence, d.attempts, d.tries, d.interruptions, d.reason
        from ${s}.delivery d join ${s}.webhook w on w.key = d.webhook_key where d.id = any ($1::text[])`,
    },
    webhooks: {
      name: 'settle_webhooks',
      text: `select doc, health from ${s}.webhook where id = any ($1::text[])`,
    },
  }) satisfies Record<string, Statement>
