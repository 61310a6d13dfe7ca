import { isAccountEnabled } from '../accounts/access.js'
import type { Directory } from '../accounts/directory.js'
import type { LineageCache } from '../accounts/lineage-cache.js'
import { type Failure, invalidInput, notFound, unknownFields } from '../errors.js'
import type { Clock, Random } from '../ports.js'
import { isId } from '../values/ids.js'
import { accountLocked } from './auth-errors.js'
import type { SignedIn } from './sign-in.js'
import { generateToken, newTokenRow, TOKEN_ROLES } from './token.js'
import type { TokenStore } from './token-store.js'

/** What `hs.auth.issue` takes. */
export interface TokenRequest {
  readonly accountId: string
  readonly userId?: string | undefined
  readonly role: (typeof TOKEN_ROLES)[number]
  readonly ttlSeconds: number
}

interface IssueTokenDeps {
  readonly tokens: Pick<TokenStore, 'issue'>
  readonly directory: Pick<Directory, 'credentialVersion'>
  readonly lineages: Pick<LineageCache, 'lineage'>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** Lifetime of the token of a login, in milliseconds. */
  readonly tokenTtlMs: number
}

const NAMES: readonly string[] = ['accountId', 'userId', 'role', 'ttlSeconds']

/**
 * Issues a token without a login. It is stored and revoked like that of a login: with the user, with the account, and
 * with a change of the user's password or, without a user, of the API key.
 *
 * @throws `InvalidInput` naming the field, `NotFound` for the account, or for a user who does not exist or is disabled,
 *   `AccountLocked`, `StoreUnavailable`
 */
export async function issueToken(deps: IssueTokenDeps, request: TokenRequest): Promise<SignedIn> {
  const failures = failuresOf(request, deps.tokenTtlMs / 1_000)
  if (failures.length > 0) throw invalidInput(failures)
  const { accountId, userId, role, ttlSeconds } = request
  const lineage = isId(accountId) ? await deps.lineages.lineage(accountId) : []
  const [account] = lineage
  if (!account) throw notFound(accountId, 'account')
  if (!isAccountEnabled(lineage)) throw accountLocked()
  const isUserId = userId === undefined || isId(userId)
  const credentialVersion = isUserId ? await deps.directory.credentialVersion(accountId, userId) : undefined
  if (credentialVersion === undefined)
    throw userId === undefined ? notFound(accountId, 'account') : notFound(userId, 'user')
  const token = generateToken((count) => deps.random.bytes(count))
  const holder = { accountId, credentialVersion, ...(userId !== undefined && { userId }) }
  const row = {
    ...newTokenRow(token, holder, deps.clock.now(), ttlSeconds * 1_000),
    ...(role === 'read' && { role }),
  }
  await deps.tokens.issue(row)
  return { token, expiresMs: row.expiresMs, account, ...(userId !== undefined && { userId }) }
}

function failuresOf(request: TokenRequest, maxTtlSeconds: number): readonly Failure[] {
  if (typeof request !== 'object' || request === null)
    return [{ path: '', rule: 'type', message: 'a request for a token must be an object', target: 'object' }]
  const given = request as unknown as Readonly<Record<string, unknown>>
  const { accountId, userId, role, ttlSeconds } = given
  const failures: Failure[] = [...unknownFields(given, 'a token', NAMES)]
  for (const path of ['accountId', 'role', 'ttlSeconds']) {
    if (given[path] === undefined)
      failures.push({ path, rule: 'required', message: 'Field is required but missing' })
  }
  for (const [path, value] of Object.entries({ accountId, userId })) {
    if (value !== undefined && typeof value !== 'string') failures.push(wrongType(path, 'string'))
  }
  if (role !== undefined && !(TOKEN_ROLES as readonly unknown[]).includes(role)) {
    const message = 'Value not found in enumerated list of values'
    failures.push({ path: 'role', rule: 'enum', message, target: TOKEN_ROLES })
  }
  if (ttlSeconds !== undefined && !Number.isSafeInteger(ttlSeconds)) {
    failures.push(wrongType('ttlSeconds', 'integer'))
  } else if ((ttlSeconds as number) < 1) {
    failures.push({ path: 'ttlSeconds', rule: 'minimum', message: 'Value must be at least 1', target: 1 })
  } else if ((ttlSeconds as number) > maxTtlSeconds) {
    const message = `Value must be at most ${maxTtlSeconds}`
    failures.push({ path: 'ttlSeconds', rule: 'maximum', message, target: maxTtlSeconds })
  }
  return failures
}

const wrongType = (path: string, target: string): Failure => ({
  path,
  rule: 'type',
  message: `Value did not match type(s): ${target}`,
  target,
})
