import type { Statement } from '../statement.js'
import { ofEachKind } from './ended.js'

export interface LeaseRow {
  readonly version: number
  readonly isAlive: boolean
}

/** A webhook that a group refers to. `doc` null: its row is not to be changed. */
export interface GroupWebhookRow {
  readonly id: string
  readonly key: number
  readonly shard: number
  readonly epoch: number
  readonly doc: string | null
  readonly health: string | null
}

export interface StoredKeyRow {
  readonly account: string
  readonly key: string
  readonly id: string
  readonly sequence: number
  readonly bodyHash: string
  readonly untilMs: number
}

/** `variants` is 0 where no delivery of the event is stored: it cannot be replayed. */
export interface StoredEventRow {
  readonly id: string
  readonly position: number
  readonly sequence: number
  readonly variants: number
}

export interface NumberRow {
  readonly account: string
  readonly call: string
  readonly sequence: number
}

/** A delivery that a group settles or starts. `state`: 0 waits, 2 and up ended. */
export interface GroupDeliveryRow {
  readonly key: number
  readonly position: number
  readonly state: number
  readonly attempts: number
  readonly epoch: number
  readonly event: number
}

const lease = (s: string, strength: 'share' | 'no key update'): Statement => ({
  name: 'commit_lease',
  text: `select version, alive_until_ms > $3 as "isAlive" from ${s}.node where owner = $1 and fence = $2 for ${strength}`,
})

const webhooks = (s: string, columns: string, strength: 'key share' | 'no key update'): Statement => ({
  name: 'commit_webhooks',
  text: `select id, key, shard, epoch, ${columns} from ${s}.webhook where id = any ($1::text[]) order by key for ${strength}`,
})

/** Whether a delivery has the id that is stored whole as `u.id`: in that form, or as the last digits of its event's. */
export const isTakenWhole = (s: string) => `(
    exists (select from ${s}.waiting w where w.id = u.id and left(w.id, 1) = '!')
    or exists (select from ${s}.attempt a where a.id = u.id and left(a.id, 1) = '!' and a.state >= 2)
    or exists (
      select from ${s}.event e where e.id >= substr(u.id, 2, 24) and e.id < substr(u.id, 2, 24) || 'g' and (
        exists (select from ${s}.waiting w where w.event = e.position and w.id = substr(u.id, 26))
        or exists (select from ${s}.attempt a where a.event = e.position and a.id = substr(u.id, 26))
      )
    )
  )`

/** The ended delivery of this webhook at this position. */
const endedAt = (s: string, key: string, position: string) =>
  ofEachKind(
    (kind) => `select * from ${s}.attempt where webhook_key = ${key} and delivery = ${position} and ${kind}`,
  )

