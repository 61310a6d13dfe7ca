import type { Statement } from '../statement.js'

/** A webhook with more attempts than the limit, and the newest position to remove. */
export interface ExcessRow {
  readonly key: number
  readonly upTo: number
}

/** An ended delivery to remove, and its event. */
export interface EndedRow {
  readonly id: string
  readonly event: number
}

/** A call without recent events. */
export interface QuietRow {
  readonly accountId: string
  readonly callId: string
  /** No event or attempt of it is stored. */
  readonly over: boolean
}

/** True if the table has no such row: one index lookup per row, where NOT EXISTS may read the whole table. */
const none = (table: string, condition: string) =>
  `(select true from ${table} x where ${condition} limit 1) is null`

/**
 * Each statement removes a limited number of rows and skips locked ones, so that two nodes that prune at the same time
 * do not wait for each other. Rows without a key are removed by their location (`ctid`), which is cheap as they share
 * pages.
 */
export const pruneStatements = (s: string) =>
  ({
    lastWebhook: { name: 'prune_last', text: `select coalesce(max(key), 0) as key from ${s}.webhook` },
    /** Webhooks with keys from `$1` to `$2` that have more than `$3` attempts. Reads `$3` index entries for each. */
    excess: {
      name: 'prune_excess',
      text: `select w.key, x.position as "upTo" from ${s}.webhook w cross join lateral (
          select a.position from ${s}.attempt a where a.webhook_key = w.key
          order by a.position desc offset $3 limit 1
        ) x where w.key between $1 and $2 order by w.key`,
    },
    attemptsUpTo: {
      name: 'prune_attempts_up_to',
      text: `with gone as (
          delete from ${s}.attempt where ctid = any (array(
            select ctid from ${s}.attempt where webhook_key = $1 and position <= $2 order by position limit $3
            for update skip locked
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    attemptsBefore: {
      name: 'prune_attempts_before',
      text: `with gone as (
          delete from ${s}.attempt where ctid = any (array(
            select ctid from ${s}.attempt where at_ms < $1 order by at_ms limit $2 for update skip locked
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    ended: {
      name: 'prune_ended',
      text: `select id, event from ${s}.delivery where state >= 2 and ended_ms < $1
        order by ended_ms limit $2 for update skip locked`,
    },
    /** Waits for replays that refer to the events; later replays find them removed. */
    lockEvents: {
      name: 'prune_lock_events',
      text: `select position from ${s}.event where position = any ($1::bigint[]) and variant = 0
        order by position for update`,
    },
    deliveries: {
      name: 'prune_deliveries',
      text: `delete from ${s}.delivery where id = any ($1::text[])`,
    },
    /** Events without a delivery. A separate statement after the lock, so that it sees new deliveries. */
    events: {
      name: 'prune_events',
      text: `delete from ${s}.event e where position = any ($1::bigint[])
        and ${none(`${s}.delivery`, 'x.event = e.position')}`,
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
    /** The `$2` calls with the oldest last event, before `$1`. */
    quiet: {
      name: 'prune_quiet',
      text: `select c.account_id as "accountId", c.call_id as "callId",
          ${none(`${s}.event`, 'x.call_id = c.call_id and x.variant = 0')}
          and ${none(`${s}.attempt`, 'x.account_id = c.account_id and x.call_id = c.call_id')} as over
        from ${s}.call c where c.last_ms <= $1 order by c.last_ms limit $2 for update skip locked`,
    },
    removeCalls: {
      name: 'prune_remove_calls',
      text: `with legs as (
          delete from ${s}.call_leg l using unnest($1::text[], $2::text[]) u (account_id, call_id)
          where l.account_id = u.account_id and l.call_id = u.call_id
        ) delete from ${s}.call c using unnest($1::text[], $2::text[]) u (account_id, call_id)
        where c.account_id = u.account_id and c.call_id = u.call_id`,
    },
    /** Calls that are still needed are checked again a day later. */
    keepCalls: {
      name: 'prune_keep_calls',
      text: `update ${s}.call c set last_ms = $3 from unnest($1::text[], $2::text[]) u (account_id, call_id)
        where c.account_id = u.account_id and c.call_id = u.call_id`,
    },
    /** Webhooks deleted before `$1`, locked against acceptances, which would refer to them. */
    deletedWebhooks: {
      name: 'prune_deleted_webhooks',
      text: `select key from ${s}.webhook where deleted_ms < $1
          and ${none(`${s}.delivery`, 'x.webhook_key = webhook.key')}
          and ${none(`${s}.attempt`, 'x.webhook_key = webhook.key')}
        order by deleted_ms limit $2 for update skip locked`,
    },
    webhooks: {
      name: 'prune_webhooks',
      text: `with gone as (
          delete from ${s}.webhook w where w.key = any ($1::int[])
            and ${none(`${s}.delivery`, 'x.webhook_key = w.key')}
            and ${none(`${s}.attempt`, 'x.webhook_key = w.key')} returning 1
        ) select count(*) as removed from gone`,
    },
  }) satisfies Record<string, Statement>
