/**
 * The statement that writes a group: one statement, one transaction, all of it or nothing. Each part of a group that is not
 * empty adds a common table expression, or a condition. Where a condition is false, the statement divides by zero: parts
 * that only depend on a row of a CTE would still write the others.
 */
import type { NewDelivery, NewEvent, Settlement } from 'hookswitch/store'
import { fillIn, isTerminal, laneKey, linkedLeg } from 'hookswitch/store'
import { byteaArray, float8Array, int2Array, int4Array, int8Array, textArray } from './binary-arrays.js'
import { isStoredWhole } from './delivery-id.js'
import { attemptDoc, formOf, stateNumberOf } from './rows.js'
import { isTakenWhole } from './sql/commit.js'
import type { Statement } from './statement.js'

export interface EventToWrite {
  readonly event: NewEvent
  /** 0: not numbered. */
  readonly sequence: number
  /** False: its bodies are not stored. */
  readonly hasDeliveries: boolean
}

export interface DeliveryToWrite {
  readonly delivery: NewDelivery
  /** Its id as it is stored (`delivery-id.ts`). */
  readonly storedId: string
  readonly webhookKey: number
  readonly shard: number
  /** Position of its event. */
  readonly event: number
  /** Its order in its lane: sequence number of its event. 0: its position. */
  readonly sequence: number
  /** Another node owns its shard, or nobody. */
  readonly isForeign: boolean
}

export interface SettlementToWrite {
  readonly settlement: Settlement
  readonly webhookKey: number
}

/** What must hold when a group is written that nobody has read rows for. */
export interface GroupChecks {
  readonly lease?: { readonly owner: string; readonly fence: number; readonly version: number }
  /** Webhooks that exist, by key; the value is the highest epoch that they may have. */
  readonly webhooks: ReadonlyMap<number, number>
  /** Webhooks in shards of other nodes, which nothing keeps from being removed meanwhile. */
  readonly foreignWebhooks: ReadonlySet<number>
  /** Calls that have no number yet: account and call. */
  readonly newCalls: readonly (readonly [string, string])[]
  /** Deliveries that wait with this many attempts: key of the webhook, position, attempts. */
  readonly waiting: readonly (readonly [number, number, number])[]
}

export interface GroupToWrite {
  /** Store time, ms. */
  readonly now: number
  readonly events: readonly EventToWrite[]
  readonly deliveries: readonly DeliveryToWrite[]
  readonly inboxIds: readonly string[]
  readonly ended: readonly SettlementToWrite[]
  /** Key of the webhook, its epoch, and its new health as JSON; null: clean. */
  readonly health: ReadonlyMap<number, { readonly epoch: number; readonly health: string | null }>
  readonly fence: number
  readonly starting?: { readonly key: number; readonly entries: readonly Buffer[] }
  readonly finished: readonly number[]
  readonly checks?: GroupChecks
}

/** A part of the statement. `$` numbers its values from 1; they follow those of the parts before. */
interface Part {
  readonly isNeeded: (group: GroupToWrite) => boolean
  readonly values: (group: GroupToWrite) => unknown[]
  readonly cte?: (s: string) => string
  readonly condition?: (s: string) => string
}

const LEASE: Part = {
  isNeeded: ({ checks }) => checks?.lease !== undefined,
  values: ({ checks, now }) => {
    const { owner, fence, version } = checks!.lease!
    return [owner, fence, version, now]
  },
  cte: (s) => `f as (
      select 1 from ${s}.node where owner = $1 and fence = $2 and version = $3 and alive_until_ms > $4 for share
    )`,
  condition: () => '(select count(*) from f) = 1',
}

const WEBHOOKS: Part = {
  isNeeded: ({ checks }) => checks !== undefined && checks.webhooks.size > 0,
  values: ({ checks }) => [
    int4Array([...checks!.webhooks.keys()]),
    int4Array([...checks!.webhooks.values()]),
  ],
  condition: (s) => `(select count(*) from unnest($1::int[], $2::int[]) u (key, epoch) cross join lateral (
      select 1 from ${s}.webhook w where w.key = u.key and w.epoch <= u.epoch offset 0
    ) w) = cardinality($1)`,
}

