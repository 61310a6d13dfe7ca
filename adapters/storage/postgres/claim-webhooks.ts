import type { Webhook } from 'hookswitch/store'
import { webhookOf } from './rows.js'

interface Known {
  readonly revision: number
  readonly doc: string
  readonly health: string | null
  readonly webhook: Webhook
}

/** Documents that are kept, in characters of all together: some twenty thousand, those read last. */
const MOST_TEXT = 16 * 1024 * 1024

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
  let text = 0

  function forget(webhookId: string): void {
    text -= known.get(webhookId)?.doc.length ?? 0
    known.delete(webhookId)
  }

  return {
    /** Of the document that is here; 0: none. */
    revisionOf: (webhookId: string): number => known.get(webhookId)?.revision ?? 0,
    webhookOf({ webhookId, revision, doc: read, health }: ClaimedWebhook): Webhook {
      const before = known.get(webhookId)
      if (read === null && before!.health === health) return before!.webhook
      const doc = read ?? before!.doc
      const webhook = webhookOf({ doc, health })
      forget(webhookId)
      known.set(webhookId, { revision, doc, health, webhook })
      text += doc.length
      return webhook
    },
    /** Forgets those read longest ago; after a claim was read, which may still need them. */
    trim(): void {
      for (const webhookId of known.keys()) {
        if (text <= MOST_TEXT) return
        forget(webhookId)
      }
    },
  }
}
