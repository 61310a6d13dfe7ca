/** Lanes (deliveries of one webhook that are sent in order), and the cached due times of their heads. */
import { promote } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import type { CachedEndpoint } from './endpoints.js'
import { hashKey } from './hash-key.js'
import { prepareChange, prepareQuery } from './query.js'
import { COLUMNS, type DeliveryRow, type DeliveryRows, type LocatedDelivery } from './rows.js'

/** A delivery that is in a lane and has not ended has the lane's `lane_key`; there is no other record of a lane. */
export interface Lanes {
  isEmpty(webhook: number, laneKey: number, lane: string): boolean
  /** Makes the next delivery of a lane its head, due `now`, after the previous head has ended or was deleted. */
  promote(ended: LocatedDelivery, endpoint: CachedEndpoint, now: number): void
}

export function createLanes(db: SqliteHandle, rows: DeliveryRows): Lanes {
  const from = `from hookswitch_delivery d indexed by hookswitch_delivery_lane`
  const where = 'where d.webhook = ? and d.lane_key = ? and d.lane = ?'
  const anyInLane = prepareQuery<object>(db, `select 1 ${from} ${where} limit 1`)
  const next = prepareQuery<DeliveryRow>(
    db,
    `select ${COLUMNS} ${from} join hookswitch_event e on e.key = d.event ${where} order by d.position limit 1`,
  )
  const setDue = prepareChange(db, 'update hookswitch_delivery set due_ms = ? where position = ?')

  return {
    isEmpty: (webhook, laneKey, lane) => anyInLane.get(webhook, laneKey, lane) === undefined,
    promote({ laneKey, delivery }, endpoint, now) {
      if (laneKey === null) return
      const stored = next.get(endpoint.key, laneKey, delivery.lane)
      if (!stored) return
      const row = rows.fromRow(stored, endpoint)
      const { dueMs = now, epoch, attempts } = promote(row.delivery, now)
      setDue(dueMs, row.position)
      noteDueHead(endpoint, epoch, attempts, dueMs)
    },
  }
}

/** Updates the cached due time: a head of this epoch now waits until `dueMs`. */
export function noteDueHead(endpoint: CachedEndpoint, epoch: number, attempts: number, dueMs: number): void {
  if (epoch !== endpoint.webhook.epoch) return
  // An unknown due time stays unknown: Math.min with NaN is NaN.
  if (attempts === 0) endpoint.untriedDueMs = Math.min(endpoint.untriedDueMs, dueMs)
  else endpoint.retryDueMs = Math.min(endpoint.retryDueMs, dueMs)
}

/** Discards the cached due time: a head of this epoch no longer waits. */
export function invalidateDue(endpoint: CachedEndpoint, epoch: number, attempts: number): void {
  if (epoch !== endpoint.webhook.epoch) return
  if (attempts === 0) endpoint.untriedDueMs = Number.NaN
  else endpoint.retryDueMs = Number.NaN
}

/** The key of a lane; null: the delivery has a lane to itself. */
export function laneKeyOf(lane: string, deliveryId: string): number | null {
  return lane === deliveryId ? null : hashKey(lane)
}
