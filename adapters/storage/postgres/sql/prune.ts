import { none, type Statement } from '../statement.js'

/** A webhook with more attempts than the limit, and the newest position to remove; the last one that was checked may have none. */
export interface ExcessRow {
  readonly key: number
  readonly upTo: number | null
}

/** Attempts that were removed. */
export interface RemovedAttempts {
  readonly removed: number
  /** JSON array of the positions of their events. */
  readonly events: string
}

/** Events that were removed. */
export interface RemovedEvents {
  readonly removed: number
  /** JSON array of the ids of their calls and accounts. */
  readonly calls: string
}

/** An event that was examined. */
export interface UnusedRow {
  readonly position: number
  readonly isRemovable: boolean
}

const unused = (s: string) =>
  `${none(`${s}.waiting`, 'x.event = e.position')} and ${none(`${s}.attempt`, 'x.event = e.position')}`

/**
 * Whether the event `e` can be removed: nothing refers to it. The last number of a call stays until the call has been quiet since
 * `$2` (store time, ms) and has no other event.
 */
const isRemovable = (s: string) => `${unused(s)} and e.accepted_ms <= $2 and (
    e.call_id is null
    or coalesce((
      select x.accepted_ms from ${s}.event x
      where x.call_id = e.call_id and x.account_id = e.account_id and x.sequence > 0
      order by x.sequence desc limit 1
    ), 0) <= $2 and (
      e.sequence is null
      or exists (
        select from ${s}.event x
        where x.call_id = e.call_id and x.account_id = e.account_id and x.sequence > e.sequence
      )
      or not exists (
        select from ${s}.event x
        where x.call_id = e.call_id and x.account_id = e.account_id and x.sequence < e.sequence
      )
    )
  )`

const removedAttempts =
  "select count(*) as removed, coalesce(json_agg(distinct event), '[]')::text as events from gone"

/**
 * Each statement removes a limited number of rows and skips locked ones, so that two nodes that prune at the same time
 * do not wait for each other. Rows without a key are removed by their location (`ctid`), which is cheap as they share
 * pages. An ended delivery is the row of its last attempt, and goes with it.
 */
export const pruneStatements = (s: string) =>
  ({
    /** Of the next `$2` webhooks after the key `$1`, those that have more than `$3` attempts, and the last one. */
    excess: {
      name: 'prune_excess',
      text: `with batch as materialized (select key from ${s}.webhook where key > $1 order by key limit $2)
        select b.key, x.position as "upTo" from batch b left join lateral (
          select a.position from ${s}.attempt a where a.webhook_key = b.key and a.doc is not null
          order by a.position desc offset $3 limit 1
        ) x on true where x.position is not null or b.key = (select max(key) from batch) order by b.key`,
    },
    attemptsUpTo: {
      name: 'prune_attempts_up_to',
      text: `with gone as (
          delete from ${s}.attempt where ctid = any (array(
            select ctid from ${s}.attempt where webhook_key = $1 and position <= $2 and doc is not null
            order by position limit $3 for update skip locked
          )) returning event
        ) ${removedAttempts}`,
    },
    attemptsBefore: {
      name: 'prune_attempts_before',
      text: `with gone as (
          delete from ${s}.attempt where ctid = any (array(
            select ctid from ${s}.attempt where at_ms < $1 order by at_ms limit $2 for update skip locked
          )) returning event
        ) ${removedAttempts}`,
    },
    /** Which of the next `$4` events between the positions `$1` and `$3` can be removed, as `isRemovable` says. */
    unused: {
      name: 'prune_unused',
      text: `select e.position, ${isRemovable(s)} as "isRemovable"
        from (
          select * from ${s}.event where position > $1 and position < $3 order by position limit $4
        ) e order by e.position`,
    },
    /** Which of the events `$1` can be removed, as `isRemovable` says. */
    unusedAmong: {
      name: 'prune_unused_among',
      text: `select e.position from unnest($1::bigint[]) u (position) cross join lateral (
          select * from ${s}.event where position = u.position offset 0
        ) e where ${isRemovable(s)} order by e.position`,
    },
    /** The events with the last numbers of the calls `$1` of the accounts `$2`. */
    lastOfCalls: {
      name: 'prune_last_of_calls',
      text: `select e.position from unnest($1::text[], $2::text[]) u (call_id, account_id) cross join lateral (
          select position from ${s}.event where call_id = u.call_id and account_id = u.account_id and sequence > 0
          order by sequence desc limit 1
        ) e`,
    },
    /** Waits for replays that refer to the events; later replays find them removed. */
    lockEvents: {
      name: 'prune_lock_events',
      text: `select position from ${s}.event where position = any ($1::bigint[]) order by position for update`,
    },
    /** Events without a delivery. A separate statement after the lock, so that it sees new deliveries. */
    events: {
      name: 'prune_events',
      text: `with gone as (
          delete from ${s}.event e where position = any ($1::bigint[]) and ${unused(s)}
          returning position, call_id, account_id
        ), bodies as (
          delete from ${s}.body b using gone g where b.event = g.position
        ) select count(*) as removed, coalesce(
            (select json_agg(json_build_array(call_id, account_id))
              from (select distinct call_id, account_id from gone where call_id is not null) c), '[]'
          )::text as calls from gone`,
    },
    keys: {
      name: 'prune_keys',
      text: `with gone as (
          delete from ${s}.idempotency where ctid = any (array(
            select ctid from ${s}.idempotency where until_ms <= $1 order by until_ms limit $2
            for update skip locked
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    /** A node that is further behind loads its shards again. */
    changes: {
      name: 'prune_changes',
      text: `delete from ${s}.change where at < now() - interval '1 hour'`,
    },
    /** Webhooks deleted before `$1`, locked against acceptances, which would refer to them. */
    deletedWebhooks: {
      name: 'prune_deleted_webhooks',
      text: `select key from ${s}.webhook where deleted_ms < $1
          and ${none(`${s}.waiting`, 'x.webhook_key = webhook.key')}
          and ${none(`${s}.attempt`, 'x.webhook_key = webhook.key and x.doc is not null')}
          and ${none(`${s}.attempt`, 'x.webhook_key = webhook.key and x.state >= 2')}
        order by deleted_ms limit $2 for update skip locked`,
    },
    webhooks: {
      name: 'prune_webhooks',
      text: `with gone as (
          delete from ${s}.webhook w where w.key = any ($1::int[])
            and ${none(`${s}.waiting`, 'x.webhook_key = w.key')}
            and ${none(`${s}.attempt`, 'x.webhook_key = w.key and x.doc is not null')}
            and ${none(`${s}.attempt`, 'x.webhook_key = w.key and x.state >= 2')} returning 1
        ) select count(*) as removed from gone`,
    },
  }) satisfies Record<string, Statement>
