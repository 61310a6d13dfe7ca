import { laneKey } from '../../../src/delivery/lane-key.js'
import type { Delivery } from '../../../src/delivery/lifecycle.js'
import type { PendingQueue } from '../../../src/delivery/queue/pending-queue.js'
import type { QueueEndpoint } from '../../../src/delivery/queue/queue-endpoint.js'
import { QueuedDelivery } from '../../../src/delivery/queue/queued-delivery.js'
import type { QueueLimits } from '../../../src/delivery/queue/shares.js'
import type { DeliveryKey, WaitingDeliveries } from '../../../src/delivery/queue-store.js'
import { aDelivery } from '../fixtures.js'

/** A row of `WaitingDeliveries`. */
export interface Row {
  readonly webhookId: string
  readonly position: number
  /** Default: a lane to itself. */
  readonly lane?: string
  readonly sequence?: number
  readonly dueMs?: number
  readonly epoch?: number
  readonly attempts?: number
  readonly tries?: number
  readonly interruptions?: number
  readonly failedMs?: number
  /** Default: the hook of `aDelivery`. */
  readonly hook?: string
  readonly isReplay?: boolean
}

/** Limits that no test reaches unless it wants to. */
export const LIMITS: QueueLimits = { maxPending: 1_000_000, maxPendingPerWebhook: 1_000_000 }

const SOLE = '-/'

/** Rows as columns. */
export function columnsOf(rows: readonly Row[]): WaitingDeliveries {
  const webhookIds = [...new Set(rows.map(({ webhookId }) => webhookId))]
  return {
    count: rows.length,
    webhookIds,
    webhook: Uint32Array.from(rows, ({ webhookId }) => webhookIds.indexOf(webhookId)),
    position: Float64Array.from(rows, ({ position }) => position),
    lane: Float64Array.from(rows, ({ lane }) => laneKey(lane ?? SOLE)),
    sequence: Uint32Array.from(rows, ({ sequence }) => sequence ?? 0),
    dueMs: Float64Array.from(rows, ({ dueMs }) => dueMs ?? 0),
    epoch: Uint32Array.from(rows, ({ epoch }) => epoch ?? 1),
    attempts: Uint32Array.from(rows, ({ attempts }) => attempts ?? 0),
    tries: Uint32Array.from(rows, ({ tries }) => tries ?? 0),
    interruptions: Uint8Array.from(rows, ({ interruptions }) => interruptions ?? 0),
    failedMs: Float64Array.from(rows, ({ failedMs }) => failedMs ?? 0),
  }
}

/** A delivery that this node accepted. */
export function queued(endpoint: QueueEndpoint, row: Omit<Row, 'webhookId'>): QueuedDelivery {
  const { position, lane = SOLE, sequence = 0, epoch = 1, attempts = 0, failedMs, hook, isReplay } = row
  const source = aDelivery({
    id: `d${position}`,
    webhookId: endpoint.id,
    lane,
    epoch,
    attempts,
    failedMs,
    ...(hook !== undefined && { hook }),
    ...(isReplay && { replayOf: 'd0' }),
  })
  return new QueuedDelivery(source, endpoint, position, sequence, 1, `body ${position}`, undefined)
}

/** What the store returns for the content of a delivery. */
export function contentOf(
  { webhookId, position }: DeliveryKey,
  changes: Partial<Delivery> = {},
): { delivery: Delivery; body: string } {
  const delivery = aDelivery({ id: `d${position}`, webhookId, state: 'waiting', acceptedMs: 1, ...changes })
  return { delivery, body: `body ${position}` }
}

/** Reads all missing contents, as a store that has them all. */
export function fillMissing(queue: PendingQueue, now: number, limit = 100): DeliveryKey[] {
  const keys = queue.missing(limit, now)
  queue.fill(
    keys,
    keys.map((key) => contentOf(key)),
    now,
  )
  return keys
}

export const positionsOf = (deliveries: readonly { readonly position: number }[]): number[] =>
  deliveries.map(({ position }) => position)
