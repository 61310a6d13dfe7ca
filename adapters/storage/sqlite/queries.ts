/** Reads deliveries for lists and details. */
import {
  type DeliveryQuery,
  type DeliverySearch,
  type DeliveryState,
  effectiveState,
  type FoundDeliveries,
  type StoredDelivery,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { prepareQuery } from './query.js'
import { COLUMNS, type DeliveryRow, type LocatedDelivery } from './rows.js'
import { stateCode } from './state-codes.js'

/** Above every position. */
const MAX_POSITION = Number.MAX_SAFE_INTEGER
/** Beyond every timestamp, in both directions. */
const MAX_TIME_MS = 9e15

export const LIST_SQL = (ascending: boolean) => `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_webhook join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.position ${ascending ? '>' : '<'} ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and (1 << case when d.state <= 1 and d.epoch < ? then ${stateCode('cancelled', 0)} else d.state end) & ? <> 0
  order by d.position ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** Rows that one search examines: a rare match must not hold up the writes of this connection. */
const MAX_EXAMINED = 20_000

const SEARCH_SQL = `select ${COLUMNS}
  from hookswitch_delivery d join hookswitch_event e on e.key = d.event join hookswitch_webhook w on w.key = d.webhook
  where d.position < ? and d.position >= ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and w.account = coalesce(?, w.account) and d.webhook = coalesce(?, d.webhook)
    and (1 << case when d.state <= 1 and d.epoch < w.epoch then ${stateCode('cancelled', 0)} else d.state end) & ? <> 0
    and (? is null or e.call_id = ?)
  order by d.position desc limit ? + 0`

/** Reads deliveries with their effective state: a waiting delivery of an older epoch reads as cancelled. */
export function createDeliveryQueries({ db, accounts, endpoints, rows }: EngineContext) {
  const listAscending = prepareQuery<DeliveryRow>(db, LIST_SQL(true))
  const listDescending = prepareQuery<DeliveryRow>(db, LIST_SQL(false))
  const countAhead = prepareQuery<{ readonly count: number }>(
    db,
    `select count(*) as count from hookswitch_delivery indexed by hookswitch_delivery_lane
    where webhook = ? and lane_key = ? and lane = ? and position >= ? and position < ?
      and not (state <= 1 and epoch < ?)`,
  )

  const searchIn = prepareQuery<DeliveryRow>(db, SEARCH_SQL)
  const lastExamined = prepareQuery<{ readonly position: number }>(
    db,
    `select position from hookswitch_delivery where position < ? order by position desc limit 1 offset ${MAX_EXAMINED - 1}`,
  )

  /** Adds the number of deliveries ahead of each in its lane. Each lane is walked once, however many rows are in it. */
  function withAhead(found: readonly LocatedDelivery[]): StoredDelivery[] {
    const ahead = new Map<LocatedDelivery, number>()
    const lanes = new Map<string, { position: number; count: number }>()
    for (const row of [...found].sort((a, b) => a.position - b.position)) {
      if (row.laneKey === null) continue
      const { webhook, laneKey, position, delivery } = row
      const { epoch } = endpoints.byKey(webhook)!.webhook
      const lane = lanes.get(delivery.lane) ?? { position: 0, count: 0 }
      lanes.set(delivery.lane, lane)
      lane.count += countAhead.get(webhook, laneKey, delivery.lane, lane.position, position, epoch)!.count
      lane.position = position
      ahead.set(row, lane.count)
    }
    return found.map((row) => {
      const read = effectiveState(row.delivery, endpoints.byKey(row.webhook)!.webhook.epoch)
      const isCancelled = read.state === 'cancelled'
      return { ...read, position: row.position, ahead: isCancelled ? 0 : (ahead.get(row) ?? 0) }
    })
  }

  return {
    delivery(accountId: string, deliveryId: string): StoredDelivery | undefined {
      const row = rows.byId(deliveryId)
      return row?.delivery.accountId === accountId ? withAhead([row])[0] : undefined
    },
    deliveries(query: DeliveryQuery): readonly StoredDelivery[] {
      const { accountId, webhookId, states, ascending = false, limit } = query
      const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS } = query
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint || endpoint.account !== accounts.find(accountId)) return []
      const mask = maskOf(states)
      const cursor = query.cursor ?? (ascending ? -1 : MAX_POSITION)
      const { key, webhook } = endpoint
      const found = (ascending ? listAscending : listDescending).all(
        key,
        cursor,
        fromMs,
        toMs,
        webhook.epoch,
        mask,
        limit,
      )
      return withAhead(found.map((stored) => rows.fromRow(stored, endpoint)))
    },
    search(query: DeliverySearch): FoundDeliveries {
      const { accountId, webhookId, callId = null, states, cursor = MAX_POSITION, limit } = query
      const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS } = query
      const account = accountId === undefined ? null : accounts.find(accountId)
      const webhook = webhookId === undefined ? null : endpoints.byId(webhookId)?.key
      if (account === undefined || webhook === undefined) return { deliveries: [] }
      const last = lastExamined.get(cursor)?.position
      const range = [cursor, last ?? -1, fromMs, toMs] as const
      const found = searchIn.all(...range, account, webhook, maskOf(states), callId, callId, limit)
      const deliveries = withAhead(found.map((stored) => rows.fromRow(stored)))
      if (found.length === limit) return { deliveries, cursor: found.at(-1)!.position }
      return last === undefined ? { deliveries } : { deliveries, cursor: last }
    },
  }
}

const ALL_CODES = [0, 1, 2, 3, 4, 5, 6, 7]

/** The codes of these states as bits; `undefined`: of all states. */
function maskOf(states: readonly DeliveryState[] | undefined): number {
  const codes = states?.flatMap((state) => [stateCode(state, 0), stateCode(state, 1)]) ?? ALL_CODES
  return codes.reduce((bits, state) => bits | (1 << state), 0)
}
