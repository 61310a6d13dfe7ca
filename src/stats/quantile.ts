/** Percentiles of durations that are known by bucket only. Pure. */
import { DURATION_BOUNDS_MS, FIRST_BUCKET } from './columns.js'

const BUCKETS = DURATION_BOUNDS_MS.length + 1

/**
 * The quantile of the durations of one row of counts, in whole ms, interpolated linearly within its bucket: an approximation.
 * Above the last bound there is nothing to interpolate, and the result is that bound. `undefined`: no duration is known.
 *
 * @param fraction 0 to 1; 0.5 is the median
 */
export function quantileMs(counts: readonly number[], fraction: number): number | undefined {
  let total = 0
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) total += counts[FIRST_BUCKET + bucket]!
  if (total === 0) return undefined
  const rank = fraction * total
  let below = 0
  for (let bucket = 0; bucket < DURATION_BOUNDS_MS.length; bucket += 1) {
    const inBucket = counts[FIRST_BUCKET + bucket]!
    if (inBucket > 0 && below + inBucket >= rank) {
      const low = bucket === 0 ? 0 : DURATION_BOUNDS_MS[bucket - 1]!
      return Math.round(low + ((DURATION_BOUNDS_MS[bucket]! - low) * Math.max(0, rank - below)) / inBucket)
    }
    below += inBucket
  }
  return DURATION_BOUNDS_MS.at(-1)!
}
