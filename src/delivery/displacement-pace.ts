/**
 * Limits how fast an account whose share of the queue is full replaces its own waiting deliveries. Each is written twice and never
 * sent, so above the limit events for the webhooks of the account wait until they are accepted. Times are store time, ms.
 */
import { charge, type RateLimit, refill, type TokenBucket } from '../values/token-bucket.js'

/** Displaced deliveries of one account. */
const RATE: RateLimit = { burst: 1_000, refillPerSecond: 1_000 }

interface DisplacementPace {
  /** Deliveries of an account's webhooks were displaced. */
  displaced(accountId: string, count: number, now: number): void
  /** Whether events for the webhooks of an account have to wait. */
  isHeld(accountId: string, now: number): boolean
  /** Whether those of any account have to. */
  holdsAny(now: number): boolean
  /** When the first account has to wait no more; `undefined`: none has to wait. */
  nextMs(now: number): number | undefined
}

export function createDisplacementPace(): DisplacementPace {
  /** Of accounts whose deliveries were displaced within the last two seconds. */
  const buckets = new Map<string, TokenBucket>()

  const bucketOf = (accountId: string, now: number) => {
    const bucket = buckets.get(accountId)
    return refill(bucket && bucket.atMs <= now ? bucket : undefined, now, RATE)
  }

  function dropFull(now: number): void {
    for (const accountId of buckets.keys())
      if (bucketOf(accountId, now).tokens >= RATE.burst) buckets.delete(accountId)
  }

  function nextMs(now: number): number | undefined {
    dropFull(now)
    let least = Number.POSITIVE_INFINITY
    for (const accountId of buckets.keys()) {
      const { tokens } = bucketOf(accountId, now)
      if (tokens < 0) least = Math.min(least, -tokens)
    }
    if (least === Number.POSITIVE_INFINITY) return undefined
    return now + Math.ceil((least * 1_000) / RATE.refillPerSecond)
  }

  return {
    displaced(accountId, count, now) {
      buckets.set(accountId, charge(bucketOf(accountId, now), count, now, RATE))
    },
    isHeld: (accountId, now) => buckets.has(accountId) && bucketOf(accountId, now).tokens < 0,
    holdsAny: (now) => buckets.size > 0 && nextMs(now) !== undefined,
    nextMs,
  }
}
