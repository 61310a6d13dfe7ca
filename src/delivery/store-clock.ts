import type { Clock } from '../ports.js'

/**
 * The store's clock as this node knows it: its last known value plus the local monotonic time since then. So a
 * wall clock that is ahead or jumps makes the node neither take over a lease nor send early.
 */
export interface StoreClock {
  /** Store time in whole milliseconds, as stores save it. */
  now(): number
  /**
   * Corrects the clock by a value that the store returned just now. The store read it at some time since the request,
   * so a clock that agrees with any such time stays as it is: a slow answer does not set it back.
   *
   * @param requestedMs when the store was asked, monotonic, ms; default: now
   */
  sync(storeMs: number, requestedMs?: number): void
}

/** Before the first `sync`, `now` starts from the wall clock. */
export function createStoreClock(clock: Clock): StoreClock {
  let storeMs = clock.now()
  let syncedAtMs = clock.monotonic()
  const exactNow = () => storeMs + (clock.monotonic() - syncedAtMs)
  return {
    now: () => Math.floor(exactNow()),
    sync(earliestMs, requestedMs = clock.monotonic()) {
      const latestMs = earliestMs + (clock.monotonic() - requestedMs)
      storeMs = Math.min(Math.max(exactNow(), earliestMs), latestMs)
      syncedAtMs = clock.monotonic()
    },
  }
}
