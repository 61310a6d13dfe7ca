import type { Clock } from '../ports.js'

/**
 * The store's clock as this node knows it: its last known value plus the local monotonic time since then. So a
 * wall clock that is ahead or jumps makes the node neither take over a lease nor send early.
 */
export interface StoreClock {
  /** Store time in whole milliseconds, as stores save it. */
  now(): number
  /** Sets the clock to a value that the store returned just now. */
  sync(storeMs: number): void
}

/** Before the first `sync`, `now` starts from the wall clock. */
export function createStoreClock(clock: Clock): StoreClock {
  let storeMs = clock.now()
  let syncedAtMs = clock.monotonic()
  return {
    now: () => Math.floor(storeMs + (clock.monotonic() - syncedAtMs)),
    sync(ms) {
      storeMs = ms
      syncedAtMs = clock.monotonic()
    },
  }
}
