import type { Webhook } from 'hookswitch/store'
import { webhookOf } from './rows.js'

interface Known {
  readonly revision: number
  readonly doc: string
  readonly health: string | null
  readonly webhook: Webhook
}

/** Webhooks whose documents are kept read: those claimed last. */
const MOST = 2_000

/** What a claim reads of a webhook. */
interface ClaimedWebhook {
  readonly webhookId: string
  readonly revision: number
  readonly doc: string | null
  readonly health: string | null
}

/**
 * Webhooks as they were read last: a claim asks only for documents of another revision, since sending and reading a
 * document costs more than the claim of a delivery.
 */
export function webhookMemory() {
  const known = new Map<string, Known>()

  return {
    /** Of the document that is here; 0: none. */
    revisionOf: (webhookId: string): number => known.get(webhookId)?.revision ?? 0,
    webhookOf({ webhookId, revision, doc: read, health }: ClaimedWebhook): Webhook {
      const before = known.get(webhookId)
      if (read === null && before!.health === health) return before!.webhook
      const doc = read ?? before!.doc
      const webhook = webhookOf({ doc, health })
      known.delete(webhookId)
      known.set(webhookId, { revision, doc, health, webhook })
      return webhook
    },
    /** Forgets those claimed longest ago; after a claim was read, which may still need them. */
    trim(): void {
      for (const webhookId of known.keys()) {
        if (known.size <= MOST) return
        known.delete(webhookId)
      }
    },
  }
}
