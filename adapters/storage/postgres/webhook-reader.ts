import type { QueueStore, Webhook } from 'hookswitch/store'
import { textArray } from './binary-arrays.js'
import { createGroupCommit, READ_OVERLAP_MS } from './group-commit.js'
import { type WebhookRow, webhookOf } from './rows.js'
import type { Session } from './session.js'
import { webhookStatements } from './sql/webhooks.js'

/** Webhooks per statement. */
const MAX_WEBHOOKS = 200

/**
 * Reads webhooks by id, all that were requested during the previous read with one statement: after a start the node knows
 * only those for which deliveries wait, and reads each of the others for its first event.
 */
export function webhookReader(session: Pick<Session, 'query'>, schema: string): QueueStore['webhookOf'] {
  const { readAny } = webhookStatements(schema)
  return createGroupCommit<string, Webhook | undefined>(
    async (ids) => {
      const rows = await session.query<WebhookRow>(readAny, [textArray([...new Set(ids)])])
      const webhooks = new Map(rows.map(webhookOf).map((webhook) => [webhook.id, webhook]))
      return ids.map((id) => ({ value: webhooks.get(id) }))
    },
    { maxCalls: MAX_WEBHOOKS, overlapAfterMs: READ_OVERLAP_MS },
  ).run
}
