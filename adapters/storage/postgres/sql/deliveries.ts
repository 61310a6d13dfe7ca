import {
  type DeliveryRow,
  ENDED_COLUMNS,
  EVENT_COLUMNS,
  type ReplaysRow,
  WAITING_COLUMNS,
  WEBHOOK_ID_COLUMNS,
} from '../rows.js'
import type { Statement } from '../statement.js'
import { OF_ALL_WEBHOOKS, ofEachKind, REPLAYED, UNDELIVERED } from './ended.js'

/** Number of deliveries in the lane that must end before this one. */
export interface AheadRow {
  readonly webhookKey: number
  readonly position: number
  readonly ahead: number
}

/** The body of a delivery; `place`: of its key in the query, from 1. */
export interface BodyRow {
  readonly place: number
  readonly body: string
}

/** A row of the search over all accounts, or the position at which it stopped (null: there are no more events). */
export type SearchRow = DeliveryRow & ReplaysRow & { readonly stoppedAt?: number | null }

/** Events that one search over all accounts examines at most. */
const EVENTS_PER_SEARCH = 2_000

/**
 * Adds event and webhook to deliveries `d`, with lateral subqueries that are executed row by row: a generic plan, made
 * for any limit, expects many rows and would otherwise read all events.
 */
const withEventAndWebhook = (s: string, deliveries: string, more = '') =>
  `select d.*, ${EVENT_COLUMNS}, ${WEBHOOK_ID_COLUMNS}${more}
  from (${deliveries}) d
  cross join lateral (select * from ${s}.event e where e.position = d.event offset 0) e
  cross join lateral (select * from ${s}.webhook w where w.key = d."webhookKey" offset 0) w`

/**
 * The replays of the delivery `f`, unless that is one itself. A replay has the event of its original, and the original has the
 * position of the event.
 */
const replaysOf = (s: string) => `(
    select (array_agg(r.id order by r.position desc))[1] as "lastReplay",
      (array_agg(r.accepted_ms order by r.position desc))[1] as "lastReplayMs", bool_or(r.recovers) as "hasRecovered"
    from (
      select w.position, w.id, w.accepted_ms, w.epoch >= f."webhookEpoch" as recovers
      from (select * from ${s}.waiting where event = f.position offset 0) w
      where w.webhook_key = f."webhookKey" and w.replay_of is not null
      union all
      select delivery, id, accepted_ms, state = 2 from ${s}.attempt
      where webhook_key = f."webhookKey" and event = f.position and state >= 2 and replay_of is not null
    ) r where f."replayOf" is null
  )`

/** Adds their replays to deliveries, which are few: after a limit. */
const withReplays = (s: string, deliveries: string) =>
  `select f.*, r.* from (${deliveries}) f cross join lateral ${replaysOf(s)} r`

/** A waiting delivery of an older epoch counts as cancelled (5). */
const stateOf = (webhookEpoch: string) => `case when epoch < ${webhookEpoch} then 5 else 0 end`

/**
 * As a CASE, because the planner expects a range of parameters to leave almost no row: so it reads a page in the order of its
 * index, instead of sorting everything.
 */
const ACCEPTED = 'case when accepted_ms >= $2 then accepted_ms <= $3 end'

/** Which deliveries of a webhook a statement lists. */
interface Listed {
  /** Only exhausted, expired, cancelled and quarantined ones. */
  readonly undelivered: boolean
  /** SQL: whether replays are left out. */
  readonly onlyOriginals: string
}

/** Waiting and ended deliveries of one webhook, each kind in the order of its index. */
function ofWebhook(s: string, key: string, epoch: string, ascending: boolean, listed: Listed): string {
  const [after, order] = ascending ? ['>', ''] : ['<', 'desc']
  // As a row: of two bounds the planner would expect that they leave almost no row.
  const upTo = (position: string) =>
    `(webhook_key, ${position}) ${ascending ? '<=' : '>='} (${key}, $9::bigint)`
  const { undelivered, onlyOriginals } = listed
  const isListed = `(replay_of is null or not ${onlyOriginals})`
  const ended = (kind: string) => `
      select ${ENDED_COLUMNS} from ${s}.attempt
      where webhook_key = ${key} and ${kind} and delivery ${after} $1 and ${upTo('delivery')}
        and ($4::int[] is null or $4 && array[${kind === UNDELIVERED ? '3, 4, 5, 6' : '2'}]) and ${ACCEPTED}
        and case when $4::int[] is null then true else state = any ($4) end
        and ${kind === UNDELIVERED ? isListed : kind === REPLAYED ? `not ${onlyOriginals}` : 'true'}
      order by delivery ${order} limit $5
    `
  return `(
      select ${WAITING_COLUMNS} from ${s}.waiting
      where webhook_key = ${key} and position ${after} $1 and ${upTo('position')} and ($4::int[] is null or $4 && array[0, 5]) and ${ACCEPTED}
        and case when $4::int[] is null then true else ${stateOf(epoch)} = any ($4) end and ${isListed}
      order by position ${order} limit $5
    ) union all ${undelivered ? `(${ended(UNDELIVERED)})` : ofEachKind(ended)}`
}

