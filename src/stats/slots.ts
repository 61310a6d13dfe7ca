/** Slots of time: their length, how long their counts are kept, and which slots a range covers. Pure. */

/** Length of a slot, in seconds. */
export type StatsStep = 60 | 3600

/** Both lengths of slots. */
export const STATS_STEPS: readonly StatsStep[] = Object.freeze([60, 3600])

const HOUR_MS = 3_600_000

/** How long the counts of a slot are kept after its start, by step, ms: 3 hours and 35 days. */
export const KEPT_MS: Readonly<Record<StatsStep, number>> = Object.freeze({
  60: 3 * HOUR_MS,
  3600: 35 * 24 * HOUR_MS,
})

/** Maximum number of slots of one query. */
export const MAX_SLOTS = 900

/** Start of the slot that contains a time, Unix ms. Slots begin at whole minutes and hours of UTC. */
export function slotOf(step: StatsStep, atMs: number): number {
  const lengthMs = step * 1000
  return Math.floor(atMs / lengthMs) * lengthMs
}

/** Number of slots from the one that contains `fromMs` to the one that contains `toMs`. */
export function slotCount(step: StatsStep, fromMs: number, toMs: number): number {
  return (slotOf(step, toMs) - slotOf(step, fromMs)) / (step * 1000) + 1
}

/** Start of the oldest slot whose counts are kept. @internal */
export function firstKeptSlot(step: StatsStep, nowMs: number): number {
  return slotOf(step, nowMs - KEPT_MS[step]) + step * 1000
}

/**
 * Starts of the slots of a range, ascending, without those that are no longer kept and those of the future.
 *
 * @param fromMs first moment of the range, Unix ms
 * @param toMs last moment of the range, Unix ms
 */
export function slotsOf(step: StatsStep, fromMs: number, toMs: number, nowMs: number): readonly number[] {
  const lengthMs = step * 1000
  const first = Math.max(slotOf(step, fromMs), firstKeptSlot(step, nowMs))
  const last = slotOf(step, Math.min(toMs, nowMs))
  return Array.from(
    { length: Math.max(0, (last - first) / lengthMs + 1) },
    (_, index) => first + index * lengthMs,
  )
}
