import type { Account } from '../../src/accounts/account.js'
import { normalizeAccountName, normalizeRealm } from '../../src/accounts/account.js'
import type { AccountStore } from '../../src/accounts/account-store.js'
import type { ApiKeyRow } from '../../src/accounts/api-key.js'
import type { User } from '../../src/accounts/user.js'
import type { TokenRow } from '../../src/auth/token.js'
import type { TokenStore } from '../../src/auth/token-store.js'
import { HookswitchError, notFound } from '../../src/errors.js'

/** An account store over Maps that records every call in `calls`. */
export function recordingAccountStore(calls: unknown[] = []): AccountStore {
  const accounts = new Map<string, Account>()
  const keys = new Map<string, ApiKeyRow>()
  const users = new Map<string, User>()
  const taken = (field: string) => new HookswitchError('Conflict', `${field} is taken`, { field })
  const userKey = (accountId: string, userId: string) => `${accountId} ${userId}`
  const usersOf = (accountId: string) => [...users.values()].filter((user) => user.accountId === accountId)
  const isRealmTaken = ({ id, realm }: Account) =>
    [...accounts.values()].some((one) => one.realm === normalizeRealm(realm) && one.id !== id)
  const store: AccountStore = {
    async insert(account, apiKey, withUsers) {
      if (accounts.has(account.id)) throw taken('id')
      if (isRealmTaken(account)) throw taken('realm')
      accounts.set(account.id, account)
      keys.set(account.id, apiKey)
      for (const user of withUsers) users.set(userKey(account.id, user.id), user)
    },
    async update(account) {
      if (!accounts.has(account.id)) throw notFound(account.id)
      if (isRealmTaken(account)) throw taken('realm')
      accounts.set(account.id, account)
    },
    async remove(accountId) {
      if (!accounts.has(accountId)) throw notFound(accountId)
      if ((await store.descendants(accountId)).length > 0) throw taken('parentId')
      accounts.delete(accountId)
      keys.delete(accountId)
      for (const user of usersOf(accountId)) users.delete(userKey(accountId, user.id))
    },
    async lineage(accountId) {
      const lineage: Account[] = []
      let next = accounts.get(accountId)
      while (next && !lineage.includes(next)) {
        lineage.push(next)
        next = next.parentId === undefined ? undefined : accounts.get(next.parentId)
      }
      return lineage
    },
    async descendants(accountId) {
      const children = [...accounts.values()].filter((one) => one.parentId === accountId).map(({ id }) => id)
      return [...children, ...(await Promise.all(children.map((id) => store.descendants(id)))).flat()]
    },
    byRealm: async (realm) => [...accounts.values()].filter((one) => one.realm === realm),
    byName: async (key) => [...accounts.values()].filter((one) => normalizeAccountName(one.name) === key),
    list: async () => [...accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    async putUser(user) {
      if (!accounts.has(user.accountId)) throw notFound(user.accountId)
      const name = user.username.toLowerCase()
      if (usersOf(user.accountId).some((one) => one.id !== user.id && one.username.toLowerCase() === name)) {
        throw taken('username')
      }
      users.set(userKey(user.accountId, user.id), user)
    },
    removeUser: async (accountId, userId) => users.delete(userKey(accountId, userId)),
    users: async (accountId) => usersOf(accountId),
    user: async (accountId, userId) => users.get(userKey(accountId, userId)),
    userByCredential: async (accountIds, credentialKeys) =>
      [...users.values()].find(
        (user) =>
          accountIds.includes(user.accountId) &&
          user.credentialKeys.some((key) => credentialKeys.includes(key)),
      ),
    apiKey: async (accountId) => keys.get(accountId),
    apiKeyByHash: async (hash) => [...keys.values()].find((row) => row.hash === hash),
    async putApiKey(row) {
      keys.set(row.accountId, row)
    },
  }
  return recordCalls(calls, store)
}

/** A token store over a Map that records every call in `calls`. */
export function recordingTokenStore(calls: unknown[] = []): TokenStore {
  const rows = new Map<string, TokenRow>()
  return recordCalls<TokenStore>(calls, {
    async issue(row) {
      rows.set(row.hash, row)
    },
    read: async (hash) => rows.get(hash),
    revoke: async (hash) => rows.delete(hash),
    async revokeAll(accountId, holder) {
      const revoked = [...rows.values()].filter(
        (row) => row.accountId === accountId && (holder === undefined || (row.userId ?? null) === holder),
      )
      for (const row of revoked) rows.delete(row.hash)
      return revoked.length
    },
    async pruneTokens(now, limit) {
      const expired = [...rows.values()].filter((row) => row.expiresMs <= now).slice(0, limit)
      for (const row of expired) rows.delete(row.hash)
      return expired.length
    },
  })
}

/** Wraps a port so that each call is recorded with its arguments. */
function recordCalls<Port extends object>(calls: unknown[], port: Port): Port {
  const entries = Object.entries(port).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      calls.push([name, ...args])
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(entries) as Port
}
