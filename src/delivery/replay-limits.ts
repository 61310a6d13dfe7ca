import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import { type Bucket, refilled, type ThrottleRule, take } from '../values/throttle.js'

/** How often tests and replays may be asked for over HTTP: each sends requests to somebody. */
export interface ReplayLimits {
  /** Counts one for a webhook, of whatever name. Throws `TooManyReplays`. */
  admit(webhook: string): void
}

export interface ReplayLimitOptions {
  /** Tests and replays of one webhook at once, default 20; `Infinity` switches the limit off. */
  readonly replayBurst?: number
  /** Tests and replays of one webhook a second in the long run, default 1. */
  readonly replayRefillPerSecond?: number
}

export const REPLAY_LIMIT_DEFAULTS: Required<ReplayLimitOptions> = Object.freeze({
  replayBurst: 20,
  replayRefillPerSecond: 1,
})

/** Buckets looked through, when there are so many, for those that are full again. */
const SWEEP_ABOVE = 10_000

/** A token bucket for each webhook, by the monotonic clock; a full one is not kept. */
export function replayLimits(
  clock: Pick<Clock, 'monotonic'>,
  options: ReplayLimitOptions = {},
): ReplayLimits {
  const { replayBurst: burst = REPLAY_LIMIT_DEFAULTS.replayBurst } = options
  const { replayRefillPerSecond: refillPerSecond = REPLAY_LIMIT_DEFAULTS.replayRefillPerSecond } = options
  const rule: ThrottleRule = { burst, refillPerSecond }
  const buckets = new Map<string, Bucket>()
  let sweepAbove = SWEEP_ABOVE

  function sweep(nowMs: number): void {
    for (const [webhook, bucket] of buckets) {
      if (refilled(bucket, nowMs, rule).units >= burst) buckets.delete(webhook)
    }
    // What is in use stays: the next look comes when there are twice as many.
    sweepAbove = Math.max(SWEEP_ABOVE, 2 * buckets.size)
  }

  return {
    admit(webhook) {
      if (burst === Number.POSITIVE_INFINITY) return
      const nowMs = clock.monotonic()
      const { granted, waitMs, bucket } = take(buckets.get(webhook), 1, nowMs, rule)
      if (!granted) {
        throw new HookswitchError('TooManyReplays', 'too many tests and replays of this webhook', {
          retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
        })
      }
      buckets.set(webhook, bucket)
      if (buckets.size > sweepAbove) sweep(nowMs)
    },
  }
}
