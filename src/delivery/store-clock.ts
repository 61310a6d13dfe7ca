import type { Clock } from '../ports.js'

/**
 * The store's clock as this node knows it: its last known value plus the local monotonic time since then. So a
 * wall clock that is ahead or jumps makes the node neither take over a lease nor send early.
 */
export interface StoreClock {
  /** Store time in whole milliseconds, as stores save it. */
  now(): number
  /**
   * Corrects the clock with a value that the store has just returned. The store read its clock at some time between the
   * request and now, so a clock that is within these limits is left as it is: a slow answer does not set it back.
   *
   * @param requestedMs monotonic time of the request in milliseconds. Default: the present time
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
