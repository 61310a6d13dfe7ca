/** The rows of new accounts. The host's thread builds and encodes them. */
import {
  type Account,
  type AccountConditions,
  type AccountStore,
  type ApiKeyRow,
  normalizeAccountName,
  normalizeRealm,
  userNameKey,
} from 'hookswitch/store'
import { type Encoded, Reader, type Writer } from './encoded-values.js'

/** In place of a `maxDepth`. */
const NO_LIMIT = -1

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

/** Appends the rows of one account. */
export function writeAccountRows(to: Writer, { account, apiKey, newUsers, conditions }: AccountRows): void {
  const [id, realmKey, nameKey, parentId, doc] = account
  to.string(id)
  to.string(realmKey)
  to.string(nameKey)
  to.optionalString(parentId ?? undefined)
  to.string(doc)
  for (const text of apiKey) to.string(text)
  to.list(newUsers, (user) => {
    to.string(user.id)
    to.string(user.nameKey)
    to.string(user.doc)
    to.list(user.credentialKeys, (key) => to.string(key))
  })
  to.number(conditions.uniqueName ? 1 : 0)
  to.number(conditions.requireParent ? 1 : 0)
  to.number(conditions.acyclic ? 1 : 0)
  to.number(conditions.maxDepth ?? NO_LIMIT)
}

function conditionsOf(from: Reader): AccountConditions {
  const [uniqueName, requireParent, acyclic] = [from.number() === 1, from.number() === 1, from.number() === 1]
  const maxDepth = from.number()
  return { uniqueName, requireParent, acyclic, ...(maxDepth === NO_LIMIT ? {} : { maxDepth }) }
}

/** Reads the rows of `count` accounts. */
export function readAccountRows(encoded: Encoded, count: number): readonly AccountRows[] {
  const from = new Reader(encoded)
  return Array.from({ length: count }, () => ({
    account: [from.string(), from.string(), from.string(), from.optionalString() ?? null, from.string()],
    apiKey: [from.string(), from.string(), from.string()],
    newUsers: from.list(() => ({
      id: from.string(),
      nameKey: from.string(),
      doc: from.string(),
      credentialKeys: from.list(() => from.string()),
    })),
    conditions: conditionsOf(from),
  }))
}
