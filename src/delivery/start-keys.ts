import type { QueuedDelivery } from './queue/queued-delivery.js'

/**
 * The keys under which starts are stored. The starts of one group have one key; when the last of their attempts has ended,
 * the next group makes the store forget them.
 */
export interface StartKeys {
  /** Gives these deliveries, at least one, a new key. */
  add(deliveries: readonly QueuedDelivery[]): number
  /** The attempt of a delivery has ended, or will not begin. */
  end(delivery: QueuedDelivery): void
  /** Keys whose attempts have all ended since the last call. */
  takeFinished(): readonly number[]
  /**
   * The end of the last attempt of a delivery is not stored: its key stays stored with the start, which tells the next owner
   * that the delivery was sent.
   */
  retain(delivery: QueuedDelivery): void
  /** Whether a key must stay stored. */
  isRetained(key: number): boolean
  /** The lease has ended: its keys mean nothing under the next one. */
  clear(): void
}

const NONE: readonly number[] = []

export function createStartKeys(): StartKeys {
  /** Attempts that have not ended, by key. */
  const open = new Map<number, number>()
  const retained = new Set<number>()
  let finished: number[] = []
  let last = 0
  return {
    add(deliveries) {
      last++
      open.set(last, deliveries.length)
      for (const delivery of deliveries) delivery.startKey = last
      return last
    },
    end(delivery) {
      const { startKey } = delivery
      if (startKey === 0) return
      delivery.startKey = 0
      delivery.lastStartKey = startKey
      const left = open.get(startKey)
      if (left === undefined) return
      if (left > 1) {
        open.set(startKey, left - 1)
        return
      }
      open.delete(startKey)
      finished.push(startKey)
    },
    retain({ lastStartKey }) {
      if (lastStartKey !== 0) retained.add(lastStartKey)
    },
    isRetained: (key) => retained.has(key),
    takeFinished() {
      if (finished.length === 0) return NONE
      const taken = retained.size > 0 ? finished.filter((key) => !retained.has(key)) : finished
      finished = []
      return taken
    },
    clear() {
      open.clear()
      retained.clear()
      finished = []
    },
  }
}
