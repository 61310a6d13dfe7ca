import type { Delivery } from 'hookswitch/store'
import type { AccountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import type { Endpoint, Endpoints } from './endpoints.js'
import { query } from './query.js'
import { IN_FLIGHT, stateOf } from './states.js'
import { idKey } from './text-key.js'

/** A delivery as it is stored, with what of its event belongs to it. */
export interface StoredRow {
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

/** The columns of `StoredRow`, of `d` (a delivery) and `e` (its event). */
export const COLUMNS = `d.position, d.id, d.webhook, d.event, d.epoch, d.state, d.due_ms as "dueMs", d.attempts,
  d.tries, d.interruptions, d.fence, d.lane_key as "laneKey", d.variant, d.accepted_ms as "acceptedMs",
  d.ended_ms as "endedMs", d.last_attempt as "lastAttempt", d.call, d.encoding, d.http_verb as "httpVerb", d.reason,
  d.replay_of as "replayOf", d.lane, e.id as "eventId", e.account as "eventAccount", e.call as "eventCall",
  e.call_id as "callId", e.hook, e.timestamp_ms as "timestampMs"`

/** A delivery in its places. */
export interface Row {
  readonly position: number
  /** Replaced, never changed: it was handed out. */
  delivery: Delivery
  /** The key of its webhook. */
  readonly webhook: number
  /** The key of its event. */
  readonly event: number
  /** The call as the webhook's account knows it. */
  readonly call: number | null
  /** Where that is not the event's own call. */
  readonly foreignCall: number | null
  /** Null: alone in its lane, or ended. */
  readonly laneKey: number | null
  /** Whether it is the first of its lane, and has not ended. */
  readonly isHead: boolean
  /** The position of its newest record. */
  readonly lastAttempt: number | null
}

export interface Rows {
  byId(deliveryId: string): Row | undefined
  at(position: number): Row | undefined
  /** @param endpoint the row's webhook, where it is at hand */
  of(stored: StoredRow, endpoint?: Endpoint): Row
}

export function rows(db: SqliteHandle, accounts: AccountKeys, endpoints: Endpoints): Rows {
  const select = `select ${COLUMNS} from hookswitch_delivery d join hookswitch_event e on e.key = d.event`
  const byId = query<StoredRow>(db, `${select} where d.id_key = ? and d.id = ?`)
  const at = query<StoredRow>(db, `${select} where d.position = ?`)

  function of(stored: StoredRow, endpoint: Endpoint = endpoints.byKey(stored.webhook)!): Row {
    const { position, webhook, event, call: foreignCall, eventCall, laneKey, lastAttempt } = stored
    return {
      position,
      delivery: deliveryOf(stored, endpoint.webhook, accounts.idOf(stored.eventAccount)),
      webhook,
      event,
      call: foreignCall ?? eventCall,
      foreignCall,
      laneKey,
      isHead: stored.state === IN_FLIGHT || stored.dueMs !== null,
      lastAttempt,
    }
  }

  return {
    byId(deliveryId) {
      const stored = byId.get(idKey(deliveryId), deliveryId)
      return stored && of(stored)
    },
    at(position) {
      const stored = at.get(position)
      return stored && of(stored)
    },
    of,
  }
}

type Draft = { -readonly [Name in keyof Delivery]: Delivery[Name] }

/** Written out, without a spread: every claim makes one of these. */
function deliveryOf(
  row: StoredRow,
  webhook: { readonly id: string; readonly accountId: string },
  eventAccountId: string,
): Delivery {
  const delivery: Draft = {
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
    state: stateOf(row.state),
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
