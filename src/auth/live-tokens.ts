import { positiveCache } from '../accounts/positive-cache.js'
import type { Clock } from '../ports.js'
import type { TokenRow } from './token.js'

/**
 * Tokens that were found valid a moment ago. A cache, never the truth: what it forgets is read again from the
 * store, so that eviction logs nobody out. It holds hashes, no token.
 */
export interface LiveTokens {
  /** The row, if the token was found valid less than `recheckMs` ago. Its expiry is the caller's to look at. */
  get(hash: string): TokenRow | undefined
  /** As `get`, else what `check` finds now; concurrent calls for one token check once. */
  find(hash: string, check: () => Promise<TokenRow | undefined>): Promise<TokenRow | undefined>
  /** One token is no longer valid. */
  forgetToken(hash: string): void
  /** No token of this account is valid as it was. Those of the accounts below are not touched. */
  forgetAccount(accountId: string): void
  forgetAll(): void
  /** How many are kept. */
  size(): number
}

/** Options of the token cache. */
export interface LiveTokenOptions {
  /** Tokens kept, about 250 bytes each; default 10,000. */
  readonly max?: number
  /** A token revoked on another node, or a change in the host's directory, shows after this time; default 2,000. */
  readonly recheckMs?: number
}

export const LIVE_TOKEN_DEFAULTS: Required<LiveTokenOptions> = Object.freeze({
  max: 10_000,
  recheckMs: 2_000,
})

/**
 * A bounded LRU of valid tokens, by the monotonic clock. Only valid ones are kept; a check that began before
 * something was forgotten is neither kept nor shared with who asks after.
 */
export function liveTokens(clock: Pick<Clock, 'monotonic'>, options: LiveTokenOptions = {}): LiveTokens {
  const { max, recheckMs } = { ...LIVE_TOKEN_DEFAULTS, ...options }
  const cache = positiveCache<TokenRow>(clock, { max, maxAgeMs: recheckMs })
  return {
    get: cache.get,
    find: cache.find,
    forgetToken: (hash) => cache.forget((_, key) => key === hash),
    forgetAccount: (accountId) => cache.forget((row) => row.accountId === accountId),
    forgetAll: () => cache.forget(() => true),
    size: cache.size,
  }
}
