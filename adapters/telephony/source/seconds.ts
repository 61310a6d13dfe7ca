/** Seconds of a call: more than an event can hold come from clocks that were set, and must not cost the event. */
export const MOST_SECONDS = 2_147_483_647

/** Whole seconds from one moment to the next, rounded; never negative, though a switch may write out of order. */
export function secondsBetween(fromMs: number, toMs: number): number {
  return Math.min(MOST_SECONDS, Math.max(0, Math.round((toMs - fromMs) / 1000)))
}
