import { singleFlightCache } from '../accounts/single-flight-cache.js'
import type { PrivLevel } from '../accounts/user.js'
import type { Clock } from '../ports.js'
import type { TokenRow } from './token.js'

/** A token that was found valid. */
export interface ValidToken extends TokenRow {
  /** What its user could do then; absent: everything. Never stored with the token. */
  readonly privLevel?: PrivLevel
}

/**
 * Tokens that were recently found valid. Only a cache: a missing token is read again from the store, so eviction logs
 * nobody out. It holds hashes, not tokens.
 */
export interface TokenCache {
  /** The row, if the token was found valid less than `recheckMs` ago. The caller must check its expiry. */
  get(hash: string): ValidToken | undefined
  /** As `get`, else the result of `check`; concurrent calls for one token share one check. */
  getOrLoad(hash: string, check: () => Promise<ValidToken | undefined>): Promise<ValidToken | undefined>
  /** Drops one token. */
  invalidateToken(hash: string): void
  /** Drops the tokens of this account, but not those of the accounts below it. */
  invalidateAccount(accountId: string): void
  invalidateAll(): void
  /** Number of cached tokens. */
  size(): number
}

/** Options of the token cache. @internal */
export interface TokenCacheOptions {
  /** Tokens cached, about 250 bytes each. Default 10,000. */
  readonly max?: number
  /** Milliseconds after which a revocation on another node, or a change in the host's directory, shows. Default 2,000. */
  readonly recheckMs?: number
}

export const TOKEN_CACHE_DEFAULTS: Required<TokenCacheOptions> = Object.freeze({
  max: 10_000,
  recheckMs: 2_000,
})

/**
 * Creates a bounded LRU cache of valid tokens, by the monotonic clock. Invalid tokens are not cached. A check that
 * started before an invalidation is neither cached nor shared with later callers.
 */
export function tokenCache(clock: Pick<Clock, 'monotonic'>, options: TokenCacheOptions = {}): TokenCache {
  const { max, recheckMs } = { ...TOKEN_CACHE_DEFAULTS, ...options }
  const cache = singleFlightCache<ValidToken>(clock, { max, maxAgeMs: recheckMs })
  return {
    get: cache.get,
    getOrLoad: cache.getOrLoad,
    invalidateToken: (hash) => cache.invalidate((_, key) => key === hash),
    invalidateAccount: (accountId) => cache.invalidate((row) => row.accountId === accountId),
    invalidateAll: () => cache.invalidate(() => true),
    size: cache.size,
  }
}
