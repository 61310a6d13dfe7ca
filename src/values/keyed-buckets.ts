/** One token bucket per key. Full buckets are removed from time to time. */
import { type RateLimit, refill, type TokenBucket, take } from './token-bucket.js'

/** Above this number of buckets, full ones are removed. */
const SWEEP_ABOVE = 10_000

/**
 * Creates an empty set of buckets. The function that it returns takes one token of a key at a time (monotonic, ms), and
 * returns 0, or the milliseconds until the bucket holds one.
 */
export function keyedBuckets(): (key: string, nowMs: number, limit: RateLimit) => number {
  const buckets = new Map<string, TokenBucket>()
  let sweepAbove = SWEEP_ABOVE

  function sweep(nowMs: number, limit: RateLimit): void {
    for (const [key, bucket] of buckets) {
      if (refill(bucket, nowMs, limit).tokens >= limit.burst) buckets.delete(key)
    }
    // Buckets in use stay: the next sweep is at twice their number.
    sweepAbove = Math.max(SWEEP_ABOVE, 2 * buckets.size)
  }

  return (key, nowMs, limit) => {
    const { isGranted, waitMs, bucket } = take(buckets.get(key), 1, nowMs, limit)
    if (!isGranted) return waitMs
    buckets.set(key, bucket)
    if (buckets.size > sweepAbove) sweep(nowMs, limit)
    return 0
  }
}
