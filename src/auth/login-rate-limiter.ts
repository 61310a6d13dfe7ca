import { LRUCache } from 'lru-cache'
import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import { sha256 } from '../values/hash.js'
import { rateLimitSource } from '../values/rate-limit-source.js'
import { charge, type RateLimit, type TokenBucket, take } from '../values/token-bucket.js'
import { tooManyLogins } from './auth-errors.js'

/** Limits logins by source address and, within that, by the account they target. */
export interface LoginRateLimiter {
  /** Counts one login. Throws `TooManyLogins`. Without an address (a login by the host itself) nothing is counted. */
  consume(address: string | undefined, target: string | undefined): void
  /** Charges the extra cost of a login that failed. */
  penalize(address: string | undefined, target: string | undefined): void
}

/** Options of the login rate limiter; the defaults are KAZOO's figures (`kz_buckets`). */
interface LoginRateLimiterOptions {
  /** Logins in one burst from one source. Default 100; `Infinity` disables the limiter. */
  readonly loginBurst?: number
  /** Sustained logins per second. Default 10. */
  readonly loginRefillPerSecond?: number
  /** Buckets held in memory; the least recently used are evicted. Default 20,000. */
  readonly loginBuckets?: number
}

export const LOGIN_RATE_LIMITER_DEFAULTS: Required<LoginRateLimiterOptions> = Object.freeze({
  loginBurst: 100,
  loginRefillPerSecond: 10,
  loginBuckets: 20_000,
})

const LOGIN_COST = 1
/** Added to the cost of a failed login: 5 in total. */
const FAILURE_COST = 4

/**
 * Creates token buckets in bounded memory, by the monotonic clock: one per source address (for IPv6 its /64, which
 * belongs to one subscriber), and one per source and targeted account. No bucket is shared between sources, so no
 * source can lock out another. Reads the limits of `options` at each login, so that they can change.
 *
 * @throws `InvalidOption` naming the option
 */
export function loginRateLimiter(
  clock: Pick<Clock, 'monotonic'>,
  options: LoginRateLimiterOptions = {},
): LoginRateLimiter {
  const { loginBurst, loginRefillPerSecond, loginBuckets } = withDefaults(options)
  if (typeof loginBurst !== 'number' || !(loginBurst >= 1)) {
    throw invalidOption('loginBurst', 'must be a number of 1 or more')
  }
  if (typeof loginRefillPerSecond !== 'number' || !(loginRefillPerSecond > 0)) {
    throw invalidOption('loginRefillPerSecond', 'must be a number above 0')
  }
  if (!Number.isInteger(loginBuckets) || loginBuckets < 1) {
    throw invalidOption('loginBuckets', 'must be a whole number of 1 or more')
  }
  const currentLimit = (): RateLimit => {
    const { loginBurst: burst, loginRefillPerSecond: refillPerSecond } = withDefaults(options)
    return { burst, refillPerSecond }
  }
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const buckets = new LRUCache<string, TokenBucket>({ maxSize: loginBuckets, sizeCalculation: () => 1 })

  return {
    consume(address, target) {
      const limit = currentLimit()
      // Buckets of an earlier limit would still refuse logins.
      if (limit.burst === Number.POSITIVE_INFINITY) return
      const nowMs = clock.monotonic()
      const results = bucketKeys(address, target).map((key) => ({
        key,
        taken: take(buckets.get(key), LOGIN_COST, nowMs, limit),
      }))
      const waitMs = Math.max(0, ...results.map(({ taken }) => taken.waitMs))
      if (results.some(({ taken }) => !taken.isGranted)) throw tooManyLogins(waitMs)
      for (const { key, taken } of results) buckets.set(key, taken.bucket)
    },
    penalize(address, target) {
      const limit = currentLimit()
      if (limit.burst === Number.POSITIVE_INFINITY) return
      const nowMs = clock.monotonic()
      for (const key of bucketKeys(address, target)) {
        buckets.set(key, charge(buckets.get(key), FAILURE_COST, nowMs, limit))
      }
    },
  }
}

function withDefaults(options: LoginRateLimiterOptions): Required<LoginRateLimiterOptions> {
  const { loginBurst, loginRefillPerSecond, loginBuckets } = options
  return {
    loginBurst: loginBurst ?? LOGIN_RATE_LIMITER_DEFAULTS.loginBurst,
    loginRefillPerSecond: loginRefillPerSecond ?? LOGIN_RATE_LIMITER_DEFAULTS.loginRefillPerSecond,
    loginBuckets: loginBuckets ?? LOGIN_RATE_LIMITER_DEFAULTS.loginBuckets,
  }
}

function invalidOption(field: string, rule: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${rule}`, { field })
}

/** The buckets that a login counts in. The target is hashed, so that long client input does not fill the memory. */
function bucketKeys(address: string | undefined, target: string | undefined): readonly string[] {
  if (address === undefined) return []
  const source = rateLimitSource(address)
  return target === undefined ? [source] : [source, `${source} ${sha256(target)}`]
}
