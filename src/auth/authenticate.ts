import { isUsable } from '../accounts/authority.js'
import type { Directory } from '../accounts/directory.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import { equalInConstantTime } from '../values/digest.js'
import type { LiveTokens } from './live-tokens.js'
import { invalidCredentials } from './refusals.js'
import { isLive, isToken, type TokenRow, tokenHash } from './token.js'
import type { TokenStore } from './token-store.js'

/** Who sent a request: the account whose token it carries, and the user it was issued to, if to one. */
export interface Caller {
  readonly accountId: string
  /** Absent: the token was traded for the account's API key. */
  readonly userId?: string
  readonly token: string
  readonly expiresMs: number
}

export interface AuthenticateDoors {
  readonly tokens: Pick<TokenStore, 'read'>
  /** Asked directly: a cache in front of it would add its age to that of `live`. */
  readonly directory: Pick<Directory, 'lineage' | 'credentialVersion'>
  readonly live: LiveTokens
  readonly clock: Pick<Clock, 'now'>
  readonly metrics: Pick<Metrics, 'count'>
}

/**
 * Who sent this token. It is valid iff its time is not over, it is not revoked, its account is enabled and the
 * credential it was traded for is still the current one, whatever the cache holds.
 *
 * @throws `InvalidCredentials` for every cause, `StoreUnavailable`
 */
export async function authenticate(doors: AuthenticateDoors, token: string): Promise<Caller> {
  if (!isToken(token)) throw invalidCredentials()
  const hash = tokenHash(token)
  const known = doors.live.get(hash)
  doors.metrics.count('hookswitch_token_lookups_total', 1, known ? 'hit' : 'miss')
  const row = known ?? (await doors.live.find(hash, () => currentToken(doors, hash)))
  if (!row || !isLive(row, doors.clock.now())) throw invalidCredentials()
  const { accountId, userId, expiresMs } = row
  return userId === undefined ? { accountId, token, expiresMs } : { accountId, userId, token, expiresMs }
}

/** The token's row, if all that the store and the directory know of it speaks for it now. */
async function currentToken(doors: AuthenticateDoors, hash: string): Promise<TokenRow | undefined> {
  const row = await doors.tokens.read(hash)
  if (!row || !equalInConstantTime(row.hash, hash) || !isLive(row, doors.clock.now())) return undefined
  const [lineage, version] = await Promise.all([
    doors.directory.lineage(row.accountId),
    doors.directory.credentialVersion(row.accountId, row.userId),
  ])
  return isUsable(lineage) && version === row.credentialVersion ? row : undefined
}
