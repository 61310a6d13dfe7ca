import type { WebhookView } from '../webhooks/view.js'
import { webhookDoc } from '../wire/webhook-doc.js'

/** Documents remembered as text: the same few webhooks are read over and over. */
const MAX_DOCUMENTS = 1_000

/** Webhooks as JSON text, written once for each revision: a seventh of all that reading one costs. */
export interface WrittenDocuments {
  of(webhook: WebhookView): string
}

export function writtenDocuments(): WrittenDocuments {
  /** Those written longest ago first. */
  const known = new Map<string, { readonly revision: number; readonly text: string }>()
  return {
    of(webhook) {
      const { id, revision } = webhook
      const before = known.get(id)
      if (before?.revision === revision) return before.text
      const text = JSON.stringify(webhookDoc(webhook))
      known.delete(id)
      known.set(id, { revision, text })
      if (known.size > MAX_DOCUMENTS) known.delete(known.keys().next().value!)
      return text
    },
  }
}
