import type { Statement } from '../statement.js'

/** A delivery to remove. */
export interface ErasedRow {
  readonly id: string
  readonly event: number
  /** Account of its webhook. */
  readonly accountId: string
  readonly webhookId: string
  readonly callId: string | null
}

/** The state of a delivery that was removed. */
export interface RemovedRow {
  readonly key: number
  readonly lane: string
  readonly pending: boolean
  /** Whether it was the head of its lane. */
  readonly head: boolean
  readonly acceptedMs: number
}

const SELECTED = `d.id, d.event, w.account_id as "accountId", w.id as "webhookId", e.call_id as "callId"`

/** The tables that contain data of calls or accounts. */
const TABLES = [
  'delivery',
  'event',
  'attempt',
  'call',
  'call_leg',
  'idempotency',
  'inbox',
  'webhook',
  'open_leg',
]

export const eraseStatements = (s: string) =>
  ({
    /** Deliveries to the webhooks or of the events of the account `$1`, in the calls `$2`; at most `$3`. */
    ofCalls: {
      name: 'erase_of_calls',
      text: `select ${SELECTED}
        from (select distinct id from unnest($2::text[]) c (id)) c cross join lateral (
          select * from ${s}.event e where e.call_id = c.id and e.variant = 0 offset 0
        ) e cross join lateral (
          select * from ${s}.delivery d where d.event = e.position offset 0
        ) d cross join lateral (
          select * from ${s}.webhook w where w.key = d.webhook_key offset 0
        ) w where e.account_id = $1 or w.account_id = $1 limit $3`,
    },
    /** Deliveries to all webhooks, and of all events, of the account `$1`; at most `$2`. */
    ofWebhooks: {
      name: 'erase_of_webhooks',
      text: `select ${SELECTED}
        from ${s}.webhook w cross join lateral (
          select * from ${s}.delivery d where d.webhook_key = w.key order by d.position limit $2
        ) d cross join lateral (
          select * from ${s}.event e where e.position = d.event and e.variant = d.variant offset 0
        ) e where w.account_id = $1 limit $2`,
    },
    ofEvents: {
      name: 'erase_of_events',
      text: `select ${SELECTED}
        from (
          select * from ${s}.event e where e.account_id = $1 and e.variant = 0 order by e.position limit $2
        ) e cross join lateral (
          select * from ${s}.delivery d where d.event = e.position offset 0
        ) d cross join lateral (
          select * from ${s}.webhook w where w.key = d.webhook_key offset 0
        ) w limit $2`,
    },
    /** Locks the lanes in which these may be pending; the next deliveries are searched by a later statement. */
    lockLanes: {
      name: 'erase_lock_lanes',
      text: `select 1 from ${s}.lane where (webhook_key, lane) in (
          select d.webhook_key, d.lane from ${s}.delivery d where d.id = any ($1::text[]) and d.state < 2
        ) order by webhook_key, lane for no key update`,
    },
    deliveries: {
      name: 'erase_deliveries',
      text: `delete from ${s}.delivery where id = any ($1::text[])
        returning webhook_key as key, lane, state < 2 as pending, state = 1 or due_ms is not null as head,
          accepted_ms as "acceptedMs"`,
    },
    /** Lowers the open count of the lanes `$1`, `$2` by `$3`. */
    shorten: {
      name: 'erase_shorten',
      text: `update ${s}.lane l set open = l.open - u.gone
        from unnest($1::int[], $2::text[], $3::int[]) u (key, lane, gone)
        where l.webhook_key = u.key and l.lane = u.lane`,
    },
    removeEmpty: {
      name: 'erase_empty_lanes',
      text: `delete from ${s}.lane l using unnest($1::int[], $2::text[]) u (key, lane)
        where l.webhook_key = u.key and l.lane = u.lane and l.open <= 0`,
    },
    /** Makes the next delivery of the lanes `$1`, `$2`, which lost their head, due at `$3`, a time in the past. */
    promote: {
      name: 'erase_promote',
      text: `update ${s}.delivery d set due_ms = n.due_ms
        from unnest($1::int[], $2::text[], $3::float8[]) u (key, lane, due_ms) cross join lateral (
          select b.id, u.due_ms from ${s}.delivery b
          where b.webhook_key = u.key and b.lane = u.lane and b.state = 0 and b.due_ms is null
          order by b.position limit 1
        ) n where d.id = n.id`,
    },
    /** The sum of all slots counts, so any of them may be lowered. */
    lowerPending: {
      name: 'erase_less_pending',
      text: `update ${s}.pending set deliveries = deliveries - $2 where slot = $1`,
    },
    nudge: {
      name: 'erase_nudge',
      text: `insert into ${s}.nudge (webhook_key, shard) select key, shard from ${s}.webhook where id = any ($1::text[])`,
    },
    /** Attempts of the deliveries `$1` in the accounts `$2` and calls `$3`. */
    attemptsOfCalls: {
      name: 'erase_attempts_of',
      text: `delete from ${s}.attempt a
        using unnest($1::text[], $2::text[], $3::text[]) u (id, account_id, call_id)
        where a.account_id = u.account_id and a.call_id = u.call_id and a.delivery_id = u.id`,
    },
    /** Attempts of the deliveries `$1`, which belong to no call, to the webhooks `$2`. */
    attemptsOfWebhooks: {
      name: 'erase_attempts_of_none',
      text: `delete from ${s}.attempt a using unnest($1::text[], $2::text[]) u (id, webhook_id)
        where a.webhook_key = (select key from ${s}.webhook where id = u.webhook_id) and a.delivery_id = u.id`,
    },
    /** The calls `$2` as recorded for the accounts `$1`, and their legs in both directions. */
    calls: {
      name: 'erase_calls',
      text: `with known as materialized (
          select distinct * from unnest($1::text[], $2::text[]) u (account_id, call_id)
        ), legs as (
          delete from ${s}.call_leg l using known k
          where l.account_id = k.account_id and l.call_id = k.call_id returning l.account_id, l.call_id, l.other
        ), others as (
          delete from ${s}.call_leg l using legs g
          where l.account_id = g.account_id and l.call_id = g.other and l.other = g.call_id
        ), gone as (
          delete from ${s}.call c using known k
          where c.account_id = k.account_id and c.call_id = k.call_id returning 1
        ) select count(*) as removed from gone`,
    },
    someCalls: {
      name: 'erase_some_calls',
      text: `select call_id as id from ${s}.call
        where account_id = $1 and ($2::text[] is null or call_id = any ($2)) limit $3`,
    },
    /** Attempts without a delivery, of the account `$1`, in the calls `$2` or (null) in all; at most `$3`. */
    attempts: {
      name: 'erase_attempts',
      text: `with gone as (
          delete from ${s}.attempt where ctid = any (array(
            (select a.ctid from unnest($2::text[]) c (id) join ${s}.attempt a on a.account_id = $1 and a.call_id = c.id
              limit $3)
            union all
            (select a.ctid from ${s}.attempt a where $2::text[] is null and a.account_id = $1 limit $3)
            limit $3
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    keys: {
      name: 'erase_keys',
      text: `with gone as (
          delete from ${s}.idempotency where ctid = any (array(
            select k.ctid from ${s}.idempotency k
            where k.account_id = $1 and ($2::text[] is null or k.call_id = any ($2)) limit $3
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    inbox: {
      name: 'erase_inbox',
      text: `with gone as (
          delete from ${s}.inbox where ctid = any (array(
            select i.ctid from ${s}.inbox i
            where i.account_id = $1 and ($2::text[] is null or i.call_id = any ($2)) limit $3
          )) returning 1
        ) select count(*) as removed from gone`,
    },
    vacuum: {
      name: '',
      text: `vacuum ${TABLES.map((table) => `${s}.${table}`).join(', ')}`,
    },
    /** Locked against acceptances, which would refer to them. */
    lockDeleted: {
      name: 'erase_lock_deleted',
      text: `select key from ${s}.webhook where account_id = $1 and deleted_ms is not null
        order by key limit $2 for update`,
    },
    /** The change mark of the account, once it has no webhook left. */
    changes: {
      name: 'erase_changes',
      text: `delete from ${s}.webhook_change c
        where account_id = $1 and not exists (select from ${s}.webhook where account_id = c.account_id)`,
    },
  }) satisfies Record<string, Statement>
