/** The rows of a new account. The host's thread builds them: strings cross to the worker faster than documents. */
import {
  type Account,
  type AccountConditions,
  type AccountStore,
  type ApiKeyRow,
  normalizeAccountName,
  normalizeRealm,
  userNameKey,
} from 'hookswitch/store'

/** A row of a new user, and its credentials. */
export interface UserRows {
  readonly id: string
  readonly nameKey: string
  readonly doc: string
  readonly credentialKeys: readonly string[]
}

/** A new account with its API key and users. */
export interface AccountRows {
  readonly account: readonly [
    id: string,
    realmKey: string,
    nameKey: string,
    parentId: string | null,
    doc: string,
  ]
  readonly apiKey: readonly [accountId: string, hash: string, doc: string]
  readonly newUsers: readonly UserRows[]
  readonly conditions: AccountConditions
}

export function accountRowsOf(
  ...[account, apiKey, newUsers, conditions = {}]: Parameters<AccountStore['insert']>
): AccountRows {
  return {
    account: accountRowOf(account),
    apiKey: apiKeyRowOf(apiKey),
    newUsers: newUsers.map((user) => ({
      id: user.id,
      nameKey: userNameKey(user),
      doc: JSON.stringify(user),
      credentialKeys: user.credentialKeys,
    })),
    conditions,
  }
}

export function accountRowOf(account: Account): AccountRows['account'] {
  const { id, realm, name, parentId = null } = account
  return [id, normalizeRealm(realm), normalizeAccountName(name), parentId, JSON.stringify(account)]
}

export function apiKeyRowOf(key: ApiKeyRow): AccountRows['apiKey'] {
  return [key.accountId, key.hash, JSON.stringify(key)]
}
