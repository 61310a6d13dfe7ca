/** Caches the serialized JSON of webhooks by id and revision. */
import { LRUCache } from 'lru-cache'
import type { WebhookView } from '../webhooks/view.js'
import { healthJson, webhookJson } from '../wire/webhook-json.js'

/** Maximum number of cached documents. */
const MAX_DOCUMENTS = 1_000

/** Serializes a webhook once per revision, except its health, which changes without one. Serializing is a seventh of the cost of a GET of a webhook. */
export interface DocumentCache {
  /** Returns the webhook as JSON text. */
  serialize(webhook: WebhookView): string
}

/** Creates a cache of at most 1000 webhooks; the least recently read is evicted. */
export function createDocumentCache(): DocumentCache {
  const cache = new LRUCache<string, { readonly revision: number; readonly text: string }>({
    // `max` would allocate for all of them in advance.
    maxSize: MAX_DOCUMENTS,
    sizeCalculation: () => 1,
  })
  return {
    serialize(webhook) {
      const { id, revision } = webhook
      const cached = cache.get(id)
      const text = cached?.revision === revision ? cached.text : serializeSettings(webhook)
      if (text !== cached?.text) cache.set(id, { revision, text })
      return `${text},"health":${JSON.stringify(healthJson(webhook.health))}}`
    },
  }
}

/** The webhook as JSON text without its health, which comes last, and without the closing brace. */
function serializeSettings(webhook: WebhookView): string {
  return JSON.stringify({ ...webhookJson(webhook), health: undefined }).slice(0, -1)
}
