/**
 * Caches webhooks by revision: a claim reads only documents that have changed, since sending and parsing a document
 * costs more than claiming a delivery.
 */
import type { Webhook } from 'hookswitch/store'
import { webhookOf } from './rows.js'

interface CachedWebhook {
  readonly revision: number
  readonly doc: string
  readonly health: string | null
  readonly webhook: Webhook
}

/** Limit of all cached documents together, in characters: about twenty thousand webhooks. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** What a claim reads of a webhook. `doc` is null when the cached revision is current. */
interface ClaimedWebhook {
  readonly webhookId: string
  readonly revision: number
  readonly doc: string | null
  readonly health: string | null
}

export function createWebhookCache() {
  /** In the order of the last change. */
  const cache = new Map<string, CachedWebhook>()
  let characters = 0

  function remove(webhookId: string): void {
    characters -= cache.get(webhookId)?.doc.length ?? 0
    cache.delete(webhookId)
  }

  return {
    /** Revision of the cached document; 0: none. */
    revisionOf: (webhookId: string): number => cache.get(webhookId)?.revision ?? 0,
    webhookOf({ webhookId, revision, doc: read, health }: ClaimedWebhook): Webhook {
      const before = cache.get(webhookId)
      if (read === null && before!.health === health) return before!.webhook
      const doc = read ?? before!.doc
      const webhook = webhookOf({ doc, health })
      remove(webhookId)
      cache.set(webhookId, { revision, doc, health, webhook })
      characters += doc.length
      return webhook
    },
    /** Evicts the oldest entries above the limit. To be called after a claim is read, which may still need them. */
    evict(): void {
      for (const webhookId of cache.keys()) {
        if (characters <= MAX_CHARACTERS) return
        remove(webhookId)
      }
    },
  }
}
