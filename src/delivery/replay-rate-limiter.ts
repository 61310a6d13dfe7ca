import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import { keyedBuckets } from '../values/keyed-buckets.js'

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

/**
 * One token bucket per webhook and per account, on the monotonic clock. Reads the limits of `options` at each request, so
 * that they can change.
 */
export function createReplayRateLimiter(
  clock: Pick<Clock, 'monotonic'>,
  options: ReplayLimitOptions = {},
): ReplayRateLimiter {
  const waitMsOf = keyedBuckets()
  return {
    consume(key) {
      const { replayBurst: burst = REPLAY_LIMIT_DEFAULTS.replayBurst } = options
      const { replayRefillPerSecond: refillPerSecond = REPLAY_LIMIT_DEFAULTS.replayRefillPerSecond } = options
      if (burst === Number.POSITIVE_INFINITY) return
      const waitMs = waitMsOf(key, clock.monotonic(), { burst, refillPerSecond })
      if (waitMs === 0) return
      throw new HookswitchError('TooManyReplays', 'too many tests, replays and resumptions', {
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      })
    },
  }
}