const FOREIGN_WEBHOOKS: Part = {
  isNeeded: ({ checks }) => checks !== undefined && checks.foreignWebhooks.size > 0,
  values: ({ checks }) => [int4Array([...checks!.foreignWebhooks])],
  cte: (s) => `x as (select 1 from ${s}.webhook where key = any ($1::int[]) order by key for key share)`,
  condition: () => '(select count(*) from x) = cardinality($1)',
}

const NEW_CALLS: Part = {
  isNeeded: ({ checks }) => checks !== undefined && checks.newCalls.length > 0,
  values: ({ checks }) => [
    textArray(checks!.newCalls.map(([account]) => account)),
    textArray(checks!.newCalls.map(([, call]) => call)),
  ],
  condition: (s) => `not exists (
      select from unnest($1::text[], $2::text[]) u (account_id, call_id) cross join lateral (
        select 1 from ${s}.event e
        where e.call_id = u.call_id and e.account_id = u.account_id and e.sequence > 0 limit 1
      ) e)`,
}

/** Ids that are not derived from those of events have no unique index. */
const WHOLE_IDS: Part = {
  isNeeded: ({ checks, deliveries }) =>
    checks !== undefined && deliveries.some(({ storedId }) => isStoredWhole(storedId)),
  values: ({ deliveries }) => [
    textArray(deliveries.flatMap(({ storedId }) => (isStoredWhole(storedId) ? [storedId] : []))),
  ],
  condition: (s) => `not exists (select from unnest($1::text[]) u (id) where ${isTakenWhole(s)})`,
}

const STARTABLE: Part = {
  isNeeded: ({ checks }) => checks !== undefined && checks.waiting.length > 0,
  values: ({ checks }) => [
    int4Array(checks!.waiting.map(([key]) => key)),
    int8Array(checks!.waiting.map(([, position]) => position)),
    int4Array(checks!.waiting.map(([, , attempts]) => attempts)),
  ],
  condition: (
    s,
  ) => `(select count(*) from unnest($1::int[], $2::bigint[], $3::int[]) u (key, position, attempts)
      cross join lateral (
        select 1 from ${s}.waiting w
        where w.webhook_key = u.key and w.position = u.position and w.attempts = u.attempts offset 0
      ) w) = cardinality($1)`,
}

const INBOX: Part = {
  isNeeded: ({ inboxIds }) => inboxIds.length > 0,
  values: ({ inboxIds }) => [textArray(inboxIds)],
  cte: (s) => `i as (delete from ${s}.inbox where event_id = any ($1::text[]) returning 1)`,
  condition: () => '(select count(*) from i) = cardinality($1)',
}

/** Sorted, as everywhere: two nodes that insert the same keys do not block each other. */
const KEYS: Part = {
  isNeeded: ({ events }) => events.some(({ event }) => event.idempotency !== undefined),
  values: ({ events }) => {
    const keyed = events
      .filter(({ event }) => event.idempotency !== undefined)
      .sort(
        (a, b) =>
          compare(a.event.accountId, b.event.accountId) ||
          compare(a.event.idempotency!.key, b.event.idempotency!.key),
      )
    const keys = keyed.map(({ event }) => event.idempotency!)
    return [
      float8Array(keys.map(({ untilMs }) => untilMs)),
      int4Array(keyed.map(({ sequence }) => sequence)),
      textArray(keyed.map(({ event }) => event.accountId)),
      textArray(keys.map(({ key }) => key)),
      textArray(keyed.map(({ event }) => event.callId ?? null)),
      textArray(keyed.map(({ event }) => event.id)),
      textArray(keys.map(({ bodyHash }) => bodyHash)),
    ]
  },
  cte: (s) => `k as (
      insert into ${s}.idempotency (until_ms, sequence, account_id, key, call_id, event_id, body_hash)
      select * from unnest($1::float8[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    )`,
}

