import { promoted } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import type { Endpoint } from './endpoints.js'
import { change, query } from './query.js'
import { COLUMNS, type Row, type Rows, type StoredRow } from './rows.js'
import { textKey } from './text-key.js'

/**
 * Lanes: deliveries of one webhook that are sent one after the other. The table of deliveries is their only truth: who
 * stands in a lane and has not ended has its `lane_key`.
 */
export interface Lanes {
  isEmpty(webhook: number, laneKey: number, lane: string): boolean
  /** Makes the next of a lane due, when the one before it, its head, has ended or gone. */
  promote(ended: Row, endpoint: Endpoint, now: number): void
}

export function lanes(db: SqliteHandle, rows: Rows): Lanes {
  const first = `from hookswitch_delivery d indexed by hookswitch_delivery_lane`
  const where = 'where d.webhook = ? and d.lane_key = ? and d.lane = ?'
  const any = query<object>(db, `select 1 ${first} ${where} limit 1`)
  const next = query<StoredRow>(
    db,
    `select ${COLUMNS} ${first} join hookswitch_event e on e.key = d.event ${where} order by d.position limit 1`,
  )
  const becomeDue = change(db, 'update hookswitch_delivery set due_ms = ? where position = ?')

  return {
    isEmpty: (webhook, laneKey, lane) => any.get(webhook, laneKey, lane) === undefined,
    promote({ laneKey, delivery }, endpoint, now) {
      if (laneKey === null) return
      const stored = next.get(endpoint.key, laneKey, delivery.lane)
      if (!stored) return
      const row = rows.of(stored, endpoint)
      const { dueMs = now, epoch, attempts } = promoted(row.delivery, now)
      becomeDue(dueMs, row.position)
      noteDue(endpoint, epoch, attempts, dueMs)
    },
  }
}

/** A head of this epoch waits since now, until then. */
export function noteDue(endpoint: Endpoint, epoch: number, attempts: number, dueMs: number): void {
  if (epoch !== endpoint.webhook.epoch) return
  // What is not known stays so: the least of NaN is NaN.
  if (attempts === 0) endpoint.untriedDueMs = Math.min(endpoint.untriedDueMs, dueMs)
  else endpoint.retryDueMs = Math.min(endpoint.retryDueMs, dueMs)
}

/** A head of this epoch waits no more. */
export function noteGone(endpoint: Endpoint, epoch: number, attempts: number): void {
  if (epoch !== endpoint.webhook.epoch) return
  if (attempts === 0) endpoint.untriedDueMs = Number.NaN
  else endpoint.retryDueMs = Number.NaN
}

/** The key of a lane; null: the delivery is alone in it, and needs none. */
export function laneKeyOf(lane: string, deliveryId: string): number | null {
  return lane === deliveryId ? null : textKey(lane)
}