/**
 * `$1`: before or after this position; `$2`, `$3`: accepted from and to; `$4`: states by number, null for any; `$5`: limit;
 * `$6`: webhook; `$7`: its account; `$8`: without replays; `$9`: up to this position.
 */
function list(s: string, ascending: boolean, undelivered: boolean): Statement {
  const order = ascending ? '' : 'desc'
  // A subquery, not a join: only with a single webhook can the order of the index be used.
  const webhook = (column: string) => `(select ${column} from ${s}.webhook where id = $6 and account_id = $7)`
  const listed = { undelivered, onlyOriginals: '$8::boolean' }
  const rows = ofWebhook(s, webhook('key'), webhook('epoch'), ascending, listed)
  const page = withEventAndWebhook(s, `select * from (${rows}) u order by position ${order} limit $5`)
  return {
    name: `deliveries${ascending ? '_up' : ''}${undelivered ? '_undelivered' : ''}`,
    text: `${withReplays(s, page)} order by f.position ${order}`,
  }
}

/** As `list`, newest first, of all webhooks of the account `$6` (null: any) or of the webhook `$7` (null: any). `$8` is null. */
function searchWebhooks(s: string, undelivered: boolean): Statement {
  const listed = { undelivered, onlyOriginals: 'coalesce($8::boolean, false)' }
  const rows = `select d.* from ${s}.webhook w cross join lateral (
      select * from (${ofWebhook(s, 'w.key', 'w.epoch', false, listed)}) u
      order by position desc fetch first $5 rows with ties
    ) d where ($6::text is null or w.account_id = $6) and ($7::text is null or w.id = $7)`
  const page = withEventAndWebhook(s, `${rows} order by d.position desc fetch first $5 rows with ties`)
  return {
    name: `deliveries_search_webhooks${undelivered ? '_undelivered' : ''}`,
    text: `${withReplays(s, page)} order by f.position desc`,
  }
}

/** Conditions on deliveries `d` with their webhook `w`, numbered as in `ofWebhook`. */
const MATCHING = `d.position < $1 and d."acceptedMs" between $2 and $3
  and ($4::int[] is null or case when d.state = 0 and d.epoch < w.epoch then 5 else d.state end = any ($4))`

/** All deliveries of events `e (at)`; `condition` on `waiting` and `attempt`. */
const ofEvents = (
  s: string,
  events: string,
  condition: string,
) => `select d.* from ${events} e cross join lateral (
    select ${WAITING_COLUMNS} from ${s}.waiting where event = e.at and ${condition} offset 0
  ) d
  union all
  select d.* from ${events} e cross join lateral (
    select ${ENDED_COLUMNS} from ${s}.attempt where event = e.at and state >= 2 and ${condition} offset 0
  ) d`

/** Deliveries of the call leg `$6`, of the account `$7` and the webhook `$8` (null: any), newest first. */
const searchCall = (s: string): Statement => ({
  name: 'deliveries_search_call',
  text: `with ev as materialized (select position as at from ${s}.event where call_id = $6), found as (
      ${withEventAndWebhook(s, ofEvents(s, 'ev', 'true'))}
      where ${MATCHING} and ($7::text is null or w.account_id = $7) and ($8::text is null or w.id = $8)
    ) ${withReplays(s, 'select * from found order by position desc fetch first $5 rows with ties')}
    order by f.position desc`,
})

/**
 * Deliveries of all accounts, newest first: those of the next events, and replays, which have positions of their own.
 * Positions of deliveries alone have no index, and merging all webhooks costs too much where there are many.
 */
