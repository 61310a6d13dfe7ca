/** Locations of the deliveries that this node has claimed, so that their settlement need not search for them. */

export interface InFlightDelivery {
  readonly webhookId: string
  readonly key: number
  readonly lane: string
  readonly fence: number
  /** Location of its row, unless another transaction has moved it. */
  readonly ctid: string
}

export interface InFlightCache {
  add(webhookId: string, row: Omit<InFlightDelivery, 'webhookId'> & { readonly id: string }): void
  /** The delivery as claimed with this fence; `undefined`: not cached. */
  get(deliveryId: string, fence: number): InFlightDelivery | undefined
  remove(deliveryId: string): void
}

/** More than any node has in flight. The oldest entry is evicted; its settlement then searches. */
const MAX_ENTRIES = 20_000

export function createInFlightCache(): InFlightCache {
  const cache = new Map<string, InFlightDelivery>()
  return {
    add(webhookId, { id, key, lane, fence, ctid }) {
      cache.delete(id)
      cache.set(id, { webhookId, key, lane, fence, ctid })
      if (cache.size > MAX_ENTRIES) cache.delete(cache.keys().next().value!)
    },
    get(deliveryId, fence) {
      const delivery = cache.get(deliveryId)
      return delivery?.fence === fence ? delivery : undefined
    },
    remove(deliveryId) {
      cache.delete(deliveryId)
    },
  }
}