const EVENTS: Part = {
  isNeeded: ({ events }) => events.length > 0,
  values: ({ events, now }) => {
    const sorted = events.length === 1 ? events : [...events].sort(byNumber)
    return [
      int8Array(sorted.map(({ event }) => event.position!)),
      float8Array(sorted.map(({ event }) => event.timestampMs)),
      now,
      int4Array(sorted.map(({ sequence }) => (sequence === 0 ? null : sequence))),
      textArray(sorted.map(({ event }) => event.id)),
      textArray(sorted.map(({ event }) => event.accountId)),
      textArray(sorted.map(({ event }) => event.callId ?? null)),
      textArray(sorted.map(({ event }) => linkedLeg(event.callId, event.otherLegCallId) ?? null)),
      textArray(sorted.map(({ event }) => event.hook)),
      textArray(sorted.map(({ event }) => event.traceparent ?? null)),
      textArray(sorted.map((event) => (event.hasDeliveries ? bodyOf(event, 0) : null))),
    ]
  },
  cte: (s) => `e as (
      insert into ${s}.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, other_leg, hook,
        traceparent, body)
      select u.position, u.timestamp_ms, $3::float8, u.sequence, u.id, u.account_id, u.call_id, u.other_leg, u.hook,
        u.traceparent, u.body
      from unnest($1::bigint[], $2::float8[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[])
        u (position, timestamp_ms, sequence, id, account_id, call_id, other_leg, hook, traceparent, body)
    )`,
}

function bodyOf({ event, sequence }: EventToWrite, variant: number): string | null {
  const template = event.bodies[variant]
  return template ? fillIn(template, sequence) : null
}

