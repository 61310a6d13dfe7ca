import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import { type RateLimit, refill, type TokenBucket, take } from '../values/token-bucket.js'

/** Limits tests, replays and resumptions that are requested over HTTP: each of them sends requests to a receiver. */
export interface ReplayRateLimiter {
  /**
   * Counts one test, replay or resumption.
   *
   * @param key identifies the webhook, or the account if all its webhooks are replayed
   * @throws `TooManyReplays`
   */
  consume(key: string): void
}

interface ReplayLimitOptions {
  /** Tests, replays and resumptions of one webhook, or replays of one account, in a burst. Default is 20; `Infinity` switches the limit off. */
  readonly replayBurst?: number
  /** Tests, replays and resumptions of one webhook, or replays of one account, per second, sustained. Default is 1. */
  readonly replayRefillPerSecond?: number
}

export const REPLAY_LIMIT_DEFAULTS: Required<ReplayLimitOptions> = Object.freeze({
  replayBurst: 20,
  replayRefillPerSecond: 1,
})

/** Above this number of buckets, full ones are removed. */
const SWEEP_ABOVE = 10_000

/**
 * One token bucket per webhook and per account, on the monotonic clock. Full buckets are removed from time to time. Reads the limits of
 * `options` at each request, so that they can change.
 */
export function createReplayRateLimiter(
  clock: Pick<Clock, 'monotonic'>,
  options: ReplayLimitOptions = {},
): ReplayRateLimiter {
  const buckets = new Map<string, TokenBucket>()
  let sweepAbove = SWEEP_ABOVE

  function currentRule(): RateLimit {
    const { replayBurst: burst = REPLAY_LIMIT_DEFAULTS.replayBurst } = options
    const { replayRefillPerSecond: refillPerSecond = REPLAY_LIMIT_DEFAULTS.replayRefillPerSecond } = options
    return { burst, refillPerSecond }
  }

  function sweep(nowMs: number, rule: RateLimit): void {
    for (const [key, bucket] of buckets) {
      if (refill(bucket, nowMs, rule).tokens >= rule.burst) buckets.delete(key)
    }
    // Buckets in use stay: the next sweep is at twice their number.
    sweepAbove = Math.max(SWEEP_ABOVE, 2 * buckets.size)
  }

  return {
    consume(key) {
      const rule = currentRule()
      if (rule.burst === Number.POSITIVE_INFINITY) return
      const nowMs = clock.monotonic()
      const { isGranted, waitMs, bucket } = take(buckets.get(key), 1, nowMs, rule)
      if (!isGranted) {
        throw new HookswitchError('TooManyReplays', 'too many tests, replays and resumptions', {
          retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
        })
      }
      buckets.set(key, bucket)
      if (buckets.size > sweepAbove) sweep(nowMs, rule)
    },
  }
}
