/** JSON of logins and API keys. */
import type { Account } from '../accounts/account.js'
import { resellerOf } from '../accounts/account-document.js'
import type { Caller } from '../auth/authenticate.js'
import type { CallerRights } from '../auth/authority.js'
import type { TokenRequest } from '../auth/issue-token.js'
import type { SignedIn, SignInInput } from '../auth/sign-in.js'
import type { Failure } from '../errors.js'
import { toIsoTime } from '../values/iso-time.js'
import { tokenSchema } from './body-schemas.js'
import { coerce } from './coerce.js'
import type { JsonObject } from './webhook-json.js'

/**
 * Returns `data` of a login response (KAZOO). `apps` is always empty: there is no app store.
 *
 * @param ancestors the accounts above, nearest first; one of them may be the reseller
 */
export function loginJson(
  account: Account,
  userId: string | undefined,
  ancestors: readonly Account[],
): JsonObject {
  return {
    account_id: account.id,
    account_name: account.name === '' ? undefined : account.name,
    owner_id: userId,
    language: account.language,
    is_reseller: account.isReseller,
    reseller_id: resellerOf([account, ...ancestors]),
    apps: [],
  }
}

/**
 * Returns `data` of the question what a token may do: that of its login, and its rights.
 *
 * @param lineage the account and those above it, nearest first
 */
export function tokenJson(
  [account, ...ancestors]: readonly [Account, ...Account[]],
  { userId }: Pick<Caller, 'userId'>,
  { isAdmin, isOperator, isReadOnly }: CallerRights,
): JsonObject {
  return {
    ...loginJson(account, userId, ancestors),
    priv_level: isAdmin ? 'admin' : 'user',
    is_operator: isOperator,
    is_read_only: isReadOnly,
  }
}

/** Fields never echoed in errors: a common mistake is a secret in the wrong field. */
export const SECRET_LOGIN_FIELDS: readonly string[] = ['api_key', 'credentials']

/** Parses the body of `api_auth`, already validated by its schema. */
export const parseApiKeyLogin = (data: unknown): SignInInput => ({
  apiKey: (data as { api_key: string }).api_key,
})

/**
 * Parses the body of `user_auth`, already validated by its schema. `realm` is the older name of `account_realm`
 * (KAZOO).
 */
export function parseCredentialsLogin(data: unknown): SignInInput {
  const { credentials, method, ...names } = data as {
    credentials: string
    method?: 'md5' | 'sha'
    account_realm?: string
    realm?: string
    account_name?: string
  }
  const realm = names.account_realm ?? names.realm
  return {
    credentials,
    ...(method === undefined ? {} : { method }),
    ...(realm === undefined ? {} : { realm }),
    ...(names.account_name === undefined ? {} : { accountName: names.account_name }),
  }
}

/** Longest name that is repeated, characters. */
const MAX_TARGET = 200

/** The account that a login names, without anything secret; empty for an API key. */
export function loginTarget(data: unknown): Readonly<Record<'realm' | 'accountName', string | undefined>> {
  const { account_realm, realm, account_name } = data as Readonly<Record<string, unknown>>
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_TARGET) : undefined)
  return { realm: text(account_realm ?? realm), accountName: text(account_name) }
}

/** Parses the body of `system/tokens`, without checking its values. */
export function parseTokenRequest(data: unknown): TokenRequest {
  const fields = coerce(tokenSchema, data) as Readonly<Record<string, unknown>>
  const { account_id: accountId, user_id: userId, role, ttl_seconds: ttlSeconds } = fields
  return { accountId, ...(userId !== undefined && { userId }), role, ttlSeconds } as TokenRequest
}

/** Translates the path of a failure of `parseTokenRequest` to wire names. */
export const toTokenFailure = (failure: Failure): Failure => ({
  ...failure,
  path: failure.path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
})

export const issuedTokenJson = (
  { token, expiresMs, account, userId }: SignedIn,
  { role }: TokenRequest,
): JsonObject => ({
  token,
  expires_at: toIsoTime(expiresMs),
  account_id: account.id,
  account_name: account.name === '' ? undefined : account.name,
  user_id: userId,
  role,
})

export const apiKeyJson = (apiKey: string): JsonObject => ({ api_key: apiKey })
