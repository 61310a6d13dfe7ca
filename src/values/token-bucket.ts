/** The state of a token bucket: its tokens at a time (monotonic, ms). Below zero it is in debt. */
export interface TokenBucket {
  /** Tokens left at the time. */
  readonly tokens: number
  /** The time: monotonic, ms. */
  readonly atMs: number
}

/** Capacity of a bucket, in tokens, and its refill rate. */
export interface RateLimit {
  /** Tokens of a full bucket. */
  readonly burst: number
  /** Tokens added per second. */
  readonly refillPerSecond: number
}

/** Result of `take`. */
export interface TakeResult {
  /** Whether the bucket held the cost. */
  readonly isGranted: boolean
  /** 0 when granted, else the time until the bucket holds the cost, ms. */
  readonly waitMs: number
  /** The bucket afterwards. */
  readonly bucket: TokenBucket
}

/** Tolerance for rounding errors of the refill: a caller that waited for `waitMs` must not be rejected. */
const ROUNDING = 1e-6

/** Refills a bucket up to `nowMs` (monotonic, ms). A new bucket (`undefined`) is full. */
export function refill(bucket: TokenBucket | undefined, nowMs: number, limit: RateLimit): TokenBucket {
  if (!bucket) return { tokens: limit.burst, atMs: nowMs }
  const added = ((nowMs - bucket.atMs) * limit.refillPerSecond) / 1_000
  return { tokens: Math.min(limit.burst, bucket.tokens + added), atMs: nowMs }
}

/** Takes `cost` tokens if available. A rejection costs nothing, so that repeated attempts do not prolong the wait. */
export function take(
  bucket: TokenBucket | undefined,
  cost: number,
  nowMs: number,
  limit: RateLimit,
): TakeResult {
  const now = refill(bucket, nowMs, limit)
  if (now.tokens >= cost - ROUNDING)
    return { isGranted: true, waitMs: 0, bucket: { ...now, tokens: now.tokens - cost } }
  const waitMs = Math.ceil(((cost - now.tokens) * 1_000) / limit.refillPerSecond)
  return { isGranted: false, waitMs, bucket: now }
}

/**
 * Charges `cost` afterwards, into debt if necessary. The debt is limited to one burst, so that the wait is at most twice
 * the time in which a bucket fills.
 */
export function charge(
  bucket: TokenBucket | undefined,
  cost: number,
  nowMs: number,
  limit: RateLimit,
): TokenBucket {
  const now = refill(bucket, nowMs, limit)
  return { ...now, tokens: Math.max(-limit.burst, now.tokens - cost) }
}
