import type { ClaimRequest, ClaimResult, DeliveryStore } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'

/**
 * Claims that were carried out although who asked was told that they failed. A store that can fail so must give them
 * as orphans to whoever asked (`DeliveryStore.orphans`); the memory store cannot fail so, hence does not know of them.
 */
export interface UnsureClaims {
  add(request: ClaimRequest, result: ClaimResult): void
  /** The orphans that the store knows of, and these. */
  orphans(owner: string, limit: number): Promise<readonly Delivery[]>
}

export function unsureClaims(store: DeliveryStore): UnsureClaims {
  const unsure = new Map<string, Delivery[]>()
  return {
    add({ owner }, { claims }) {
      const deliveries = claims.map(({ delivery }) => delivery)
      unsure.set(owner, [...(unsure.get(owner) ?? []), ...deliveries])
    },
    async orphans(owner, limit) {
      const known = await store.orphans(owner, limit)
      const mine = unsure.get(owner)
      if (!mine) return known
      const still: Delivery[] = []
      for (const delivery of mine) {
        const now = await store.delivery(delivery.accountId, delivery.id)
        if (now?.state === 'in_flight' && now.fence === delivery.fence) still.push(delivery)
      }
      if (still.length > 0) unsure.set(owner, still)
      else unsure.delete(owner)
      const ids = new Set(known.map(({ id }) => id))
      return [...known, ...still.filter(({ id }) => !ids.has(id))].slice(0, limit)
    },
  }
}
