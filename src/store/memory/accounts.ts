import { type Account, nameKey, realmKey } from '../../accounts/account.js'
import type { ApiKeyRow } from '../../accounts/account-store.js'
import type { User } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
import { inner, removeInner } from './state.js'
import { memoryUsers } from './users.js'

/** Accounts by id, realm, name and parent, with their keys and users. */
export function memoryAccounts() {
  const byId = new Map<string, Account>()
  const idByRealm = new Map<string, string>()
  const byNameKey = new Map<string, Map<string, Account>>()
  const children = new Map<string, Map<string, Account>>()
  const keys = new Map<string, ApiKeyRow>()
  const accountByKey = new Map<string, string>()
  /** Ids that were removed: what is kept of them must not become a successor's. */
  const gone = new Set<string>()
  const users = memoryUsers((accountId) => byId.has(accountId))

  const index = (account: Account) => {
    byId.set(account.id, account)
    idByRealm.set(realmKey(account.realm), account.id)
    inner(byNameKey, nameKey(account.name)).set(account.id, account)
    if (account.parentId !== undefined) inner(children, account.parentId).set(account.id, account)
  }
  const unindex = (account: Account) => {
    byId.delete(account.id)
    idByRealm.delete(realmKey(account.realm))
    removeInner(byNameKey, nameKey(account.name), account.id)
    if (account.parentId !== undefined) removeInner(children, account.parentId, account.id)
  }
  const refuseTaken = (account: Account) => {
    const holder = idByRealm.get(realmKey(account.realm))
    if (holder === undefined || holder === account.id) return
    throw new HookswitchError('Conflict', 'this realm is taken', { field: 'realm' })
  }
  const known = (accountId: string): Account => {
    const account = byId.get(accountId)
    if (!account) throw notFound(accountId)
    return account
  }
  const putApiKey = (row: ApiKeyRow): void => {
    const before = keys.get(row.accountId)
    if (before) accountByKey.delete(before.hash)
    keys.set(row.accountId, row)
    accountByKey.set(row.hash, row.accountId)
  }

  return {
    insert(account: Account, apiKey: ApiKeyRow, newUsers: readonly User[]): void {
      if (byId.has(account.id)) throw new HookswitchError('Conflict', 'this id is taken', { field: 'id' })
      if (gone.has(account.id)) {
        throw new HookswitchError('Conflict', 'this id was used before and is not given again', {
          field: 'id',
        })
      }
      refuseTaken(account)
      users.refuseEqualNames(newUsers)
      index(account)
      putApiKey(apiKey)
      for (const user of newUsers) users.putUser(user)
    },
    update(account: Account): void {
      const before = known(account.id)
      refuseTaken(account)
      unindex(before)
      index(account)
    },
    remove(accountId: string): void {
      const account = known(accountId)
      if (children.has(accountId)) {
        throw new HookswitchError('Conflict', 'this account has accounts below it', { field: 'id' })
      }
      unindex(account)
      gone.add(accountId)
      users.removeAll(accountId)
      const key = keys.get(accountId)
      keys.delete(accountId)
      if (key) accountByKey.delete(key.hash)
    },
    lineage(accountId: string): readonly Account[] {
      const line = new Set<Account>()
      let account = byId.get(accountId)
      while (account && !line.has(account)) {
        line.add(account)
        account = account.parentId === undefined ? undefined : byId.get(account.parentId)
      }
      // Whoever asked may change what it was given.
      return Array.from(line, (one) => ({ ...one }))
    },
    descendants(accountId: string): readonly string[] {
      const found = new Set([accountId])
      // A Set walks what is added on the way, and a cycle adds nothing.
      for (const id of found) for (const child of children.get(id)?.keys() ?? []) found.add(child)
      found.delete(accountId)
      return [...found]
    },
    byRealm(realm: string): readonly Account[] {
      const id = idByRealm.get(realmKey(realm))
      return id === undefined ? [] : [known(id)]
    },
    byName: (key: string): readonly Account[] => [...(byNameKey.get(key)?.values() ?? [])],
    list: (): readonly Account[] => [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    apiKey: (accountId: string): ApiKeyRow | undefined => keys.get(accountId),
    apiKeyByHash(hash: string): ApiKeyRow | undefined {
      const accountId = accountByKey.get(hash)
      return accountId === undefined ? undefined : keys.get(accountId)
    },
    putApiKey,
    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    user: users.user,
    userByCredential: users.userByCredential,
  }
}
