/** The health of one webhook: what is wrong, what its server answered last, and what happens next. */
import type { Webhook, WebhookHealth } from 'hookswitch/client'
import { accountRequest } from './api.js'

/** A webhook with its health. */
export interface Subject {
  readonly webhook: Webhook
  readonly health: WebhookHealth
}

export const readHealth = (
  accountId: string,
  webhookId: string,
  signal?: AbortSignal,
): Promise<WebhookHealth> =>
  accountRequest('GET', '/webhooks/{webhook_id}/health', { accountId, webhookId }, signal)
