/** Durations of calls, in whole seconds. */

/** Longest duration that an event can hold. Longer ones, caused by a clock change, are capped. */
export const MAX_SECONDS = 2_147_483_647

/** Returns the rounded seconds between two times in milliseconds; 0 if the switch reports them out of order. */
export function secondsBetween(fromMs: number, toMs: number): number {
  return Math.min(MAX_SECONDS, Math.max(0, Math.round((toMs - fromMs) / 1000)))
}
