import type { AttemptRecord } from './attempt-record.js'
import type { Delivery, DeliveryState } from './lifecycle.js'

/** The end of a delivery. */
export interface DeliveryEnd {
  /** Id of the delivery: the header `webhook-id` of its requests (Standard Webhooks 1.0.0). */
  readonly deliveryId: string
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of the webhook's account. */
  readonly accountId: string
  /** Id of the event. */
  readonly eventId: string
  /** Kind of the event, such as `channel_create`. */
  readonly hook: string
  /** Id of the call leg of the event. */
  readonly callId?: string
  /** Number of attempts; 0: it was never sent. */
  readonly attempts: number
  /**
   * Why it ended: `status 500`, a cause such as `refused`, `gone`, `older than max_age_seconds`, `queue_full`, … Absent for
   * `delivered`.
   */
  readonly reason?: string
  /** What was observed at its last attempt, in one line (`AttemptRecord.detail`). */
  readonly detail?: string
}

/** A webhook was paused. */
export interface WebhookPaused {
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of its account. */
  readonly accountId: string
  /** Failures since the last success. */
  readonly failuresInRow: number
  /** When the first probe is sent: store time, Unix milliseconds. */
  readonly pausedUntilMs: number
  /** Why the last attempt failed: `status 500`, or a cause such as `refused`. */
  readonly reason?: string
  /** The same in one line (`AttemptRecord.detail`). */
  readonly detail?: string
}

/** The service disabled a webhook. */
export interface WebhookDisabled {
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of its account. */
  readonly accountId: string
  /** `gone`, or that too many attempts failed. */
  readonly reason: string
  /** What was observed at the last attempt, in one line (`AttemptRecord.detail`). */
  readonly detail?: string
}

/** A webhook has been failing for a day. */
export interface WebhookFailing {
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of its account. */
  readonly accountId: string
  /** Time of the first failure since the last success: store time, ms. */
  readonly failingSinceMs: number
  /** Failures since the last success. */
  readonly failuresInRow: number
  /** Why the last attempt failed. */
  readonly reason?: string
  /** What was observed at the last attempt, in one line (`AttemptRecord.detail`). */
  readonly detail?: string
}

/** Too many deliveries wait for a webhook: its oldest have expired unsent. */
export interface WebhookBacklogFull {
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of its account. */
  readonly accountId: string
  /** Deliveries that have expired since the last event of this kind about the webhook. */
  readonly expired: number
  /** Whose share is used up: that of the webhook, of its account, or all of the queue. */
  readonly share: 'webhook' | 'account' | 'all'
  /** Deliveries that may wait in this share. */
  readonly limit: number
}

/** The events that the dispatcher emits to the host (`hs.events.on`), by name. */
export type DeliveryEvents = {
  attempt: AttemptRecord
  webhook_paused: WebhookPaused
  webhook_resumed: { readonly webhookId: string; readonly accountId: string }
  webhook_failing: WebhookFailing
  webhook_backlog_full: WebhookBacklogFull
  webhook_disabled: WebhookDisabled
} & Record<Exclude<DeliveryState, 'waiting' | 'in_flight'>, DeliveryEnd>

/** Emits an event to the host. Never throws. `delivery`: the one whose settlement caused it. */
export type Emit = <Name extends keyof DeliveryEvents>(
  name: Name,
  payload: DeliveryEvents[Name],
  delivery?: Delivery,
) => void
