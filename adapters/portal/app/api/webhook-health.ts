/** The health of one webhook: what is wrong, what its server answered last, and what happens next. */
import type { WebhookHealth } from 'hookswitch/client'
import { accountRequest, optional } from './api.js'

/** `undefined` where the service does not have it. */
export const readHealth = (
  accountId: string,
  webhookId: string,
  signal?: AbortSignal,
): Promise<WebhookHealth | undefined> =>
  optional(
    accountRequest<WebhookHealth>('GET', '/webhooks/{webhook_id}/health', { accountId, webhookId }, signal),
  )