const searchAll = (s: string): Statement => ({
  name: 'deliveries_search_all',
  text: `with ev as materialized (
      select position as at from ${s}.event where position < $1 order by position desc limit ${EVENTS_PER_SEARCH}
    ), stop as materialized (
      select case when count(*) = ${EVENTS_PER_SEARCH} then min(at) end as at from ev
    ), rows as (
      ${ofEvents(s, 'ev', 'replay_of is null')}
      union all
      select ${WAITING_COLUMNS} from ${s}.waiting
      where replay_of is not null and position < $1 and position >= coalesce((select at from stop), 0)
      union all
      select ${ENDED_COLUMNS} from ${s}.attempt
      where replay_of is not null and state >= 2 and ${OF_ALL_WEBHOOKS} and delivery < $1 and delivery >= coalesce((select at from stop), 0)
    ), found as (
      ${withEventAndWebhook(s, 'select * from rows')} where ${MATCHING}
      order by d.position desc fetch first $5 rows with ties
    )
    select f.*, r.*, p.at as "stoppedAt" from stop p left join found f on true cross join lateral ${replaysOf(s)} r
    order by f.position desc`,
})

export const deliveryStatements = (s: string) =>
  ({
    /** A delivery by the range of its event's id `$1`, `$2`, its stored ids `$3`, `$4`, and its account `$5` (null: any). */
    one: {
      name: 'delivery',
      text: `with ev as materialized (select position as at from ${s}.event where id >= $1 and id < $2)
        ${withReplays(
          s,
          `${withEventAndWebhook(
            s,
            `${ofEvents(s, 'ev', 'id = $3')}
            union all
            select ${WAITING_COLUMNS} from ${s}.waiting where id = $4 and left(id, 1) = '!'
            union all
            select ${ENDED_COLUMNS} from ${s}.attempt where id = $4 and left(id, 1) = '!' and state >= 2`,
          )} where ($5::text is null or w.account_id = $5)`,
        )}`,
    },
    /** Bodies by the events `$1` and variants `$2`. */
    bodies: {
      name: 'event_bodies',
      text: `select k.place::int, f.body
        from unnest($1::text[], $2::int[]) with ordinality k (id, variant, place)
        cross join lateral (
          select case k.variant when 0 then e.body else (
            select body from ${s}.body b where b.event = e.position and b.variant = k.variant
          ) end as body
          from ${s}.event e where e.id = k.id offset 0
        ) f where f.body is not null`,
    },
    down: list(s, false, false),
    up: list(s, true, false),
    downUndelivered: list(s, false, true),
    upUndelivered: list(s, true, true),
    searchWebhooks: searchWebhooks(s, false),
    searchWebhooksUndelivered: searchWebhooks(s, true),
    searchCall: searchCall(s),
    searchAll: searchAll(s),
    /**
     * For waiting deliveries (keys of webhooks `$1`, positions `$2`, lanes `$3`, epochs of webhooks `$4`) in lanes of the calls
     * `$5` of the accounts `$6`. Deliveries of an epoch that has ended do not count. Each lane is read once, however many of
     * its deliveries are given.
     */
    aheadOfCall: {
      name: 'deliveries_ahead_call',
      text: `select a.key as "webhookKey", a.position, a.ahead
        from (
          select l.key, w.position, row_number() over (
              partition by l.key, l.lane, l.call_id, l.account_id order by w.sequence, w.position
            ) - 1 as ahead
          from (
            select distinct key, lane, epoch, call_id, account_id
            from unnest($1::int[], $3::bigint[], $4::int[], $5::text[], $6::text[]) u (key, lane, epoch, call_id, account_id)
          ) l cross join lateral (
            select position as at from ${s}.event where call_id = l.call_id and account_id = l.account_id offset 0
          ) e cross join lateral (
            select * from ${s}.waiting w where w.event = e.at offset 0
          ) w
          where w.webhook_key = l.key and w.lane = l.lane and w.epoch >= l.epoch
        ) a join unnest($1::int[], $2::bigint[]) u (key, position) on u.key = a.key and u.position = a.position`,
    },
    /** The same for lanes of replays. */
    aheadOfReplay: {
      name: 'deliveries_ahead_replay',
      text: `select a.key as "webhookKey", a.position, a.ahead
        from (
          select l.key, w.position,
            row_number() over (partition by l.key, l.lane order by w.sequence, w.position) - 1 as ahead
          from (
            select distinct key, lane, epoch from unnest($1::int[], $3::bigint[], $4::int[]) u (key, lane, epoch)
          ) l cross join lateral (
            select * from ${s}.waiting where webhook_key = l.key and lane = l.lane and replay_of is not null offset 0
          ) w
          where w.epoch >= l.epoch
        ) a join unnest($1::int[], $2::bigint[]) u (key, position) on u.key = a.key and u.position = a.position`,
    },
  }) satisfies Record<string, Statement>
