import { type Account, normalizeAccountName, normalizeRealm } from '../accounts/account.js'
import { type CredentialMethod, parseCredentialDigest } from '../accounts/credential.js'
import type { CredentialHolder, Directory } from '../accounts/directory.js'
import {
  checkOptionNames,
  type ErrorCode,
  errorCode,
  type Failure,
  invalidInput,
  unknownFields,
} from '../errors.js'
import type { LabelOf, Metrics } from '../metrics.js'
import type { Clock, Random } from '../ports.js'
import { accountLocked, invalidCredentials } from './auth-errors.js'
import type { LoginRateLimiter } from './login-rate-limiter.js'
import { generateToken, newTokenRow } from './token.js'
import type { TokenStore } from './token-store.js'

/** A login: an account's API key, or a user's credentials with the account's realm or name. */
export type SignInInput =
  | { readonly apiKey: string }
  | {
      /** Hex digest of `username:password`, in any case. */
      readonly credentials: string
      /** Default `md5`. */
      readonly method?: 'md5' | 'sha' | undefined
      readonly realm?: string | undefined
      /** Used when no account has the realm. */
      readonly accountName?: string | undefined
    }

/** A new token. It is returned only here. */
export interface SignedIn {
  /** The access token. */
  readonly token: string
  /** When the token expires, in Unix milliseconds. */
  readonly expiresMs: number
  /** The account of the token. */
  readonly account: Account
  /** Absent: the account itself, as by its API key. */
  readonly userId?: string
}

interface SignInDeps {
  readonly tokens: Pick<TokenStore, 'issue'>
  readonly directory: Directory
  readonly rateLimiter: LoginRateLimiter
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly metrics: Pick<Metrics, 'count'>
  /** Lifetime of a token, in milliseconds. */
  readonly tokenTtlMs: number
}

/** A parsed login. A wrong login causes the same lookups as a correct one. */
type Login =
  | { readonly kind: 'key'; readonly apiKey: string }
  | {
      readonly kind: 'user'
      readonly method: CredentialMethod
      readonly digest: string
      /** False: the input is not a digest; the lookup is made only so that the response takes as long. */
      readonly isWellFormed: boolean
      readonly realm: string
      readonly name: string
    }

interface AuthenticatedHolder {
  readonly holder: CredentialHolder
  readonly account: Account
}

/** Metric labels of failed logins. Malformed logins and store outages are not counted: no credentials were checked. */
const RESULTS: Readonly<Partial<Record<ErrorCode, LabelOf<'hookswitch_logins_total'>>>> = {
  InvalidCredentials: 'failed',
  AccountLocked: 'failed',
  TooManyLogins: 'throttled',
}

/**
 * Issues a token for an API key or a user's credentials.
 *
 * @param from the client's address; without one (a login by the host itself) the login is not rate-limited
 * @throws `InvalidInput` for a malformed login, `InvalidCredentials` whichever part of it is wrong, `AccountLocked`
 *   when the login is correct but the account is disabled, `TooManyLogins`, `StoreUnavailable`
 */
export async function signIn(
  deps: SignInDeps,
  input: SignInInput,
  from: { readonly address?: string | undefined } = {},
): Promise<SignedIn> {
  try {
    checkOptionNames('auth.signIn', from, ['address'])
    const signedIn = await tryLogin(deps, input, from)
    deps.metrics.count('hookswitch_logins_total', 1, 'succeeded')
    return signedIn
  } catch (thrown) {
    const code = errorCode(thrown)
    const result = code && RESULTS[code]
    if (result) deps.metrics.count('hookswitch_logins_total', 1, result)
    throw thrown
  }
}

