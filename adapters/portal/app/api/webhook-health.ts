/** The health of one webhook: what is wrong, what its server answered last, and what happens next. */
import type { Attempt, EndpointHealth } from 'hookswitch/client'
import { accountRequest, optional } from './api.js'

/** `GET webhooks/{webhook_id}/health`. Times are ISO 8601. */
export interface WebhookHealth extends EndpointHealth {
  /** While the webhook is paused because it fails. */
  readonly pause?: {
    readonly kind: 'unavailable' | 'rejected'
    readonly since: string
    /** Probes that have failed. */
    readonly probes: number
  }
  /** The newest attempt that is kept, with at most 1 KiB of each body. */
  readonly last_attempt?: Attempt
  /** Latest attempts in a row with the same status or cause. */
  readonly same_answers?: number
  readonly same_answers_capped?: boolean
  /** Deliveries that ended without success since `failing_since`, otherwise in the last 24 hours; without recovered ones. */
  readonly not_delivered?: number
  readonly not_delivered_capped?: boolean
  /** The earliest time of acceptance with which a replay selects them. */
  readonly not_delivered_since?: string
  /** Of what waits. */
  readonly oldest_accepted_at?: string
  readonly oldest_expires_at?: string
  /** Maximum age in force. */
  readonly max_age_seconds?: number
  readonly disabled_at?: string
  /** When the service would disable the webhook if nothing arrives before. */
  readonly auto_disable_at?: string
}

/** `undefined` where the service does not have it. */
export const readHealth = (
  accountId: string,
  webhookId: string,
  signal?: AbortSignal,
): Promise<WebhookHealth | undefined> =>
  optional(
    accountRequest<WebhookHealth>('GET', '/webhooks/{webhook_id}/health', { accountId, webhookId }, signal),
  )
