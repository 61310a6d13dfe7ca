/** A token bucket: how many units are left, and when that was so. Below zero it is in debt. */
export interface Bucket {
  readonly units: number
  readonly atMs: number
}

/** How much a bucket holds and how fast it fills. */
export interface ThrottleRule {
  readonly burst: number
  readonly refillPerSecond: number
}

/** What a bucket said: `waitMs` is 0 where it was granted, else the time until the cost is there. */
export interface Taken {
  readonly granted: boolean
  readonly waitMs: number
  readonly bucket: Bucket
}

/** What rounding of the flow may cost: who waited for as long as was said must not be refused for it. */
const ROUNDING = 1e-6

/** The bucket at `nowMs` (monotonic); a bucket that nobody knows is full. */
export function refilled(bucket: Bucket | undefined, nowMs: number, rule: ThrottleRule): Bucket {
  if (!bucket) return { units: rule.burst, atMs: nowMs }
  const flowedIn = ((nowMs - bucket.atMs) * rule.refillPerSecond) / 1_000
  return { units: Math.min(rule.burst, bucket.units + flowedIn), atMs: nowMs }
}

/** Takes `cost` if it is there; a refusal costs nothing, so that who keeps asking is not kept out for ever. */
export function take(bucket: Bucket | undefined, cost: number, nowMs: number, rule: ThrottleRule): Taken {
  const now = refilled(bucket, nowMs, rule)
  if (now.units >= cost - ROUNDING)
    return { granted: true, waitMs: 0, bucket: { ...now, units: now.units - cost } }
  const waitMs = Math.ceil(((cost - now.units) * 1_000) / rule.refillPerSecond)
  return { granted: false, waitMs, bucket: now }
}

/**
 * Charges `cost` after the fact, into debt if need be; the debt ends at one burst, so that nobody waits longer than
 * twice the time a bucket takes to fill.
 */
export function charge(bucket: Bucket | undefined, cost: number, nowMs: number, rule: ThrottleRule): Bucket {
  const now = refilled(bucket, nowMs, rule)
  return { ...now, units: Math.max(-rule.burst, now.units - cost) }
}
