/** The health of one webhook: what is wrong, what its server answered last, and what happens next. */
import type { WebhookHealth } from 'hookswitch/client'
import { accountRequest } from './api.js'

export const readHealth = (
  accountId: string,
  webhookId: string,
  signal?: AbortSignal,
): Promise<WebhookHealth> =>
  accountRequest('GET', '/webhooks/{webhook_id}/health', { accountId, webhookId }, signal)
