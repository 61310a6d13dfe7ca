/** JSON of logins and API keys. */
import type { Account } from '../accounts/account.js'
import type { SignInInput } from '../auth/sign-in.js'
import type { JsonObject } from './webhook-json.js'

/** Returns `data` of a login response (KAZOO). `apps` is always empty: there is no app store. */
export function loginJson(account: Account, userId: string | undefined): JsonObject {
  return {
    account_id: account.id,
    account_name: account.name === '' ? undefined : account.name,
    owner_id: userId,
    language: account.language,
    is_reseller: account.isReseller,
    reseller_id: account.resellerId,
    apps: [],
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

export const apiKeyJson = (apiKey: string): JsonObject => ({ api_key: apiKey })
