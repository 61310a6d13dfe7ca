/** Decides when the deviation of a node's clock is reported: when it begins, changes and ends, and once an hour meanwhile. Pure. */

/** A larger deviation is reported, ms. Receivers accept 5 minutes, and clocks under NTP differ by milliseconds. */
const MAX_DEVIATION_MS = 30_000
/** A reported deviation ends below this, ms: a clock that is at the limit is not reported again and again. */
const MIN_DEVIATION_MS = 25_000
/** A deviation that stays as it is is reported again after this, ms. */
const REPEAT_MS = 3_600_000

/** The last report of a deviation that has not ended. */
export interface ReportedDeviation {
  readonly deviationMs: number
  /** Monotonic, ms. */
  readonly atMs: number
}

/** What the log says now, and what has been reported from then on. */
interface DeviationCheck {
  readonly reported: ReportedDeviation | undefined
  readonly report?: 'deviates' | 'agrees'
}

/**
 * How far a clock is ahead of another one that was read between a request and its answer, ms. The other clock may have
 * advanced by the whole duration of the request, so a difference within that is none.
 */
export function deviationOf(nowMs: number, earliestMs: number, durationMs: number): number {
  return nowMs - Math.min(Math.max(nowMs, earliestMs), earliestMs + durationMs)
}

/** @param now monotonic, ms */
export function checkDeviation(
  reported: ReportedDeviation | undefined,
  deviationMs: number,
  now: number,
): DeviationCheck {
  const amountMs = Math.abs(deviationMs)
  if (amountMs < MIN_DEVIATION_MS) return reported ? { reported: undefined, report: 'agrees' } : { reported }
  const isNew = reported
    ? Math.abs(deviationMs - reported.deviationMs) > MAX_DEVIATION_MS || now - reported.atMs >= REPEAT_MS
    : amountMs > MAX_DEVIATION_MS
  return isNew ? { reported: { deviationMs, atMs: now }, report: 'deviates' } : { reported }
}
