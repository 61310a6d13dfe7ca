/** The first try again comes after 50 to 100 ms. */
const FIRST_MS = 100

/**
 * How long to wait before the next try, of a connection or of a publish: doubling up to a bound, the upper half left to
 * chance so that many do not come back together.
 *
 * @param attempt 1: the first has just failed
 * @param roll in [0, 1)
 * @param boundMs milliseconds
 * @returns milliseconds
 */
export function retryDelayMs(attempt: number, roll: number, boundMs: number): number {
  const mostMs = Math.min(boundMs, FIRST_MS * 2 ** Math.min(attempt - 1, 20))
  return Math.round(mostMs * (0.5 + roll / 2))
}
