import type { Account } from '../accounts/account.js'
import type { SignInInput } from '../auth/sign-in.js'
import type { Doc } from './webhook-doc.js'

/** What a login answers beside the token (KAZOO). `apps` is always empty: there is no app store here. */
export function loginDoc(account: Account, userId: string | undefined): Doc {
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

/** Never shown back: what is wrong with them is often that a secret stands in the wrong field. */
export const SECRET_LOGIN_FIELDS: readonly string[] = ['api_key', 'credentials']

/** The body of `api_auth`, checked by its schema. */
export const readApiAuth = (data: unknown): SignInInput => ({ apiKey: (data as { api_key: string }).api_key })

/** The body of `user_auth`, checked by its schema; `realm` is an older spelling of `account_realm` (KAZOO). */
export function readUserAuth(data: unknown): SignInInput {
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

export const apiKeyDoc = (apiKey: string): Doc => ({ api_key: apiKey })
