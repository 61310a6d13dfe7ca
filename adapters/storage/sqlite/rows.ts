/** Reads deliveries: rows of `hookswitch_waiting`, and rows of `hookswitch_attempt` with a terminal state. */
import { type Delivery, type LaneKind, laneName } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import { wholeDeliveryId } from './delivery-ids.js'
import type { Endpoints } from './endpoints.js'
import { encodingIn, httpVerbIn, laneKindIn } from './formats.js'
import { idHashKey } from './hash-key.js'
import type { Statements } from './query.js'
import { stateOfCode, WAITING } from './state-codes.js'

/** A delivery, joined with columns of its event. */
export interface DeliveryRow {
  readonly position: number
  /** In its short form. */
  readonly id: string
  readonly webhook: number
  /** Position of its event. */
  readonly event: number
  readonly epoch: number
  readonly state: number
  /** Null: it has none, or has ended. */
  readonly dueMs: number | null
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  /** Null: there was no failure. */
  readonly failedMs: number | null
  readonly lane: number
  /** Its order within the lane, before the position. */
  readonly sequence: number
  /** Number of its event within the call. */
  readonly eventSequence: number
  readonly variant: number
  readonly format: number
  readonly acceptedMs: number
  readonly endedMs: number | null
  readonly reason: string | null
  readonly replayOf: string | null
  readonly eventId: string
  readonly eventAccount: number
  readonly call: number | null
  readonly callId: string | null
  readonly hook: string
  readonly timestampMs: number
}

const COMMON = `d.position, d.id, d.webhook, e.position as event, d.epoch, d.attempts, d.tries, d.interruptions, d.lane,
  d.variant, d.format, d.accepted_ms as "acceptedMs", d.reason, d.replay_of as "replayOf",
  d.failed_ms as "failedMs", e.id as "eventId",
  e.account as "eventAccount", e.call, e.call_id as "callId", e.hook, e.timestamp_ms as "timestampMs",
  e.sequence as "eventSequence"`

/** The columns of `DeliveryRow`, from `d` (the delivery) and `e` (its event). */
export const WAITING_COLUMNS = `${COMMON}, ${WAITING} as state, d.sequence, d.due_ms as "dueMs", null as "endedMs"`
export const ENDED_COLUMNS = `${COMMON}, d.state, 0 as sequence, null as "dueMs", d.ended_ms as "endedMs"`

const JOIN_EVENT = 'join hookswitch_event e on e.position = coalesce(d.event, d.position)'
const WAITING_SQL = `select ${WAITING_COLUMNS} from hookswitch_waiting d ${JOIN_EVENT}`
const ENDED_SQL = `select ${ENDED_COLUMNS} from hookswitch_attempt d ${JOIN_EVENT}`

/** A delivery with the row that it was read from. */
export interface LocatedDelivery {
  readonly row: DeliveryRow
  /** As stored: without a due time. */
  readonly delivery: Delivery
}

export interface DeliveryRows {
  byId(deliveryId: string): LocatedDelivery | undefined
  /** @param webhook key of the webhook */
  byKey(webhook: number, position: number): LocatedDelivery | undefined
  fromRow(row: DeliveryRow): LocatedDelivery
}

export function createDeliveryRows(
  { prepareQuery }: Statements,
  accounts: AccountKeys,
  endpoints: Endpoints,
): DeliveryRows {
  const ofKey = 'where d.position = ? and d.webhook = ?'
  const waiting = prepareQuery<DeliveryRow>(`${WAITING_SQL} ${ofKey}`)
  const ended = prepareQuery<DeliveryRow>(`${ENDED_SQL} ${ofKey} and d.state is not null`)
  const events = prepareQuery<{ readonly position: number }>(
    'select position from hookswitch_event where id_key = ?',
  )
  const ofEvent = 'where (d.position = ? or d.event = ?)'
  const waitingOfEvent = prepareQuery<DeliveryRow>(`${WAITING_SQL} ${ofEvent}`)
  const endedOfEvent = prepareQuery<DeliveryRow>(`${ENDED_SQL} ${ofEvent} and d.state is not null`)
  const keys = prepareQuery<{ readonly webhook: number; readonly position: number }>(
    'select webhook, position from hookswitch_delivery_id where id_key = ?',
  )

  const fromRow = (row: DeliveryRow): LocatedDelivery => ({
    row,
    delivery: deliveryOf(row, endpoints.byKey(row.webhook)!.webhook, accounts.idOf(row.eventAccount)),
  })
  function byKey(webhook: number, position: number): LocatedDelivery | undefined {
    const row = waiting.get(position, webhook) ?? ended.get(position, webhook)
    return row && fromRow(row)
  }

  return {
    byId(deliveryId) {
      const idKey = idHashKey(deliveryId)
      const hasId = ({ id, eventId }: DeliveryRow) => wholeDeliveryId(id, eventId) === deliveryId
      for (const { position } of events.all(idKey)) {
        const row =
          waitingOfEvent.all(position, position).find(hasId) ??
          endedOfEvent.all(position, position).find(hasId)
        if (row) return fromRow(row)
      }
      for (const { webhook, position } of keys.all(idKey)) {
        const found = byKey(webhook, position)
        if (found?.delivery.id === deliveryId) return found
      }
      return undefined
    },
    byKey,
    fromRow,
  }
}

type MutableDelivery = { -readonly [Name in keyof Delivery]: Delivery[Name] }

function deliveryOf(
  row: DeliveryRow,
  webhook: { readonly id: string; readonly accountId: string },
  eventAccountId: string,
): Delivery {
  const kind: LaneKind = laneKindIn(row.format)
  const delivery: MutableDelivery = {
    id: wholeDeliveryId(row.id, row.eventId),
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId: row.eventId,
    eventAccountId,
    hook: row.hook,
    eventTimestampMs: row.timestampMs,
    variant: row.variant,
    encoding: encodingIn(row.format),
    httpVerb: httpVerbIn(row.format),
    lane: '',
    epoch: row.epoch,
    state: stateOfCode(row.state),
    attempts: row.attempts,
    tries: row.tries,
    interruptions: row.interruptions,
    acceptedMs: row.acceptedMs,
  }
  if (row.callId !== null) delivery.callId = row.callId
  if (row.replayOf !== null) {
    delivery.replayOf = row.replayOf
    // The first delivery of an event to a webhook has the event's position.
    delivery.originalPosition = row.event
  }
  if (row.reason !== null) delivery.reason = row.reason
  if (row.failedMs !== null) delivery.failedMs = row.failedMs
  if (row.endedMs !== null) delivery.endedMs = row.endedMs
  delivery.lane = laneName(kind, row.lane, delivery)
  return delivery
}
