/**
 * Resolves settlements whose commit had an unknown outcome.
 *
 * When the connection is lost while the server answers a COMMIT, the node retries the settlement, and the retry is
 * fenced if the first COMMIT was executed. The stored delivery is then exactly as the settlement writes it, and counts
 * as settled: otherwise its end would never be reported.
 */
import type { ReadyEndpoint, SettlementResult, Webhook } from 'hookswitch/store'
import { type EndpointRow, endpointOf, STATES, type WebhookRow, webhookOf } from './rows.js'
import type { Transaction } from './session.js'
import type { Entry } from './settle-locate.js'
import { readyStatements } from './sql/ready.js'
import { type StoredDeliveryRow, settleStatements } from './sql/settle.js'

/** Limit of remembered settlements; the oldest are forgotten. */
const MAX_ENTRIES = 10_000

export function createUnknownCommits(schema: string) {
  const sql = settleStatements(schema)
  const ready = readyStatements(schema)
  /** Fences by delivery id. */
  const unknown = new Map<string, number>()

  const isUnknown = ({ settlement: { deliveryId, expect } }: Entry) =>
    unknown.get(deliveryId) === expect.fence

  return {
    add(entries: readonly Entry[]): void {
      for (const { settlement } of entries) unknown.set(settlement.deliveryId, settlement.expect.fence)
      for (const id of unknown.keys()) {
        if (unknown.size <= MAX_ENTRIES) return
        unknown.delete(id)
      }
    },
    remove(entries: readonly Entry[]): void {
      if (unknown.size === 0) return
      for (const { settlement } of entries) unknown.delete(settlement.deliveryId)
    },
    /** Adds the entries that an earlier commit has written to `settled`. */
    async resolve(
      tx: Transaction,
      entries: readonly Entry[],
      settled: Map<Entry, SettlementResult>,
    ): Promise<void> {
      const candidates =
        unknown.size === 0 ? [] : entries.filter((entry) => !settled.has(entry) && isUnknown(entry))
      if (candidates.length === 0) return
      const rows = await tx.query<StoredDeliveryRow>(sql.stored, [
        candidates.map(({ settlement }) => settlement.deliveryId),
      ])
      const stored = new Map(rows.map((row) => [row.id, row]))
      const written = candidates.filter((entry) => isWritten(entry, stored.get(entry.settlement.deliveryId)))
      const webhookIds = [...new Set(written.map(({ settlement }) => settlement.webhookId))]
      const endpoints = new Map<string, ReadyEndpoint>()
      for (const row of await tx.query<EndpointRow>(ready.readyOf, [webhookIds])) {
        endpoints.set(row.webhookId, endpointOf(row, row.headMs))
      }
      const disabled = await disabledBy(tx, written)
      for (const entry of written) {
        const endpoint = endpoints.get(entry.settlement.webhookId)!
        const webhook = disabled.get(entry)
        settled.set(
          entry,
          webhook ? { kind: 'settled', endpoint, disabled: webhook } : { kind: 'settled', endpoint },
        )
      }
    },
  }

  async function disabledBy(
    tx: Transaction,
    written: readonly Entry[],
  ): Promise<ReadonlyMap<Entry, Webhook>> {
    const disabled = new Map<Entry, Webhook>()
    const disabling = written.filter(({ settlement }) => settlement.endpoint?.disable)
    if (disabling.length === 0) return disabled
    const ids = disabling.map(({ settlement }) => settlement.webhookId)
    const webhooks = (await tx.query<WebhookRow>(sql.webhooks, [ids])).map(webhookOf)
    for (const webhook of webhooks) {
      const by = disabling.find(({ settlement: { webhookId, endpoint } }) => {
        const { disable } = endpoint!
        return (
          webhookId === webhook.id &&
          disable!.reason === webhook.disableReason &&
          disable!.atMs === webhook.disabledMs
        )
      })
      if (by) disabled.set(by, webhook)
    }
    return disabled
  }
}

/** Whether the stored delivery is exactly as this settlement writes it. */
function isWritten({ settlement }: Entry, row: StoredDeliveryRow | undefined): boolean {
  const { next, expect, webhookId } = settlement
  return (
    row?.webhookId === webhookId &&
    row.fence === expect.fence &&
    STATES[row.state] === next.state &&
    row.attempts === next.attempts &&
    row.tries === next.tries &&
    row.interruptions === next.interruptions &&
    (row.reason ?? undefined) === next.reason
  )
}
