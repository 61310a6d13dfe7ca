import type { Clock } from '../ports.js'

/**
 * The store's time as a node knows it: the store's clock when last seen, plus the local monotonic time since. A
 * node whose wall clock runs ahead, or jumps, neither steals a lease nor sends early.
 */
export interface StoreTime {
  /** Store time, whole ms: it is written into stores. */
  now(): number
  seen(storeMs: number): void
}

export function storeTime(clock: Clock): StoreTime {
  let storeMs = clock.now()
  let seenAt = clock.monotonic()
  return {
    now: () => Math.floor(storeMs + (clock.monotonic() - seenAt)),
    seen(ms) {
      storeMs = ms
      seenAt = clock.monotonic()
    },
  }
}
