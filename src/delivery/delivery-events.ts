import type { ErrorCode } from '../errors.js'
import type { AttemptRecord } from './attempt-record.js'
import type { Delivery } from './lifecycle.js'

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

/** Events of `hs.events` about attempts, deliveries and webhooks, by name. */
export interface DeliveryEvents {
  /** An attempt ended, or a delivery ended without a request: its record. */
  readonly attempt: AttemptRecord
  /** A webhook was paused because it fails: deliveries wait, and single requests find out when its receiver is back. */
  readonly webhook_paused: {
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
  /** The pause of a webhook has ended: sending continues. */
  readonly webhook_resumed: { readonly webhookId: string; readonly accountId: string }
  /** A webhook has been failing for a day; once until it succeeds. */
  readonly webhook_failing: {
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
  /** Too many deliveries waited for a webhook, its account or in all, and its oldest have expired: at most one a minute. */
  readonly webhook_backlog_full: {
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
  /** The service disabled a webhook, because its receiver responded 410 or by the option `autoDisable`. */
  readonly webhook_disabled: {
    /** Id of the webhook. */
    readonly webhookId: string
    /** Id of its account. */
    readonly accountId: string
    /** `gone`, or that too many attempts failed. */
    readonly reason: string
    /** What was observed at the last attempt, in one line (`AttemptRecord.detail`). */
    readonly detail?: string
  }
  /** A delivery ended: its receiver responded 2xx. */
  readonly delivered: DeliveryEnd
  /** A delivery ended: its last try failed, and its retry policy allows no further one. */
  readonly exhausted: DeliveryEnd
  /** A delivery ended unsent: its event was older than the webhook's `maxAgeSeconds`, or too many waited (`queue_full`). */
  readonly expired: DeliveryEnd
  /** A delivery ended unsent: its webhook was disabled or deleted. */
  readonly cancelled: DeliveryEnd
  /** A delivery ended: three attempts in a row were interrupted by crashes, so it may be the cause of the crashes. */
  readonly quarantined: DeliveryEnd
  /** An event that was published in the host's transaction could not be accepted after the commit. */
  readonly event_refused: {
    /** Id of the event, as `publish` returned it. */
    readonly eventId: string
    /** Id of the account of the event. */
    readonly accountId: string
    /** Id of the call leg of the event. */
    readonly callId?: string
    /** `NotFound`: the account is gone. `Conflict`: its idempotency key was used for another event. */
    readonly code: ErrorCode
    /** Message of the error. */
    readonly reason: string
  }
}

/** Emits an event to the host. Never throws. `delivery`: the one whose settlement caused it. */
export type Emit = <Name extends keyof DeliveryEvents>(
  name: Name,
  payload: DeliveryEvents[Name],
  delivery?: Delivery & { readonly body?: string },
) => void
