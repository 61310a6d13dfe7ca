/** Converts between rows and the records of the store contract. Pure. */
import {
  type AttemptRecord,
  type Delivery,
  type DeliveryReplays,
  type DeliveryState,
  decodeRecord,
  encodeRecord,
  type Health,
  type LaneKind,
  laneKindOf,
  laneName,
  shardOf,
  type Webhook,
} from 'hookswitch/store'
import { deliveryIdOf } from './delivery-id.js'

/** Delivery states by their number in the tables. */
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

/** Methods by their number in `form`. */
const VERBS: readonly Delivery['httpVerb'][] = ['get', 'post', 'put', 'patch', 'delete']
const LANE_KINDS = 16

/** Encoding, method and kind of lane of a delivery as one number. */
export function formOf({
  encoding,
  httpVerb,
  lane,
}: Pick<Delivery, 'encoding' | 'httpVerb' | 'lane'>): number {
  return (encoding === 'form' ? 1 : 0) + 2 * VERBS.indexOf(httpVerb) + LANE_KINDS * laneKindOf(lane)
}

export const verbOf = (form: number): Delivery['httpVerb'] => VERBS[(form % LANE_KINDS) >> 1]!

/** Columns that `waiting` and `attempt` have under the same name. */
const SHARED = `lane, accepted_ms as "acceptedMs", webhook_key as "webhookKey", epoch, attempts, tries, interruptions, variant,
  form, id, replay_of as "replayOf", reason, failed_ms as "failedMs", event`

/** Columns of a waiting delivery, as `ENDED_COLUMNS` names them. */
export const WAITING_COLUMNS = `${SHARED}, position, sequence, due_ms as "dueMs", 0 as state, null::float8 as "endedMs"`
/** Columns of an attempt with which its delivery ended (`state >= 2`). */
export const ENDED_COLUMNS = `${SHARED}, delivery as position, 0 as sequence, null::float8 as "dueMs", state, ended_ms as "endedMs"`

/** Columns of `event e`. */
export const EVENT_COLUMNS = `e.id as "eventId", e.account_id as "eventAccountId", e.call_id as "callId", e.hook,
  e.timestamp_ms as "eventTimestampMs", coalesce(e.sequence, 0) as "eventSequence"`
/** Columns of `webhook w`. */
export const WEBHOOK_ID_COLUMNS = `w.account_id as "accountId", w.id as "webhookId", w.epoch as "webhookEpoch"`

export interface DeliveryRow {
  readonly id: string
  readonly position: number
  /** Of a waiting delivery: its order in its lane; 0: that is its position. */
  readonly sequence: number
  readonly webhookKey: number
  readonly accountId: string
  readonly webhookId: string
  readonly webhookEpoch: number
  /** Position of its event. */
  readonly event: number
  readonly eventId: string
  readonly eventAccountId: string
  readonly callId: string | null
  readonly hook: string
  readonly eventTimestampMs: number
  /** Number of its event within the call. */
  readonly eventSequence: number
  readonly variant: number
  readonly form: number
  readonly lane: number
  readonly epoch: number
  readonly state: number
  readonly dueMs: number | null
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly reason: string | null
  readonly failedMs: number | null
  readonly replayOf: string | null
  readonly acceptedMs: number
  readonly endedMs: number | null
}

/** The replays of a delivery; all null: there are none. */
export interface ReplaysRow {
  /** Stored id of the newest. */
  readonly lastReplay: string | null
  readonly lastReplayMs: number | null
  readonly hasRecovered: boolean | null
}

/** @param dueMs of a waiting delivery, as readers see it */
export function deliveryOf(row: DeliveryRow, dueMs: number | undefined): Delivery {
  const { eventId, form } = row
  const id = deliveryIdOf(row.id, eventId)
  const callId = row.callId === null ? undefined : row.callId
  const kind = Math.floor(form / LANE_KINDS) as LaneKind
  const lane = laneName(kind, row.lane, {
    id,
    eventAccountId: row.eventAccountId,
    ...(callId !== undefined && { callId }),
  })
  const delivery: { -readonly [Name in keyof Delivery]: Delivery[Name] } = {
    id,
    accountId: row.accountId,
    webhookId: row.webhookId,
    eventId,
    eventAccountId: row.eventAccountId,
    hook: row.hook,
    eventTimestampMs: row.eventTimestampMs,
    variant: row.variant,
    encoding: form % 2 === 1 ? 'form' : 'json',
    httpVerb: verbOf(form),
    lane,
    epoch: row.epoch,
    state: STATES[row.state]!,
    attempts: row.attempts,
    tries: row.tries,
    interruptions: row.interruptions,
    acceptedMs: row.acceptedMs,
  }
  if (callId !== undefined) delivery.callId = callId
  if (dueMs !== undefined) delivery.dueMs = dueMs
  if (row.reason !== null) delivery.reason = row.reason
  if (row.replayOf !== null) {
    delivery.replayOf = row.replayOf
    // An original has the position of its event.
    delivery.originalPosition = row.event
  }
  if (row.failedMs !== null) delivery.failedMs = row.failedMs
  if (row.endedMs !== null) delivery.endedMs = row.endedMs
  return delivery
}

export function replaysOf(row: ReplaysRow & Pick<DeliveryRow, 'eventId'>): DeliveryReplays | undefined {
  const { lastReplay, lastReplayMs, hasRecovered, eventId } = row
  if (lastReplay === null) return undefined
  return {
    lastId: deliveryIdOf(lastReplay, eventId),
    lastAcceptedMs: lastReplayMs!,
    hasRecovered: hasRecovered!,
  }
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

/** The document of a webhook, its health, and its shard, so that statements can use it. */
interface WebhookColumns extends WebhookRow {
  readonly shard: number
}

export function webhookColumns(webhook: Webhook): WebhookColumns {
  const { health, ...row } = webhook
  return { doc: JSON.stringify(row), shard: shardOf(webhook.id), health: healthText(health) }
}

export function healthText(health: Health | null | undefined): string | null {
  return health ? JSON.stringify(health) : null
}

/** Between the two parts of a record: JSON contains no control character. */
const PART_SEPARATOR = '\x1e'

/** The parts of a record that neither its row nor that of its event has. */
export function attemptDoc(record: AttemptRecord): string {
  const { doc, request } = encodeRecord(record)
  return doc + PART_SEPARATOR + request
}

/** Columns of `attempt a`. */
export const ATTEMPT_COLUMNS = 'a.position, a.at_ms as "atMs", a.form, a.id, a.doc'

export interface AttemptRow {
  readonly position: number
  readonly atMs: number
  readonly webhookId: string
  readonly accountId: string
  readonly eventId: string
  readonly callId: string | null
  readonly hook: string
  readonly form: number
  /** Stored id of the delivery. */
  readonly id: string
  readonly doc: string
}

export function attemptOf(row: AttemptRow): AttemptRecord {
  const { atMs, webhookId, accountId, eventId, hook, callId, id, doc } = row
  const deliveryId = deliveryIdOf(id, eventId)
  const context = { accountId, webhookId, deliveryId, eventId, hook, ...(callId !== null && { callId }) }
  const at = doc.indexOf(PART_SEPARATOR)
  return decodeRecord({ atMs, doc: doc.slice(0, at), request: doc.slice(at + 1) }, context)
}