async function tryLogin(
  deps: SignInDeps,
  input: SignInInput,
  from: { readonly address?: string | undefined },
): Promise<SignedIn> {
  const login = parseLogin(input)
  const target = login.kind === 'user' ? `${login.realm} ${login.name}` : undefined
  deps.rateLimiter.consume(from.address, target)
  const found = login.kind === 'key' ? await byApiKey(deps, login.apiKey) : await byCredentials(deps, login)
  if (!found) {
    deps.rateLimiter.penalize(from.address, target)
    throw invalidCredentials()
  }
  if (!found.account.enabled) throw accountLocked()
  const token = generateToken((count) => deps.random.bytes(count))
  const row = newTokenRow(token, found.holder, deps.clock.now(), deps.tokenTtlMs)
  await deps.tokens.issue(row)
  const { userId } = found.holder
  return {
    token,
    expiresMs: row.expiresMs,
    account: found.account,
    ...(userId === undefined ? {} : { userId }),
  }
}

async function byApiKey({ directory }: SignInDeps, apiKey: string): Promise<AuthenticatedHolder | undefined> {
  const holder = await directory.holderOfApiKey(apiKey)
  if (!holder) return undefined
  const [account] = await directory.lineage(holder.accountId)
  return account && { holder, account }
}

async function byCredentials(
  { directory }: SignInDeps,
  login: Extract<Login, { kind: 'user' }>,
): Promise<AuthenticatedHolder | undefined> {
  const { method, digest } = login
  const [ofRealm, ofName] = await Promise.all([
    login.realm === '' ? [] : directory.accountsByRealm(login.realm),
    login.name === '' ? [] : directory.accountsByName(login.name),
  ])
  const accounts = ofRealm.length > 0 ? ofRealm : ofName
  const ids = (enabled: boolean) =>
    accounts.filter((account) => account.enabled === enabled).map(({ id }) => id)
  // Enabled accounts first: a disabled account must not hide an enabled one with the same name and user.
  const holder =
    (await directory.holderOfCredentials(ids(true), method, digest)) ??
    (await directory.holderOfCredentials(ids(false), method, digest))
  const account = accounts.find(({ id }) => id === holder?.accountId)
  return holder && account && login.isWellFormed ? { holder, account } : undefined
}

const LOGIN_FIELDS = ['apiKey', 'credentials', 'method', 'realm', 'accountName']

const ZEROS: Readonly<Record<CredentialMethod, string>> = { md5: '0'.repeat(32), sha: '0'.repeat(40) }

/** Throws `InvalidInput` when a part of the login is missing or has the wrong type. */
function parseLogin(input: SignInInput): Login {
  if (typeof input !== 'object' || input === null) throw invalidInput([noLogin])
  const given = input as Readonly<Record<string, unknown>>
  const { apiKey, credentials, method = 'md5', realm, accountName } = given
  const failures: Failure[] = [...unknownFields(given, 'a login', LOGIN_FIELDS)]
  for (const [path, value] of Object.entries({ apiKey, credentials, realm, accountName })) {
    if (value !== undefined && typeof value !== 'string') failures.push(wrongType(path))
  }
  if (apiKey === undefined) {
    if (credentials === undefined) failures.push(missing('credentials'))
    if (realm === undefined && accountName === undefined) failures.push(missing('realm'))
  }
  if (method !== 'md5' && method !== 'sha') failures.push(unknownMethod)
  if (failures.length > 0) throw invalidInput(failures)
  if (apiKey !== undefined) return { kind: 'key', apiKey: apiKey as string }
  const parsedMethod = method as CredentialMethod
  const digest = parseCredentialDigest(parsedMethod, credentials as string)
  return {
    kind: 'user',
    method: parsedMethod,
    digest: digest ?? ZEROS[parsedMethod],
    isWellFormed: digest !== undefined,
    realm: normalizeRealm((realm as string | undefined) ?? ''),
    name: normalizeAccountName((accountName as string | undefined) ?? ''),
  }
}

const wrongType = (path: string): Failure => ({
  path,
  rule: 'type',
  message: 'Value did not match type(s): string',
  target: 'string',
})
const missing = (path: string): Failure => ({
  path,
  rule: 'required',
  message: 'Field is required but missing',
})
const noLogin: Failure = {
  path: '',
  rule: 'type',
  message: 'a login must be an object: { apiKey }, or { credentials, realm }',
  target: 'object',
}
const unknownMethod: Failure = {
  path: 'method',
  rule: 'enum',
  message: 'Value not found in enumerated list of values',
  target: ['md5', 'sha'],
}
