import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import { sha256 } from '../values/digest.js'
import { type Bucket, charge, type ThrottleRule, take } from '../values/throttle.js'
import { tooManyLogins } from './refusals.js'

/** Limits logins by where they come from and, within that, by the account they try. */
export interface LoginLimits {
  /** Counts one login. Throws `TooManyLogins`. Without an address (the host itself) nothing is counted. */
  admit(address: string | undefined, target: string | undefined): void
  /** Charges a login that turned out to be wrong. */
  wrong(address: string | undefined, target: string | undefined): void
}

/** Options of the login limits; the defaults are KAZOO's figures (`kz_buckets`). */
export interface LoginLimitOptions {
  /** Logins at once from one source, default 100; `Infinity` switches the limits off. */
  readonly loginBurst?: number
  /** Logins a second in the long run, default 10. */
  readonly loginRefillPerSecond?: number
  /** Buckets remembered, default 20,000; the least recently used are forgotten. */
  readonly loginBuckets?: number
}

export const LOGIN_LIMIT_DEFAULTS: Required<LoginLimitOptions> = Object.freeze({
  loginBurst: 100,
  loginRefillPerSecond: 10,
  loginBuckets: 20_000,
})

const LOGIN_COST = 1
/** Added to the cost of a login that was wrong: 5 in all. */
const WRONG_COST = 4

/**
 * Token buckets in bounded memory, by the monotonic clock: one per source address (of IPv6 its /64, which one
 * subscriber has whole), and one per address and account tried. None is shared between addresses: nobody can lock
 * out another one.
 *
 * @throws `InvalidOption` naming the option
 */
export function loginLimits(clock: Pick<Clock, 'monotonic'>, options: LoginLimitOptions = {}): LoginLimits {
  const { loginBurst, loginRefillPerSecond, loginBuckets } = { ...LOGIN_LIMIT_DEFAULTS, ...options }
  if (typeof loginBurst !== 'number' || !(loginBurst >= 1)) {
    throw wrongOption('loginBurst', 'must be a number of 1 or more')
  }
  if (typeof loginRefillPerSecond !== 'number' || !(loginRefillPerSecond > 0)) {
    throw wrongOption('loginRefillPerSecond', 'must be a number above 0')
  }
  if (!Number.isInteger(loginBuckets) || loginBuckets < 1) {
    throw wrongOption('loginBuckets', 'must be a whole number of 1 or more')
  }
  const rule: ThrottleRule = { burst: loginBurst, refillPerSecond: loginRefillPerSecond }
  // By size, for `max` takes the room of all of them at once.
  const buckets = new LRUCache<string, Bucket>({ maxSize: loginBuckets, sizeCalculation: () => 1 })

  return {
    admit(address, target) {
      const nowMs = clock.monotonic()
      const answers = bucketKeys(address, target).map((key) => ({
        key,
        taken: take(buckets.get(key), LOGIN_COST, nowMs, rule),
      }))
      const waitMs = Math.max(0, ...answers.map(({ taken }) => taken.waitMs))
      if (answers.some(({ taken }) => !taken.granted)) throw tooManyLogins(waitMs)
      for (const { key, taken } of answers) buckets.set(key, taken.bucket)
    },
    wrong(address, target) {
      const nowMs = clock.monotonic()
      for (const key of bucketKeys(address, target)) {
        buckets.set(key, charge(buckets.get(key), WRONG_COST, nowMs, rule))
      }
    },
  }
}

function wrongOption(field: string, rule: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${rule}`, { field })
}

/** The buckets a login counts in. The target is hashed: what a client makes up must not fill the memory. */
function bucketKeys(address: string | undefined, target: string | undefined): readonly string[] {
  if (address === undefined) return []
  const source = sourceOf(address)
  return target === undefined ? [source] : [source, `${source} ${sha256(target)}`]
}

/** An IPv4 address as it is (also out of its IPv6 mapping), of an IPv6 address its /64. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64)
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
