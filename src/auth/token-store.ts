import type { TokenRow } from './token.js'

export type { TokenRow } from './token.js'

/** The storage door of tokens. Every promise may reject with `StoreUnavailable`. */
export interface TokenStore {
  issue(token: TokenRow): Promise<void>
  /** The row as issued, expired or not; `undefined` when unknown or revoked. */
  read(hash: string): Promise<TokenRow | undefined>
  /** True when there was one. */
  revoke(hash: string): Promise<boolean>
  /** All tokens of an account, or of one holder in it: a user's id, or null for those of the API key. */
  revokeAll(accountId: string, holder?: string | null): Promise<number>
  /** Removes up to `limit` tokens that expired at or before `now`; how many. */
  pruneTokens(now: number, limit: number): Promise<number>
}
