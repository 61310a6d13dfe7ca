/** Backoff of reconnects and of retried publishes. */

/** Upper bound of the first delay. */
const FIRST_MS = 100

/**
 * Returns the delay before the next attempt: it doubles up to a bound, and its upper half is random, so that many clients
 * do not return at the same moment.
 *
 * @param attempt number of failures so far, from 1
 * @param random in [0, 1)
 * @param maxMs upper bound, milliseconds
 * @returns milliseconds; after the first failure 50 to 100
 */
export function retryDelayMs(attempt: number, random: number, maxMs: number): number {
  const boundMs = Math.min(maxMs, FIRST_MS * 2 ** Math.min(attempt - 1, 20))
  return Math.round(boundMs * (0.5 + random / 2))
}
