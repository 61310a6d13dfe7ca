import { isAccountEnabled } from '../accounts/access.js'
import type { Directory } from '../accounts/directory.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import { constantTimeEqual } from '../values/hash.js'
import { invalidCredentials } from './auth-errors.js'
import { hashToken, isUnexpired, isWellFormedToken, type TokenRow } from './token.js'
import type { TokenCache } from './token-cache.js'
import type { TokenStore } from './token-store.js'

/** The sender of a request: the account that its token belongs to, and the user to whom the token was issued, if any. */
export interface Caller {
  /** The account that the token belongs to. */
  readonly accountId: string
  /** Absent: the token was issued for the account's API key. */
  readonly userId?: string
  /** The token itself. */
  readonly token: string
  /** Unix ms. */
  readonly expiresMs: number
}

export interface AuthenticateDeps {
  readonly tokens: Pick<TokenStore, 'read'>
  /** Uncached: another cache in front of it would add its age to that of `tokenCache`. */
  readonly directory: Pick<Directory, 'lineage' | 'credentialVersion'>
  readonly tokenCache: TokenCache
  readonly clock: Pick<Clock, 'now'>
  readonly metrics: Pick<Metrics, 'count'>
}

/**
 * Resolves a token to its caller. A token is valid iff it has not expired, is not revoked, its account is enabled and
 * the credential that it was issued for is still current. Cached tokens are checked for expiry as well.
 *
 * @throws `InvalidCredentials` for every cause, `StoreUnavailable`
 */
export async function authenticate(deps: AuthenticateDeps, token: string): Promise<Caller> {
  if (!isWellFormedToken(token)) throw invalidCredentials()
  const hash = hashToken(token)
  const cached = deps.tokenCache.get(hash)
  deps.metrics.count('hookswitch_token_lookups_total', 1, cached ? 'hit' : 'miss')
  const row = cached ?? (await deps.tokenCache.getOrLoad(hash, () => readValidToken(deps, hash)))
  if (!row || !isUnexpired(row, deps.clock.now())) throw invalidCredentials()
  const { accountId, userId, expiresMs } = row
  return userId === undefined ? { accountId, token, expiresMs } : { accountId, userId, token, expiresMs }
}

/** Reads the token's row; `undefined` unless the token, its account and its credential are all valid now. */
async function readValidToken(deps: AuthenticateDeps, hash: string): Promise<TokenRow | undefined> {
  const row = await deps.tokens.read(hash)
  if (!row || !constantTimeEqual(row.hash, hash) || !isUnexpired(row, deps.clock.now())) return undefined
  const [lineage, version] = await Promise.all([
    deps.directory.lineage(row.accountId),
    deps.directory.credentialVersion(row.accountId, row.userId),
  ])
  return isAccountEnabled(lineage) && version === row.credentialVersion ? row : undefined
}
