import { deleting, none, type Statement } from '../statement.js'
import { DELIVERED, ENDED, FAILED, OF_ALL_WEBHOOKS, OTHERS } from './ended.js'
import { storeMs } from './store-clock.js'

/** A webhook with more attempts than the limit, and the highest position to remove; the last one that was checked may have none. */
export interface ExcessRow {
  readonly key: number
  readonly upTo: number | null
  /** There are no webhooks after those that were checked. */
  readonly isLast: boolean
}

/** Attempts that were removed, with or without their deliveries. */
export interface RemovedAttempts {
  readonly removed: number
  /** JSON array of the positions of their events. */
  readonly events: string
}

/** Deliveries that were removed. */
export interface RemovedDeliveries extends RemovedAttempts {
  readonly deliveries: number
  /** When the last one was attempted, ms. Null: none was removed. */
  readonly lastMs: number | null
}

/** Failed attempts that were examined, and removed where their delivery has ended. */
export interface ExaminedAttempts extends RemovedAttempts {
  readonly examined: number
  /** The last one. Null: none was examined. */
  readonly lastMs: number | null
  readonly lastPosition: number | null
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

const removedAttempts = "count(*)::int as removed, coalesce(json_agg(distinct event), '[]')::text as events"

/**
 * Removes ended deliveries with all their attempts: of those that `selection` returns, in their order, so many that the last
 * one reaches the limit `rows`.
 */
const removeDeliveries = (
  s: string,
  selection: string,
  rows: string,
) => `with found as materialized (${selection}), chosen as materialized (
      select * from (
        select f.*, sum(attempts) over (order by i) - attempts as before from found f
      ) f where before < ${rows}
    ), gone as (
      delete from ${s}.attempt where ctid = any (array(
        select a.location from chosen d cross join lateral (
          select a.ctid as location, a.webhook_key, a.delivery from ${s}.attempt a where a.event = d.event offset 0
        ) a where a.webhook_key = d.webhook_key and a.delivery = d.delivery
      )) returning event
    ) select ${removedAttempts}, (select count(*)::int from chosen) as deliveries, (select max(at_ms) from chosen) as "lastMs"
    from gone`

/**
 * Removes up to `$3` deliveries of this kind, and about `$4` rows, whose last attempt was not before `$1`, and that ended before
 * `$2`.
 */
const oldest = (s: string, kind: string): Statement => ({
  name: `prune_ended_${kind === DELIVERED ? 'delivered' : 'others'}`,
  text: removeDeliveries(
    s,
    `select d.*, row_number() over () as i from (
        select event, webhook_key, delivery, greatest(attempts, 1) as attempts, at_ms from ${s}.attempt
        where ${kind} and ${OF_ALL_WEBHOOKS} and at_ms >= $1 and at_ms < $2 and ended_ms < $2 order by at_ms limit $3 for update skip locked
      ) d`,
    '$4',
  ),
})

/** The webhook has no ended delivery. */
const noneEnded = (s: string, key: string) =>
  ENDED.map((kind) => none(`${s}.attempt`, `x.webhook_key = ${key} and ${kind}`)).join(' and ')

/**
 * Each statement removes a limited number of rows and skips locked ones, so that two nodes that prune at the same time
 * do not wait for each other. Rows without a key are removed by their location (`ctid`), which is cheap as they share
 * pages. An ended delivery is the row of its last attempt, and goes with it.
 */
export const pruneStatements = (s: string) =>
  ({
    /**
     * Of the next `$2` webhooks after the key `$1`, those whose delivered originals have more than `$3` attempts, with the highest
     * position to remove, and the last one. Attempts of deliveries before the position `$4` may have been removed already: they are
     * counted. For other deliveries the index has the number of attempts; it is null for an end without a record.
     */
    excess: {
      name: 'prune_excess',
      text: `with batch as materialized (select key from ${s}.webhook where key > $1 order by key limit $2)
        select b.key, x.delivery as "upTo", (
            select key from ${s}.webhook where key > (select max(key) from batch) order by key limit 1
          ) is null as "isLast"
        from batch b left join lateral (
          select delivery from (
            select delivery, sum(recorded) over (order by delivery desc rows unbounded preceding) as total from (
              select delivery, case when delivery < $4 and attempts > 1 then (
                  select count(*) from ${s}.attempt r
                  where r.event = a.delivery and r.webhook_key = b.key and r.delivery = a.delivery and r.doc is not null
                ) else attempts - (n is null)::int end as recorded
              from ${s}.attempt a where webhook_key = b.key and ${DELIVERED}
            ) d
          ) t where total > $3 order by delivery desc limit 1
        ) x on true where x.delivery is not null or b.key = (select max(key) from batch) order by b.key`,
    },
    /** Removes the delivered originals of the webhooks `$1` up to the positions `$2`, lowest position first, about `$3` rows. */
    excessive: {
      name: 'prune_excessive',
      text: removeDeliveries(
        s,
        `select d.*, row_number() over () as i from unnest($1::int[], $2::bigint[]) u (key, up_to) cross join lateral (
            select event, webhook_key, delivery, greatest(attempts, 1) as attempts, at_ms from ${s}.attempt
            where webhook_key = u.key and delivery <= u.up_to and ${DELIVERED}
            order by delivery limit $3 for update skip locked
          ) d limit $3`,
        '$3',
      ),
    },
    oldestDelivered: oldest(s, DELIVERED),
    oldestOthers: oldest(s, OTHERS),
    /**
     * Of the next `$5` failed attempts after the time `$1` and position `$2`, and before the time `$3`, removes up to `$4` whose
     * delivery has ended.
     */
    failed: {
      name: 'prune_failed',
      text: `with found as materialized (
          select ctid as location, at_ms, position, webhook_key, delivery from ${s}.attempt
          where ${FAILED} and (at_ms, position) > ($1, $2) and at_ms < $3 order by at_ms, position limit $5
        ), ended as materialized (
          select * from found where ${none(`${s}.waiting`, 'x.webhook_key = found.webhook_key and x.position = delivery')}
          order by at_ms, position limit $4
        ), seen as materialized (
          select * from found
          where (select count(*) from ended) < $4 or (at_ms, position) <= (
            select at_ms, position from ended order by at_ms desc, position desc limit 1
          )
        ), gone as (
          delete from ${s}.attempt where ctid = any (array(
            select ctid from ${s}.attempt where ctid = any (array(select location from ended)) for update skip locked
          )) returning event
        ) select ${removedAttempts}, (select count(*)::int from seen) as examined,
            (select max(at_ms) from seen) as "lastMs",
            (select position from seen order by at_ms desc, position desc limit 1) as "lastPosition"
        from gone`,
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
    /** Bodies of events without a delivery, like `events`. */
    emptyEvents: {
      name: 'prune_empty_events',
      text: `with emptied as (
          update ${s}.event e set body = null
          where position = any ($1::bigint[]) and body is not null and ${unused(s)} returning position
        ) delete from ${s}.body b using emptied e where b.event = e.position`,
    },
    /** Store time. `$1`: the clock of a test, or null. */
    now: { name: 'prune_now', text: `select floor(${storeMs(s, '$1')})::float8 as "nowMs"` },
    keys: {
      name: 'prune_keys',
      text: deleting(`${s}.idempotency`, 'until_ms <= $1 order by until_ms limit $2 for update skip locked'),
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
          and ${noneEnded(s, 'webhook.key')}
        order by deleted_ms limit $2 for update skip locked`,
    },
    webhooks: {
      name: 'prune_webhooks',
      text: `with gone as (
          delete from ${s}.webhook w where w.key = any ($1::int[])
            and ${none(`${s}.waiting`, 'x.webhook_key = w.key')}
            and ${none(`${s}.attempt`, 'x.webhook_key = w.key and x.doc is not null')}
            and ${noneEnded(s, 'w.key')} returning 1
        ) select count(*) as removed from gone`,
    },
  }) satisfies Record<string, Statement>
