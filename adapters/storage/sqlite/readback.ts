import { asRead, type DeliveryQuery, type StoredDelivery } from 'hookswitch/store'
import { query } from './query.js'
import { COLUMNS, type Row, type StoredRow } from './rows.js'
import { storedState } from './states.js'
import type { Tools } from './tools.js'

/** Above every position. */
const END = Number.MAX_SAFE_INTEGER
/** Before and after every time. */
const EVER = 9e15

export const LIST_SQL = (ascending: boolean) => `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_webhook join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.position ${ascending ? '>' : '<'} ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and (1 << case when d.state <= 1 and d.epoch < ? then ${storedState('cancelled', 0)} else d.state end) & ? <> 0
  order by d.position ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** Deliveries as everybody sees them. */
export function deliveryReader({ db, accounts, endpoints, rows }: Tools) {
  const upwards = query<StoredRow>(db, LIST_SQL(true))
  const downwards = query<StoredRow>(db, LIST_SQL(false))
  const countAhead = query<{ readonly count: number }>(
    db,
    `select count(*) as count from hookswitch_delivery indexed by hookswitch_delivery_lane
    where webhook = ? and lane_key = ? and lane = ? and position >= ? and position < ?
      and not (state <= 1 and epoch < ?)`,
  )

  /** With what is ahead of each: every lane is walked once, however many rows it has. */
  function asStored(found: readonly Row[]): StoredDelivery[] {
    const ahead = new Map<Row, number>()
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
      const read = asRead(row.delivery, endpoints.byKey(row.webhook)!.webhook.epoch)
      const isCancelled = read.state === 'cancelled'
      return { ...read, position: row.position, ahead: isCancelled ? 0 : (ahead.get(row) ?? 0) }
    })
  }

  return {
    delivery(accountId: string, deliveryId: string): StoredDelivery | undefined {
      const row = rows.byId(deliveryId)
      return row?.delivery.accountId === accountId ? asStored([row])[0] : undefined
    },
    deliveries(asked: DeliveryQuery): readonly StoredDelivery[] {
      const { accountId, webhookId, states, fromMs = -EVER, toMs = EVER, ascending = false, limit } = asked
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint || endpoint.account !== accounts.find(accountId)) return []
      const wanted = states?.flatMap((state) => [storedState(state, 0), storedState(state, 1)]) ?? ALL
      const mask = wanted.reduce((bits, state) => bits | (1 << state), 0)
      const cursor = asked.cursor ?? (ascending ? -1 : END)
      const { key, webhook } = endpoint
      const found = (ascending ? upwards : downwards).all(
        key,
        cursor,
        fromMs,
        toMs,
        webhook.epoch,
        mask,
        limit,
      )
      return asStored(found.map((stored) => rows.of(stored, endpoint)))
    },
  }
}

const ALL = [0, 1, 2, 3, 4, 5, 6, 7]
