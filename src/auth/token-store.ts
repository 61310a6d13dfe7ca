import type { TokenRow } from './token.js'

export type { TokenRow } from './token.js'

/** The storage port of tokens. Every promise may reject with `StoreUnavailable`. */
export interface TokenStore {
  /** Stores a new token. */
  issue(token: TokenRow): Promise<void>
  /** The row as issued, expired or not; `undefined` when unknown or revoked. */
  read(hash: string): Promise<TokenRow | undefined>
  /** Resolves to true when the token existed. */
  revoke(hash: string): Promise<boolean>
  /**
   * Revokes all tokens of an account, or of one holder in it: a user's id, or null for those of the API key.
   * Resolves to their number.
   */
  revokeAll(accountId: string, holder?: string | null): Promise<number>
  /** Removes up to `limit` tokens that expired at or before `now` (Unix ms); resolves to their number. */
  pruneTokens(now: number, limit: number): Promise<number>
}
