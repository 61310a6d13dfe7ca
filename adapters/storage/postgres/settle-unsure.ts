import type { ReadyEndpoint, Settled, Webhook } from 'hookswitch/store'
import { type EndpointRow, endpointOf, STATES, type WebhookRow, webhookOf } from './rows.js'
import type { Transaction } from './session.js'
import type { Entry } from './settle-entry.js'
import { readyStatements } from './sql/ready.js'
import { type StandingRow, settleStatements } from './sql/settle.js'

/** Settlements of which nobody knows whether they were written are remembered, the last ones. */
const MOST = 10_000

/**
 * A settlement whose commit was cut off while the server answered is tried again by its node, and fenced by its own
 * work. Where the delivery stands as the settlement would have left it, it is settled: else its end would never be told.
 */
export function unsureSettlements(schema: string) {
  const sql = settleStatements(schema)
  const ready = readyStatements(schema)
  const unsure = new Map<string, number>()

  const isUnsure = ({ settlement: { deliveryId, expect } }: Entry) => unsure.get(deliveryId) === expect.fence

  return {
    remember(entries: readonly Entry[]): void {
      for (const { settlement } of entries) unsure.set(settlement.deliveryId, settlement.expect.fence)
      for (const id of unsure.keys()) {
        if (unsure.size <= MOST) return
        unsure.delete(id)
      }
    },
    forget(entries: readonly Entry[]): void {
      if (unsure.size === 0) return
      for (const { settlement } of entries) unsure.delete(settlement.deliveryId)
    },
    /** Adds those of these entries to `settled` that were written before. */
    async recognise(tx: Transaction, entries: readonly Entry[], settled: Map<Entry, Settled>): Promise<void> {
      const doubtful =
        unsure.size === 0 ? [] : entries.filter((entry) => !settled.has(entry) && isUnsure(entry))
      if (doubtful.length === 0) return
      const rows = await tx.query<StandingRow>(sql.standing, [
        doubtful.map(({ settlement }) => settlement.deliveryId),
      ])
      const standing = new Map(rows.map((row) => [row.id, row]))
      const written = doubtful.filter((entry) => isWritten(entry, standing.get(entry.settlement.deliveryId)))
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

/** Whether a delivery stands as this settlement would have left it. */
function isWritten({ settlement }: Entry, row: StandingRow | undefined): boolean {
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
