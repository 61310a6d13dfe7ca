/** The first try again comes after 50 to 100 ms, the hundredth after 15 to 30 s. */
const FIRST_MS = 100
const MOST_MS = 30_000

/**
 * How long to wait before the next try, of a connection or of a publish: doubling, at most 30 s, of which the upper half
 * is left to chance so that many do not come back together.
 *
 * @param attempt 1: the first has just failed
 * @param roll in [0, 1)
 * @returns milliseconds
 */
export function retryDelayMs(attempt: number, roll: number): number {
  const mostMs = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20))
  return Math.round(mostMs * (0.5 + roll / 2))
}
