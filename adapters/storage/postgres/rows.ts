/** Converts between rows and the records of the store contract. Pure. */
import {
  type AttemptRecord,
  type Delivery,
  type DeliveryState,
  type Health,
  isFailing,
  isProbed,
  originOf,
  type ReadyEndpoint,
  shardOf,
  type Webhook,
} from 'hookswitch/store'

/** Delivery states by their number in the table. */
export const STATES: readonly DeliveryState[] = [
  'waiting',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
]

const NUMBERS = new Map(STATES.map((state, index) => [state, index]))

export function stateNumberOf(state: DeliveryState): number {
  return NUMBERS.get(state)!
}

/** Columns of `delivery d` and its `event e` (`e.position = d.event and e.variant = d.variant`). */
export const DELIVERY_OWN_COLUMNS = `d.id, d.position,
  e.id as "eventId", e.account_id as "eventAccountId", e.call_id as "callId", e.hook,
  e.timestamp_ms as "eventTimestampMs", d.variant, d.encoding, d.http_verb as "httpVerb", d.lane, d.epoch, d.state,
  d.due_ms as "dueMs", d.attempts, d.tries, d.interruptions, d.fence, d.reason, d.replay_of as "replayOf",
  d.accepted_ms as "acceptedMs", d.ended_ms as "endedMs"`

/** The same with the columns of its `webhook w` (`w.key = d.webhook_key`). */
export const DELIVERY_COLUMNS = `${DELIVERY_OWN_COLUMNS}, w.account_id as "accountId", w.id as "webhookId"`

/** FROM clause for `DELIVERY_COLUMNS`. */
export const deliveryFrom = (s: string) => `${s}.delivery d
  join ${s}.event e on e.position = d.event and e.variant = d.variant
  join ${s}.webhook w on w.key = d.webhook_key`

export interface DeliveryRow {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly webhookId: string
  readonly eventId: string
  readonly eventAccountId: string
  readonly callId: string | null
  readonly hook: string
  readonly eventTimestampMs: number
  readonly variant: number
  readonly encoding: Delivery['encoding']
  readonly httpVerb: Delivery['httpVerb']
  readonly lane: string
  readonly epoch: number
  readonly state: number
  readonly dueMs: number | null
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly fence: number
  readonly reason: string | null
  readonly replayOf: string | null
  readonly acceptedMs: number
  readonly endedMs: number | null
}

export function deliveryOf(row: DeliveryRow): Delivery {
  return deliveryWith(row, row)
}

/** A delivery whose row has no columns of its webhook. */
export function deliveryWith(
  webhook: Pick<DeliveryRow, 'accountId' | 'webhookId'>,
  row: Omit<DeliveryRow, 'accountId' | 'webhookId'>,
): Delivery {
  const delivery: { -readonly [Name in keyof Delivery]: Delivery[Name] } = {
    id: row.id,
    accountId: webhook.accountId,
    webhookId: webhook.webhookId,
    eventId: row.eventId,
    eventAccountId: row.eventAccountId,
    hook: row.hook,
    eventTimestampMs: row.eventTimestampMs,
    variant: row.variant,
    encoding: row.encoding,
    httpVerb: row.httpVerb,
    lane: row.lane,
    epoch: row.epoch,
    state: STATES[row.state]!,
    attempts: row.attempts,
    tries: row.tries,
    interruptions: row.interruptions,
    fence: row.fence,
    acceptedMs: row.acceptedMs,
  }
  if (row.callId !== null) delivery.callId = row.callId
  if (row.dueMs !== null) delivery.dueMs = row.dueMs
  if (row.reason !== null) delivery.reason = row.reason
  if (row.replayOf !== null) delivery.replayOf = row.replayOf
  if (row.endedMs !== null) delivery.endedMs = row.endedMs
  return delivery
}

/** A stored webhook: one JSON document, and its health. */
export interface WebhookRow {
  readonly doc: string
  readonly health: string | null
}

export function webhookOf({ doc, health }: WebhookRow): Webhook {
  const webhook = JSON.parse(doc) as Webhook
  return health === null ? webhook : { ...webhook, health: JSON.parse(health) as Health }
}

/** Columns that repeat parts of the document, so that statements can use them. */
export interface WebhookColumns extends HealthColumns {
  readonly doc: string
  readonly shard: number
  readonly origin: string
}

/** Columns that repeat parts of the health, so that the queue need not parse it. */
export interface HealthColumns {
  readonly health: string | null
  /** Store time, ms; 0: not paused. */
  readonly pausedMs: number
  readonly failing: boolean
  readonly probed: boolean
}

export function webhookColumns(webhook: Webhook): WebhookColumns {
  const { health, ...row } = webhook
  return {
    doc: JSON.stringify(row),
    shard: shardOf(webhook.id),
    origin: originOf(webhook.settings.uri),
    ...healthColumns(health),
  }
}

export function healthColumns(health: Health | undefined): HealthColumns {
  return {
    health: health === undefined ? null : JSON.stringify(health),
    pausedMs: health?.pausedUntilMs ?? 0,
    failing: isFailing(health),
    probed: isProbed(health),
  }
}

/** A webhook as an endpoint: columns of `webhook w`. */
export interface EndpointState {
  readonly webhookId: string
  readonly accountId: string
  readonly origin: string
  readonly failing: boolean
  readonly deleted: boolean
  readonly pausedMs: number
}

export const ENDPOINT_COLUMNS = `w.id as "webhookId", w.account_id as "accountId", w.origin, w.failing,
  w.deleted_ms is not null as deleted, w.paused_ms as "pausedMs"`

/** With the due time of its earliest head in its current epoch; null: none waits. */
export interface EndpointRow extends EndpointState {
  readonly headMs: number | null
}

/** The endpoint is due when its earliest head is due and its pause has ended. */
export function endpointOf(state: EndpointState, headMs: number | null): ReadyEndpoint {
  const { webhookId, accountId, origin, failing, deleted, pausedMs } = state
  const dueMs = deleted || headMs === null ? undefined : Math.max(headMs, pausedMs)
  return { webhookId, accountId, origin, failing, dueMs }
}

/** The parts of a record that have no column. */
export function attemptDoc(record: AttemptRecord): string {
  const { accountId: _a, webhookId: _w, deliveryId: _d, callId: _c, atMs: _at, ...rest } = record
  return JSON.stringify(rest)
}

/** Columns of `attempt a` and its `webhook w` (`w.key = a.webhook_key`). */
export const ATTEMPT_COLUMNS = `a.position, a.at_ms as "atMs", w.id as "webhookId", a.account_id as "accountId",
  a.delivery_id as "deliveryId", a.call_id as "callId", a.doc`

export interface AttemptRow {
  readonly position: number
  readonly atMs: number
  readonly webhookId: string
  readonly accountId: string
  readonly deliveryId: string
  readonly callId: string | null
  readonly doc: string
}

export function attemptOf(row: AttemptRow): AttemptRecord {
  const { atMs, webhookId, accountId, deliveryId, callId } = row
  const rest = JSON.parse(row.doc) as Omit<AttemptRecord, 'accountId' | 'webhookId' | 'deliveryId' | 'atMs'>
  return { ...rest, accountId, webhookId, deliveryId, ...(callId === null ? {} : { callId }), atMs }
}
