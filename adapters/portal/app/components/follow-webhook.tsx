/** Calls back when the live stream has news of a webhook. Without a stream the timers of the screen remain. */
import { useStreamItems } from '../state/stream-items.js'
import type { LiveItem } from '../text/live-items.js'

/** News that arrive within this time come together. */
const BATCH_MS = 500

interface FollowWebhookProps {
  readonly accountId: string
  readonly webhookId: string
  readonly onNews: (items: readonly LiveItem[]) => void
}

export function FollowWebhook({ accountId, webhookId, onNews }: FollowWebhookProps) {
  useStreamItems({ accountId, filters: { webhookId }, batchMs: BATCH_MS }, onNews)
  return null
}
