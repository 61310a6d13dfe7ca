import type { Health } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Settlement } from './delivery-store.js'

/**
 * Health as this node decided it, which a claim may not have read yet: attempts of one endpoint end in any order
 * and are written late while the store is out, yet none may undo what a newer one decided.
 */
export interface RecentHealth {
  /** The newest known health of a webhook as it was claimed. */
  of(webhook: Webhook): Health | undefined
  /** Remembers what a settlement decided. */
  decided(settlement: Settlement): void
  /** The settlement with the newest health in it: what was decided while it waited for the store. */
  newest(settlement: Settlement): Settlement
  /** Something of this webhook is in flight, or nothing is any more. */
  busy(webhookId: string): void
  idle(webhookId: string): void
  /** A claim begins, and will read all that was written of idle endpoints: those are forgotten. */
  claiming(): void
}

export function recentHealth(): RecentHealth {
  const known = new Map<string, { readonly epoch: number; readonly health: Health | undefined }>()
  const resting = new Set<string>()
  return {
    of(webhook) {
      const found = known.get(webhook.id)
      return found?.epoch === webhook.epoch ? found.health : webhook.health
    },
    decided({ webhookId, endpoint }) {
      if (endpoint?.health === undefined) return
      known.set(webhookId, { epoch: endpoint.epoch, health: endpoint.health ?? undefined })
    },
    newest(settlement) {
      const { endpoint } = settlement
      const found = known.get(settlement.webhookId)
      if (endpoint?.health === undefined || found?.epoch !== endpoint.epoch) return settlement
      return { ...settlement, endpoint: { ...endpoint, health: found.health ?? null } }
    },
    busy: (webhookId) => void resting.delete(webhookId),
    idle(webhookId) {
      if (known.has(webhookId)) resting.add(webhookId)
    },
    claiming() {
      for (const webhookId of resting) known.delete(webhookId)
      resting.clear()
    },
  }
}
