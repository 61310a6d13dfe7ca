import type { Delivery, DeliveryState } from './lifecycle.js'

/** What is asked of a store for reading, and what it reads back. */

export interface AttemptQuery {
  readonly accountId: string
  readonly webhookId?: string
  readonly deliveryId?: string
  /** Any of these calls. */
  readonly callIds?: readonly string[]
  /** Inclusive, Unix ms. */
  readonly fromMs?: number
  readonly toMs?: number
  /** Only positions before (descending) or after (ascending) this one. */
  readonly cursor?: number
  readonly ascending?: boolean
  readonly limit: number
}

export interface DeliveryQuery {
  readonly accountId: string
  readonly webhookId: string
  readonly states?: readonly DeliveryState[]
  /** Accepted in this range, Unix ms, inclusive. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly cursor?: number
  readonly ascending?: boolean
  readonly limit: number
}

/** A delivery as read back. Waiting ones of an older epoch read as `cancelled`. */
export interface StoredDelivery extends Delivery {
  readonly position: number
  /** Deliveries of the same lane that must end first. */
  readonly ahead: number
}
