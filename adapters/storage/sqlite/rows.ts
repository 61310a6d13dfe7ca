/** Reads rows of `hookswitch_delivery` as deliveries. */
import type { Delivery } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import type { CachedEndpoint, Endpoints } from './endpoints.js'
import { idHashKey } from './hash-key.js'
import { prepareQuery } from './query.js'
import { IN_FLIGHT, stateOfCode } from './state-codes.js'

/** A row of `hookswitch_delivery`, joined with columns of its event. */
export interface DeliveryRow {
  readonly position: number
  readonly id: string
  readonly webhook: number
  readonly event: number
  readonly epoch: number
  readonly state: number
  readonly dueMs: number | null
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly fence: number
  readonly laneKey: number | null
  readonly variant: number
  readonly acceptedMs: number
  readonly endedMs: number | null
  readonly lastAttempt: number | null
  readonly call: number | null
  readonly encoding: Delivery['encoding']
  readonly httpVerb: Delivery['httpVerb']
  readonly reason: string | null
  readonly replayOf: string | null
  readonly lane: string | null
  readonly eventId: string
  readonly eventAccount: number
  readonly eventCall: number | null
  readonly callId: string | null
  readonly hook: string
  readonly timestampMs: number
}

/** The columns of `DeliveryRow`, from `d` (the delivery) and `e` (its event). */
export const COLUMNS = `d.position, d.id, d.webhook, d.event, d.epoch, d.state, d.due_ms as "dueMs", d.attempts,
  d.tries, d.interruptions, d.fence, d.lane_key as "laneKey", d.variant, d.accepted_ms as "acceptedMs",
  d.ended_ms as "endedMs", d.last_attempt as "lastAttempt", d.call, d.encoding, d.http_verb as "httpVerb", d.reason,
  d.replay_of as "replayOf", d.lane, e.id as "eventId", e.account as "eventAccount", e.call as "eventCall",
  e.call_id as "callId", e.hook, e.timestamp_ms as "timestampMs"`

/** A delivery with its position and the keys of the rows it refers to. */
export interface LocatedDelivery {
  readonly position: number
  /** Replaced, never modified: callers hold references to it. */
  delivery: Delivery
  /** The key of its webhook. */
  readonly webhook: number
  /** The key of its event. */
  readonly event: number
  /** The key of its call, as recorded for the webhook's account. */
  readonly call: number | null
  /** The same, if the event belongs to another account; else null. */
  readonly foreignCall: number | null
  /** Null: it has a lane to itself, or has ended. */
  readonly laneKey: number | null
  /** Whether it is the first of its lane and has not ended. */
  readonly isHead: boolean
  /** The position of its newest attempt record. */
  readonly lastAttempt: number | null
}

export interface DeliveryRows {
  byId(deliveryId: string): LocatedDelivery | undefined
  byPosition(position: number): LocatedDelivery | undefined
  /** @param endpoint the row's webhook. Default: looked up */
  fromRow(row: DeliveryRow, endpoint?: CachedEndpoint): LocatedDelivery
}

export function createDeliveryRows(
  db: SqliteHandle,
  accounts: AccountKeys,
  endpoints: Endpoints,
): DeliveryRows {
  const select = `select ${COLUMNS} from hookswitch_delivery d join hookswitch_event e on e.key = d.event`
  const byId = prepareQuery<DeliveryRow>(db, `${select} where d.id_key = ? and d.id = ?`)
  const byPosition = prepareQuery<DeliveryRow>(db, `${select} where d.position = ?`)

  function fromRow(
    row: DeliveryRow,
    endpoint: CachedEndpoint = endpoints.byKey(row.webhook)!,
  ): LocatedDelivery {
    const { position, webhook, event, call: foreignCall, eventCall, laneKey, lastAttempt } = row
    return {
      position,
      delivery: deliveryOf(row, endpoint.webhook, accounts.idOf(row.eventAccount)),
      webhook,
      event,
      call: foreignCall ?? eventCall,
      foreignCall,
      laneKey,
      isHead: row.state === IN_FLIGHT || row.dueMs !== null,
      lastAttempt,
    }
  }

  return {
    byId(deliveryId) {
      const row = byId.get(idHashKey(deliveryId), deliveryId)
      return row && fromRow(row)
    },
    byPosition(position) {
      const row = byPosition.get(position)
      return row && fromRow(row)
    },
    fromRow,
  }
}

type MutableDelivery = { -readonly [Name in keyof Delivery]: Delivery[Name] }

/** Spelled out without a spread: every claim creates one of these. */
function deliveryOf(
  row: DeliveryRow,
  webhook: { readonly id: string; readonly accountId: string },
  eventAccountId: string,
): Delivery {
  const delivery: MutableDelivery = {
    id: row.id,
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId: row.eventId,
    eventAccountId,
    hook: row.hook,
    eventTimestampMs: row.timestampMs,
    variant: row.variant,
    encoding: row.encoding,
    httpVerb: row.httpVerb,
    lane: row.lane ?? row.id,
    epoch: row.epoch,
    state: stateOfCode(row.state),
    attempts: row.attempts,
    tries: row.tries,
    interruptions: row.interruptions,
    fence: row.fence,
    acceptedMs: row.acceptedMs,
  }
  if (row.callId !== null) delivery.callId = row.callId
  if (row.replayOf !== null) delivery.replayOf = row.replayOf
  if (row.dueMs !== null) delivery.dueMs = row.dueMs
  if (row.reason !== null) delivery.reason = row.reason
  if (row.endedMs !== null) delivery.endedMs = row.endedMs
  return delivery
}
