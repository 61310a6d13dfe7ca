import type { Health } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Settlement } from '../delivery-store.js'

/**
 * The health of endpoints as this node decided it last; a claim may have read an older one from the store.
 * Attempts of one endpoint end in any order, and settlements wait while the store is unavailable: an older
 * decision must not overwrite a newer one.
 */
export interface HealthCache {
  /** The newest known health of a claimed webhook. */
  get(webhook: Webhook): Health | undefined
  /** Caches the health that a settlement decides. */
  set(settlement: Settlement): void
  /**
   * The settlement with the newest known health, which may have changed while the settlement waited for the
   * store.
   */
  withNewest(settlement: Settlement): Settlement
  /** A request to this webhook is in flight. */
  markBusy(webhookId: string): void
  /** No request to this webhook is in flight. */
  markIdle(webhookId: string): void
  /**
   * Evicts idle endpoints. Call it before a claim: the claim reads everything that was written about them.
   */
  evictIdle(): void
}

export function createHealthCache(): HealthCache {
  const cached = new Map<string, { readonly epoch: number; readonly health: Health | undefined }>()
  const idle = new Set<string>()
  return {
    get(webhook) {
      const found = cached.get(webhook.id)
      return found?.epoch === webhook.epoch ? found.health : webhook.health
    },
    set({ webhookId, endpoint }) {
      if (endpoint?.health === undefined) return
      cached.set(webhookId, { epoch: endpoint.epoch, health: endpoint.health ?? undefined })
    },
    withNewest(settlement) {
      const { endpoint } = settlement
      const found = cached.get(settlement.webhookId)
      if (endpoint?.health === undefined || found?.epoch !== endpoint.epoch) return settlement
      return { ...settlement, endpoint: { ...endpoint, health: found.health ?? null } }
    },
    markBusy: (webhookId) => void idle.delete(webhookId),
    markIdle(webhookId) {
      if (cached.has(webhookId)) idle.add(webhookId)
    },
    evictIdle() {
      for (const webhookId of idle) cached.delete(webhookId)
      idle.clear()
    },
  }
}
