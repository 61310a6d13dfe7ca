import { deleting, type Statement } from '../statement.js'
import { ofEachKind } from './ended.js'
import { OF_ALL_CALLS } from './mentions.js'

/** A delivery, waiting or recorded, to remove. */
export interface ErasedRow {
  readonly webhookKey: number
  readonly webhookId: string
  readonly position: number
  readonly event: number
}

/** The tables that contain data of calls or accounts. */
const TABLES = [
  'waiting',
  'event',
  'body',
  'attempt',
  'idempotency',
  'inbox',
  'webhook',
  'open_leg',
  'live',
  'unwanted_event',
  'call_number',
]

/** Deliveries of `e (at, account_id)`, of the account `$1` or to its webhooks; at most `limit`. */
const ofEvents = (
  s: string,
  events: string,
  limit: string,
) => `select d.key as "webhookKey", w.id as "webhookId",
    d.position, e.at as event
  from ${events} e cross join lateral (
    select webhook_key as key, position from ${s}.waiting where event = e.at
    union select webhook_key, delivery from ${s}.attempt where event = e.at offset 0
  ) d
  cross join lateral (select id, account_id from ${s}.webhook w where w.key = d.key offset 0) w
  where e.account_id = $1 or w.account_id = $1 limit ${limit}`

/** Rows of the account `$1`, in the calls `$2` or (null) all; at most `$3`. */
const OF_CALLS = 'account_id = $1 and ($2::text[] is null or call_id = any ($2)) limit $3'

export const eraseStatements = (s: string) =>
  ({
    /** Deliveries to the webhooks or of the events of the account `$1`, in the calls `$2`; at most `$3`. */
    ofCalls: {
      name: 'erase_of_calls',
      text: ofEvents(
        s,
        `(select position as at, account_id from ${s}.event where call_id = any ($2::text[]) offset 0)`,
        '$3',
      ),
    },
    /** Deliveries of the first `$2` events of the account `$1`; at most `$3`. */
    ofEvents: {
      name: 'erase_of_events',
      text: ofEvents(
        s,
        `(select position as at, account_id from ${s}.event where account_id = $1 and ${OF_ALL_CALLS} order by position limit $2)`,
        '$3',
      ),
    },
    /** Deliveries to all webhooks of the account `$1`; at most `$2`. */
    ofWebhooks: {
      name: 'erase_of_webhooks',
      text: `select w.key as "webhookKey", w.id as "webhookId", d.position, d.event
        from ${s}.webhook w cross join lateral (
          (select position, event from ${s}.waiting where webhook_key = w.key order by position limit $2)
          union
          select * from (${ofEachKind(
            (kind) => `select delivery, event from ${s}.attempt where webhook_key = w.key and ${kind}
              order by delivery limit $2`,
          )}) ended
          union
          (select delivery, event from ${s}.attempt where webhook_key = w.key and doc is not null
            order by position limit $2)
        ) d where w.account_id = $1 limit $2`,
    },
    /** Removes the deliveries with the keys of webhooks `$1`, positions `$2` and events `$3`. */
    deliveries: {
      name: 'erase_deliveries',
      text: `with u as materialized (
          select * from unnest($1::int[], $2::bigint[], $3::bigint[]) u (key, position, event)
        ), w as (
          delete from ${s}.waiting w using (
            select x.location from u cross join lateral (
              select ctid as location from ${s}.waiting where webhook_key = u.key and position = u.position offset 0
            ) x
          ) u where w.ctid = u.location
        )
        delete from ${s}.attempt a using (
          select x.location from u cross join lateral (
            select ctid as location from ${s}.attempt
            where event = u.event and webhook_key = u.key and delivery = u.position offset 0
          ) x
        ) u where a.ctid = u.location`,
    },
    /** Events of the account `$1`, in the calls `$2` or (null) the first of all; at most `$3`. Their deliveries are gone. */
    events: {
      name: 'erase_events',
      text: `select position from (
          select position, account_id from ${s}.event where call_id = any ($2::text[])
          union all (
            select position, account_id from ${s}.event where $2::text[] is null and account_id = $1 and ${OF_ALL_CALLS}
            order by position limit $3
          )
        ) e where account_id = $1 limit $3`,
    },
    /** The calls `$2` are no longer legs of other calls of the account `$1`; at most `$3` events. */
    unlinkLegs: {
      name: 'erase_unlink_legs',
      text: `with changed as (
          update ${s}.event set other_leg = null where position = any (array(
            select position from ${s}.event where other_leg = any ($2::text[]) and account_id = $1 limit $3
          )) returning 1
        ) select count(*) as removed from changed`,
    },
    /** Other legs of the events `$2` stay known to their account, unless they are in the calls `$1` themselves. */
    keepLegs: {
      name: 'erase_keep_legs',
      text: `insert into ${s}.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, hook)
        select -nextval('${s}.position'), e.accepted_ms, e.accepted_ms, 'call/' || e.account_id || '/' || e.other_leg,
          e.account_id, e.other_leg, ''
        from (
          select other_leg, account_id, max(accepted_ms) as accepted_ms from ${s}.event
          where position = any ($2::bigint[]) and other_leg <> all ($1::text[]) group by 1, 2
        ) e
        where not exists (
          select from ${s}.event x where x.call_id = e.other_leg and x.account_id = e.account_id
        )
        on conflict do nothing`,
    },
    keys: {
      name: 'erase_keys',
      text: deleting(`${s}.idempotency`, OF_CALLS),
    },
    inbox: {
      name: 'erase_inbox',
      text: deleting(`${s}.inbox`, OF_CALLS),
    },
    vacuum: {
      name: '',
      text: `vacuum ${TABLES.map((table) => `${s}.${table}`).join(', ')}`,
      isOutsideTransactions: true,
    },
    hasDeleted: {
      name: 'erase_has_deleted',
      text: `select 1 from ${s}.webhook where account_id = $1 and deleted_ms is not null limit 1`,
    },
    /** Locked against acceptances, which would refer to them. */
    lockDeleted: {
      name: 'erase_lock_deleted',
      text: `select key, id from ${s}.webhook where account_id = $1 and deleted_ms is not null
        order by key limit $2 for update`,
    },
    /** The change mark of the account, once it has no webhook left. */
    changes: {
      name: 'erase_changes',
      text: `delete from ${s}.webhook_change c
        where account_id = $1 and not exists (select from ${s}.webhook where account_id = c.account_id)`,
    },
  }) satisfies Record<string, Statement>
