import type { ClaimRequest, ClaimResult, DeliveryStore } from '../delivery/delivery-store.js'
import type { Delivery } from '../delivery/lifecycle.js'

/**
 * Claims that the store executed although the node got an error. A store that can fail in this way must return them as
 * orphans (`DeliveryStore.orphans`). The memory store cannot fail, so the simulator adds them to its orphans.
 */
export interface UnknownClaims {
  add(request: ClaimRequest, result: ClaimResult): void
  /** The orphans of the store, and the unknown claims that are still in flight. */
  orphans(owner: string, limit: number): Promise<readonly Delivery[]>
}

export function createUnknownClaims(store: DeliveryStore): UnknownClaims {
  const byOwner = new Map<string, Delivery[]>()
  return {
    add({ owner }, { claims }) {
      const deliveries = claims.map(({ delivery }) => delivery)
      byOwner.set(owner, [...(byOwner.get(owner) ?? []), ...deliveries])
    },
    async orphans(owner, limit) {
      const fromStore = await store.orphans(owner, limit)
      const unknown = byOwner.get(owner)
      if (!unknown) return fromStore
      const inFlight: Delivery[] = []
      for (const delivery of unknown) {
        const current = await store.delivery(delivery.accountId, delivery.id)
        if (current?.state === 'in_flight' && current.fence === delivery.fence) inFlight.push(delivery)
      }
      if (inFlight.length > 0) byOwner.set(owner, inFlight)
      else byOwner.delete(owner)
      const ids = new Set(fromStore.map(({ id }) => id))
      return [...fromStore, ...inFlight.filter(({ id }) => !ids.has(id))].slice(0, limit)
    },
  }
}