function byNumber({ event: a, sequence }: EventToWrite, { event: b, sequence: other }: EventToWrite): number {
  return compare(a.callId ?? '', b.callId ?? '') || compare(a.accountId, b.accountId) || sequence - other
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const BODIES: Part = {
  isNeeded: ({ events }) =>
    events.some(({ event, hasDeliveries }) => hasDeliveries && event.bodies.length > 1),
  values: ({ events }) => {
    const rows = events.flatMap((placed) =>
      placed.hasDeliveries
        ? placed.event.bodies.slice(1).map((_, index) => ({ placed, variant: index + 1 }))
        : [],
    )
    return [
      int8Array(rows.map(({ placed }) => placed.event.position!)),
      int2Array(rows.map(({ variant }) => variant)),
      textArray(rows.map(({ placed, variant }) => bodyOf(placed, variant))),
    ]
  },
  cte: (s) => `b as (
      insert into ${s}.body (event, variant, body) select * from unnest($1::bigint[], $2::smallint[], $3::text[])
    )`,
}

const DELIVERIES: Part = {
  isNeeded: ({ deliveries }) => deliveries.length > 0,
  values: ({ deliveries, now }) => [
    int8Array(deliveries.map(({ delivery }) => delivery.position!)),
    int8Array(deliveries.map(({ event }) => event)),
    int8Array(deliveries.map(({ delivery }) => laneKey(delivery.lane))),
    now,
    int4Array(deliveries.map(({ webhookKey }) => webhookKey)),
    int4Array(deliveries.map(({ sequence }) => sequence)),
    int4Array(deliveries.map(({ delivery }) => delivery.epoch)),
    int2Array(deliveries.map(({ delivery }) => delivery.variant)),
    int2Array(deliveries.map(({ delivery }) => formOf(delivery))),
    textArray(deliveries.map(({ storedId }) => storedId)),
    textArray(deliveries.map(({ delivery }) => delivery.replayOf ?? null)),
  ],
  cte: (s) => `w as (
      insert into ${s}.waiting (position, event, lane, accepted_ms, webhook_key, sequence, epoch, variant, form, id,
        replay_of)
      select u.position, u.event, u.lane, $4::float8, u.webhook_key, u.sequence, u.epoch, u.variant, u.form, u.id, u.replay_of
      from unnest($1::bigint[], $2::bigint[], $3::bigint[], $5::int[], $6::int[], $7::int[], $8::smallint[],
        $9::smallint[], $10::text[], $11::text[])
        u (position, event, lane, webhook_key, sequence, epoch, variant, form, id, replay_of)
    )`,
}

const INCOMING: Part = {
  isNeeded: ({ deliveries }) => deliveries.some(({ isForeign }) => isForeign),
  values: ({ deliveries }) => {
    const foreign = deliveries.filter(({ isForeign }) => isForeign)
    return [
      int8Array(foreign.map(({ delivery }) => delivery.position!)),
      int4Array(foreign.map(({ webhookKey }) => webhookKey)),
      int2Array(foreign.map(({ shard }) => shard)),
    ]
  },
  cte: (s) => `g as (
      insert into ${s}.incoming (position, webhook_key, shard) select * from unnest($1::bigint[], $2::int[], $3::smallint[])
    )`,
}

/**
 * Rows are found by key and changed by their location: a join by key may read a whole index while the statistics say that
 * the table is empty. Attempts are written for the rows that were deleted or updated, and for no others, so that a repeated
 * settlement records nothing twice and one after an erasure brings nothing back.
 */
const ENDED: Part = {
  isNeeded: ({ ended }) => ended.length > 0,
  values: ({ ended, now }) => {
    const nexts = ended.map(({ settlement }) => settlement.next)
    const records = ended.map(({ settlement }) => settlement.record)
    return [
      int4Array(ended.map(({ webhookKey }) => webhookKey)),
      int8Array(ended.map(({ settlement }) => settlement.position!)),
      int4Array(ended.map(({ settlement }) => settlement.expect.attempts)),
      int2Array(nexts.map(({ state }) => (isTerminal(state) ? stateNumberOf(state) : 0))),
      float8Array(nexts.map(({ state, dueMs }) => (isTerminal(state) ? null : (dueMs ?? now)))),
      int4Array(nexts.map(({ attempts }) => attempts)),
      int4Array(nexts.map(({ tries }) => tries)),
      int4Array(nexts.map(({ interruptions }) => interruptions)),
      textArray(nexts.map(({ reason }) => reason?.replaceAll('\0', '\ufffd') ?? null)),
      float8Array(records.map((record) => record?.atMs ?? null)),
      int4Array(records.map((record) => record?.attempt ?? null)),
      textArray(records.map((record) => (record ? attemptDoc(record) : null))),
      now,
      float8Array(nexts.map(({ failedMs }) => failedMs ?? null)),
    ]
  },
  cte: (s) => `t as materialized (
      select u.*, x.location
      from unnest($1::int[], $2::bigint[], $3::int[], $4::smallint[], $5::float8[], $6::int[], $7::int[], $8::int[],
        $9::text[], $10::float8[], $11::int[], $12::text[], $14::float8[]) with ordinality
        u (key, delivery, expected, state, due_ms, attempts, tries, interruptions, reason, at_ms, n, doc, failed_ms, i)
      cross join lateral (
        select w.ctid as location from ${s}.waiting w
        where w.webhook_key = u.key and w.position = u.delivery and w.attempts = coalesce(u.expected, w.attempts) offset 0
      ) x
    ), d as (
      delete from ${s}.waiting w using t
      where t.state >= 2 and w.ctid = t.location and w.attempts = coalesce(t.expected, w.attempts)
      returning w.event, w.lane, w.accepted_ms, w.epoch, w.variant, w.form, w.id, w.replay_of, t.*
    ), r as (
      update ${s}.waiting w set attempts = t.attempts, tries = t.tries, interruptions = t.interruptions,
        due_ms = t.due_ms, reason = t.reason, failed_ms = t.failed_ms
      from t where t.state = 0 and w.ctid = t.location and w.attempts = coalesce(t.expected, w.attempts)
      returning w.event, w.lane, w.accepted_ms, w.epoch, w.variant, w.form, w.id, w.replay_of, t.*
    ), a as (
      insert into ${s}.attempt (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, n, attempts, tries,
        interruptions, variant, form, state, id, replay_of, reason, failed_ms, doc)
      select event, delivery, lane, coalesce(at_ms, $13::float8), accepted_ms, case when state >= 2 then $13::float8 end, key,
        epoch, n, attempts, tries, interruptions, variant, form, state, id, replay_of, reason, failed_ms, doc
      from (select * from d union all select * from r) x where state >= 2 or doc is not null order by i
    )`,
  condition: () => '(select count(*) from d) + (select count(*) from r) = cardinality($1)',
}

const HEALTH: Part = {
  isNeeded: ({ health }) => health.size > 0,
  values: ({ health }) => [
    int4Array([...health.keys()]),
    int4Array(Array.from(health.values(), ({ epoch }) => epoch)),
    textArray(Array.from(health.values(), (change) => change.health)),
  ],
  cte: (s) => `h as (
      update ${s}.webhook w set health = u.health from (
        select u.health, x.location from unnest($1::int[], $2::int[], $3::text[]) u (key, epoch, health)
        cross join lateral (
          select ctid as location from ${s}.webhook where key = u.key and epoch = u.epoch offset 0
        ) x order by u.key
      ) u where w.ctid = u.location
    )`,
}

const STARTS: Part = {
  isNeeded: ({ starting }) => starting !== undefined,
  values: ({ fence, starting }) => [
    fence,
    starting!.key,
    int2Array(starting!.entries.map((_, index) => index)),
    byteaArray(starting!.entries),
  ],
  cte: (s) => `s as (
      insert into ${s}.start (fence, n, part, entries)
      select $1::int, $2::bigint, u.part, u.entries from unnest($3::smallint[], $4::bytea[]) u (part, entries)
      on conflict do nothing
    )`,
}

const FINISHED: Part = {
  isNeeded: ({ finished }) => finished.length > 0,
  values: ({ fence, finished }) => [fence, int8Array(finished)],
  cte: (s) => `o as (delete from ${s}.start where fence = $1 and n = any ($2::bigint[]))`,
}

/** In the order in which rows are locked: node, webhooks, keys, events. */
const PARTS = [
  LEASE,
  FOREIGN_WEBHOOKS,
  WEBHOOKS,
  NEW_CALLS,
  WHOLE_IDS,
  STARTABLE,
  INBOX,
  HEALTH,
  KEYS,
  EVENTS,
  BODIES,
  DELIVERIES,
  INCOMING,
  ENDED,
  STARTS,
  FINISHED,
]

/** Returns a function that builds the statement of a group; texts are reused, so that each is prepared once. */
export function groupStatements(s: string): (group: GroupToWrite) => readonly [Statement, unknown[]] {
  const statements = new Map<number, Statement>()
  return (group) => {
    let mask = 0
    const values: unknown[] = []
    const used: (readonly [Part, number])[] = []
    for (let index = 0; index < PARTS.length; index += 1) {
      const part = PARTS[index]!
      if (!part.isNeeded(group)) continue
      mask |= 1 << index
      used.push([part, values.length])
      values.push(...part.values(group))
    }
    let statement = statements.get(mask)
    if (!statement) {
      statement = { name: 'group', text: textOf(s, used) }
      statements.set(mask, statement)
    }
    return [statement, values]
  }
}

function textOf(s: string, used: readonly (readonly [Part, number])[]): string {
  const shifted = (text: string, by: number) =>
    text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`)
  const ctes = used.flatMap(([{ cte }, before]) => (cte ? [shifted(cte(s), before)] : []))
  const conditions = used.flatMap(([{ condition }, before]) =>
    condition ? [shifted(condition(s), before)] : [],
  )
  const result = conditions.length === 0 ? '1' : `1 / (${conditions.join('\n and ')})::int`
  return `${ctes.length === 0 ? '' : `with ${ctes.join(', ')}\n`}select ${result} as written`
}
