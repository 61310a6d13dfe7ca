import type { AttemptRecord } from './attempt-record.js'
import type { DeliveryState } from './lifecycle.js'

/** How a delivery ended. */
export interface DeliveryEnd {
  readonly deliveryId: string
  readonly webhookId: string
  readonly accountId: string
  readonly eventId: string
  readonly hook: string
  readonly callId?: string
  readonly attempts: number
  readonly reason?: string
}

/** What the dispatcher tells the host, by name (`hs.events.on`). */
export type DeliveryEvents = {
  attempt: AttemptRecord
  webhook_disabled: { readonly webhookId: string; readonly accountId: string; readonly reason: string }
} & Record<Exclude<DeliveryState, 'waiting' | 'in_flight'>, DeliveryEnd>

/** Tells the host. Never throws. */
export type Tell = <Name extends keyof DeliveryEvents>(name: Name, payload: DeliveryEvents[Name]) => void