/** What the slow path of a group reads and locks, each statement after the one before has its locks. */
export const commitStatements = (s: string) =>
  ({
    lease: lease(s, 'share'),
    /** For a group that raises the version: two that held the row FOR SHARE would wait for each other. And for a repeat, which so waits for its first run. */
    leaseAlone: lease(s, 'no key update'),
    webhookKeys: {
      name: 'webhook_keys',
      text: `select id, key from ${s}.webhook where id = any ($1::text[])`,
    },
    webhooks: webhooks(s, 'null as doc, null as health', 'key share'),
    webhooksToChange: webhooks(s, 'doc, health', 'no key update'),
    keys: {
      name: 'commit_keys',
      text: `select i.account_id as account, i.key, i.event_id as id, i.sequence, i.body_hash as "bodyHash",
          i.until_ms as "untilMs"
        from unnest($1::text[], $2::text[]) k (account_id, key) cross join lateral (
          select * from ${s}.idempotency i where i.account_id = k.account_id and i.key = k.key offset 0
        ) i`,
    },
    /** Keys that have expired, so that they can be used again. */
    freeKeys: {
      name: 'commit_free_keys',
      text: `delete from ${s}.idempotency where ctid = any (array(
          select i.ctid from unnest($1::text[], $2::text[]) k (account_id, key) cross join lateral (
            select ctid from ${s}.idempotency
            where account_id = k.account_id and key = k.key and until_ms <= $3 for update
          ) i order by k.account_id collate "C", k.key collate "C"
        ))`,
    },
    inbox: {
      name: 'commit_inbox',
      text: `select event_id as id from ${s}.inbox where event_id = any ($1::text[]) order by event_id for update`,
    },
    /**
     * Until the transaction ends, others write neither keys nor events. The tables are in the order in which the statement of a group
     * locks them, which it does before it locks rows.
     */
    excludeOthers: {
      name: 'commit_exclude_others',
      text: `lock table ${s}.idempotency, ${s}.event in share row exclusive mode`,
    },
    /**
     * Locked, so that pruning does not remove an event that is replayed, and that two nodes replay it one after the other: the
     * second sees which ids the first has used.
     */
    events: {
      name: 'commit_events',
      text: `select e.id, e.position, coalesce(e.sequence, 0) as sequence,
          case when exists (select from ${s}.waiting w where w.event = e.position)
              or exists (select from ${s}.attempt a where a.event = e.position)
            then 1 + (select count(*) from ${s}.body b where b.event = e.position) else 0 end as variants
        from (select distinct id from unnest($1::text[]) u (id) order by id) u cross join lateral (
          select * from ${s}.event e where e.id = u.id for no key update
        ) e`,
    },
    /** The events at these positions. */
    positions: {
      name: 'commit_positions',
      text: `select e.id, e.position from unnest($1::bigint[]) u (position) cross join lateral (
          select id, position from ${s}.event e where e.position = u.position offset 0
        ) e`,
    },
    /**
     * Which deliveries have a key, position or id that is in use, by index from 1. `$1`: keys of webhooks; `$2`: positions;
     * `$3`: stored ids; `$4`: positions of events that are stored already.
     */
    taken: {
      name: 'commit_taken',
      text: `select u.i::int from unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[]) with ordinality
          u (key, position, id, event, i)
        where exists (select from ${s}.waiting w where w.webhook_key = u.key and w.position = u.position)
          or exists (${endedAt(s, 'u.key', 'u.position')})
          or left(u.id, 1) = '!' and ${isTakenWhole(s)}
          or exists (select from ${s}.waiting w where w.event = u.event and w.id = u.id)
          or exists (select from ${s}.attempt a where a.event = u.event and a.id = u.id)`,
    },
    numbers: {
      name: 'commit_numbers',
      text: `select u.account_id as account, u.call_id as call, e.sequence
        from unnest($1::text[], $2::text[]) u (account_id, call_id) cross join lateral (
          select sequence from ${s}.event e
          where e.call_id = u.call_id and e.account_id = u.account_id and e.sequence > 0
          order by e.sequence desc limit 1
        ) e`,
    },
    waiting: {
      name: 'commit_waiting',
      text: `select w.webhook_key as key, w.position, 0 as state, w.attempts, w.epoch, w.event
        from (select distinct * from unnest($1::int[], $2::bigint[]) u (key, position) order by key, position) u
        cross join lateral (
          select * from ${s}.waiting w where w.webhook_key = u.key and w.position = u.position for update
        ) w`,
    },
    ended: {
      name: 'commit_ended',
      text: `select a.webhook_key as key, a.delivery as position, a.state, a.attempts, a.epoch, a.event
        from unnest($1::int[], $2::bigint[]) u (key, position) cross join lateral (
          ${endedAt(s, 'u.key', 'u.position')} offset 0
        ) a`,
    },
    /** Which records (`$2`, as in their documents) of deliveries of the events `$1` are stored, by index from 1. */
    records: {
      name: 'commit_records',
      text: `select u.i::int from unnest($1::bigint[], $2::text[]) with ordinality u (event, record, i)
        where exists (select from ${s}.attempt a where a.event = u.event and strpos(a.doc, u.record) > 0)`,
    },
    changeWebhook: {
      name: 'commit_webhook',
      text: `update ${s}.webhook set epoch = $2, revision = $3, doc = $4, health = $5 where key = $1`,
    },
    raiseVersion: {
      name: 'commit_raise',
      text: `with n as (update ${s}.node set version = version + 1 where fence = $1 returning fence, version)
        insert into ${s}.change (fence, n, webhook_id) select n.fence, n.version, u.id from n cross join unnest($2::text[]) u (id)
        returning n as version`,
    },
  }) satisfies Record<string, Statement>
