import { isAccountEnabled } from '../accounts/access.js'
import type { Directory } from '../accounts/directory.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import { constantTimeEqual } from '../values/hash.js'
import { invalidCredentials } from './auth-errors.js'
import { hashToken, isUnexpired, isWellFormedToken } from './token.js'
import type { TokenCache, ValidToken } from './token-cache.js'
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
  /** What the user may do; absent: `admin`, as the holder of the API key. */
  readonly privLevel?: 'user' | 'admin'
  /** The token only reads, whatever its user or account may do; absent: it does what they may do. */
  readonly role?: 'read'
}

export interface AuthenticateDeps {
  readonly tokens: Pick<TokenStore, 'read'>
  /** Uncached: another cache in front of it would add its age to that of `tokenCache`. */
  readonly directory: Pick<Directory, 'lineage' | 'credentialVersion' | 'privLevelOf'>
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
  const { accountId, userId, expiresMs, privLevel, role } = row
  return {
    accountId,
    token,
    expiresMs,
    ...(userId !== undefined && { userId }),
    ...(privLevel !== undefined && { privLevel }),
    ...(role !== undefined && { role }),
  }
}

/**
 * Reads the token's row, with what its user may do now; `undefined` unless the token, its account and its credential
 * are all valid now.
 */
async function readValidToken(deps: AuthenticateDeps, hash: string): Promise<ValidToken | undefined> {
  const row = await deps.tokens.read(hash)
  if (!row || !constantTimeEqual(row.hash, hash) || !isUnexpired(row, deps.clock.now())) return undefined
  const { accountId, userId } = row
  const [lineage, version, privLevel] = await Promise.all([
    deps.directory.lineage(accountId),
    deps.directory.credentialVersion(accountId, userId),
    userId === undefined ? undefined : deps.directory.privLevelOf?.(accountId, userId),
  ])
  if (!isAccountEnabled(lineage) || version !== row.credentialVersion) return undefined
  return privLevel === undefined ? row : { ...row, privLevel }
}
