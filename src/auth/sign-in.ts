import { type Account, nameKey, realmKey } from '../accounts/account.js'
import { type CredentialMethod, credentialDigest } from '../accounts/credential.js'
import type { CredentialHolder, Directory } from '../accounts/directory.js'
import { type ErrorCode, errorCode, type Failure, invalidInput } from '../errors.js'
import type { LabelOf, Metrics } from '../metrics.js'
import type { Clock, Random } from '../ports.js'
import type { LoginLimits } from './login-limits.js'
import { accountLocked, invalidCredentials } from './refusals.js'
import { newToken, tokenRow } from './token.js'
import type { TokenStore } from './token-store.js'

/** A login: an account's API key, or a user's credentials with the realm or the name of the account. */
export type SignInInput =
  | { readonly apiKey: string }
  | {
      /** Hex of the digest of `username:password`, in any case. */
      readonly credentials: string
      /** Default `md5`. */
      readonly method?: CredentialMethod
      readonly realm?: string
      /** Counts where no account has the realm. */
      readonly accountName?: string
    }

/** A login that worked. The token is shown here only. */
export interface SignedIn {
  readonly token: string
  readonly expiresMs: number
  readonly account: Account
  /** Absent: by API key. */
  readonly userId?: string
}

export interface SignInDoors {
  readonly tokens: Pick<TokenStore, 'issue'>
  readonly directory: Directory
  readonly limits: LoginLimits
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly metrics: Pick<Metrics, 'count'>
  /** How long a token lives. */
  readonly tokenTtlMs: number
}

/** What to look up: a wrong login looks up as much as a right one. */
type Login =
  | { readonly kind: 'key'; readonly apiKey: string }
  | {
      readonly kind: 'user'
      readonly method: CredentialMethod
      readonly digest: string
      /** False: what was sent is no digest, the look-up is for the look of it. */
      readonly wellFormed: boolean
      readonly realm: string
      readonly name: string
    }

interface Found {
  readonly holder: CredentialHolder
  readonly account: Account
}

/** What a refused login counts as. One of the wrong form tried nothing, one that a store's outage ended was not judged. */
const RESULTS: Readonly<Partial<Record<ErrorCode, LabelOf<'hookswitch_logins_total'>>>> = {
  InvalidCredentials: 'failed',
  AccountLocked: 'failed',
  TooManyLogins: 'throttled',
}

/**
 * Trades an API key or a user's credentials for a token.
 *
 * @param from where the login comes from; without an address (the host itself) it is not limited
 * @throws `InvalidInput` for a login of the wrong form, `InvalidCredentials` whatever part of it is wrong,
 *   `AccountLocked` when all is right but the account is disabled, `TooManyLogins`, `StoreUnavailable`
 */
export async function signIn(
  doors: SignInDoors,
  input: SignInInput,
  from: { readonly address?: string } = {},
): Promise<SignedIn> {
  try {
    const signedIn = await tryLogin(doors, input, from)
    doors.metrics.count('hookswitch_logins_total', 1, 'succeeded')
    return signedIn
  } catch (thrown) {
    const code = errorCode(thrown)
    const result = code && RESULTS[code]
    if (result) doors.metrics.count('hookswitch_logins_total', 1, result)
    throw thrown
  }
}

async function tryLogin(
  doors: SignInDoors,
  input: SignInInput,
  from: { readonly address?: string },
): Promise<SignedIn> {
  const login = readLogin(input)
  const target = login.kind === 'user' ? `${login.realm} ${login.name}` : undefined
  doors.limits.admit(from.address, target)
  const found = login.kind === 'key' ? await byApiKey(doors, login.apiKey) : await byCredentials(doors, login)
  if (!found) {
    doors.limits.wrong(from.address, target)
    throw invalidCredentials()
  }
  if (!found.account.enabled) throw accountLocked()
  const token = newToken((count) => doors.random.bytes(count))
  const row = tokenRow(token, found.holder, doors.clock.now(), doors.tokenTtlMs)
  await doors.tokens.issue(row)
  const { userId } = found.holder
  return {
    token,
    expiresMs: row.expiresMs,
    account: found.account,
    ...(userId === undefined ? {} : { userId }),
  }
}

async function byApiKey({ directory }: SignInDoors, apiKey: string): Promise<Found | undefined> {
  const holder = await directory.holderOfApiKey(apiKey)
  if (!holder) return undefined
  const [account] = await directory.lineage(holder.accountId)
  return account && { holder, account }
}

async function byCredentials(
  { directory }: SignInDoors,
  login: Extract<Login, { kind: 'user' }>,
): Promise<Found | undefined> {
  const { method, digest } = login
  const [ofRealm, ofName] = await Promise.all([
    login.realm === '' ? [] : directory.accountsByRealm(login.realm),
    login.name === '' ? [] : directory.accountsByName(login.name),
  ])
  const accounts = ofRealm.length > 0 ? ofRealm : ofName
  const ids = (enabled: boolean) => accounts.filter((one) => one.enabled === enabled).map(({ id }) => id)
  // Enabled ones first: of two accounts with one name and one user, a closed one must not hide the open one.
  const holder =
    (await directory.holderOfCredentials(ids(true), method, digest)) ??
    (await directory.holderOfCredentials(ids(false), method, digest))
  const account = accounts.find(({ id }) => id === holder?.accountId)
  return holder && account && login.wellFormed ? { holder, account } : undefined
}

const ZEROS: Readonly<Record<CredentialMethod, string>> = { md5: '0'.repeat(32), sha: '0'.repeat(40) }

/** Throws `InvalidInput` where a login lacks a part, or has one of another type. */
function readLogin(input: SignInInput): Login {
  const given = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const { apiKey, credentials, method = 'md5', realm, accountName } = given
  const failures: Failure[] = []
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
  const known = method as CredentialMethod
  const digest = credentialDigest(known, credentials as string)
  return {
    kind: 'user',
    method: known,
    digest: digest ?? ZEROS[known],
    wellFormed: digest !== undefined,
    realm: realmKey((realm as string | undefined) ?? ''),
    name: nameKey((accountName as string | undefined) ?? ''),
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
const unknownMethod: Failure = {
  path: 'method',
  rule: 'enum',
  message: 'Value not found in enumerated list of values',
  target: ['md5', 'sha'],
}
