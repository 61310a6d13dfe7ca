/** Caches the serialized JSON of webhooks by id and revision. */
import { LRUCache } from 'lru-cache'
import type { WebhookView } from '../webhooks/view.js'
import { webhookJson } from '../wire/webhook-json.js'

/** Maximum number of cached documents. */
const MAX_DOCUMENTS = 1_000

/** Serializes a webhook once per revision. Serializing is a seventh of the cost of a GET of a webhook. */
export interface DocumentCache {
  /** Returns the webhook as JSON text. */
  serialize(webhook: WebhookView): string
}

/** Creates a cache of at most 1000 webhooks; the least recently read is evicted. */
export function createDocumentCache(): DocumentCache {
  const cache = new LRUCache<string, { readonly revision: number; readonly text: string }>({
    max: MAX_DOCUMENTS,
  })
  return {
    serialize(webhook) {
      const { id, revision } = webhook
      const cached = cache.get(id)
      if (cached?.revision === revision) return cached.text
      const text = JSON.stringify(webhookJson(webhook))
      cache.set(id, { revision, text })
      return text
    },
  }
}
