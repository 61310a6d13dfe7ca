import {
  type Account,
  accountRevision,
  normalizeAccountName,
  normalizeRealm,
  searchKeyOf,
} from '../../accounts/account.js'
import type {
  AccountConditions,
  AccountQuery,
  ApiKeyRow,
  RemovalOptions,
} from '../../accounts/account-store.js'
import { assertPlacement, checksPlacement, placementOf } from '../../accounts/placement.js'
import type { User } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
import { assertRevision } from '../engine/errors.js'
import { pageOf } from './page.js'
import { deleteInner, innerMap } from './state.js'
import { memoryUsers } from './users.js'

/** The accounts port: accounts indexed by id, realm, name and parent, with their API keys and users. */
export function memoryAccounts() {
  const byId = new Map<string, Account>()
  const idByRealm = new Map<string, string>()
  /** Ids by normalized name; a set where several accounts share it, for a set takes as much memory as an account. */
  const idsByName = new Map<string, string | Set<string>>()
  const children = new Map<string, Map<string, Account>>()
  const keys = new Map<string, ApiKeyRow>()
  const accountByKey = new Map<string, string>()
  /** Ids of removed accounts, never reused: a successor would inherit their attempts. */
  const removedIds = new Set<string>()
  const users = memoryUsers((accountId) => byId.has(accountId))

  const idsOfName = (nameKey: string): Iterable<string> => {
    const ids = idsByName.get(nameKey) ?? []
    return typeof ids === 'string' ? [ids] : ids
  }
  const indexName = ({ id, name }: Account) => {
    const nameKey = normalizeAccountName(name)
    const ids = idsByName.get(nameKey)
    if (ids === undefined) idsByName.set(nameKey, id)
    else if (typeof ids === 'string') idsByName.set(nameKey, new Set([ids, id]))
    else ids.add(id)
  }
  const unindexName = ({ id, name }: Account) => {
    const nameKey = normalizeAccountName(name)
    const ids = idsByName.get(nameKey)
    if (typeof ids === 'string' || ids?.size === 1) idsByName.delete(nameKey)
    else ids?.delete(id)
  }
  const index = (account: Account) => {
    byId.set(account.id, account)
    idByRealm.set(normalizeRealm(account.realm), account.id)
    indexName(account)
    if (account.parentId !== undefined) innerMap(children, account.parentId).set(account.id, account)
  }
  const unindex = (account: Account) => {
    byId.delete(account.id)
    idByRealm.delete(normalizeRealm(account.realm))
    unindexName(account)
    if (account.parentId !== undefined) deleteInner(children, account.parentId, account.id)
  }
  const rejectTakenRealm = (account: Account) => {
    const holder = idByRealm.get(normalizeRealm(account.realm))
    if (holder === undefined || holder === account.id) return
    throw new HookswitchError('Conflict', 'this realm is taken', { field: 'realm' })
  }
  const tree = {
    parentOf: (accountId: string) => byId.get(accountId)?.parentId,
    childrenOf: (accountId: string) => children.get(accountId)?.keys() ?? [],
  }
  const checkConditions = (account: Account, conditions: AccountConditions) => {
    const { uniqueName, requireParent } = conditions
    if (checksPlacement(conditions)) assertPlacement(placementOf(tree, account, conditions), conditions)
    if (requireParent && account.parentId !== undefined) existing(account.parentId)
    const nameKey = normalizeAccountName(account.name)
    if (!uniqueName || nameKey === '') return
    if ([...idsOfName(nameKey)].some((id) => id !== account.id))
      throw new HookswitchError('Conflict', 'this name is taken', { field: 'name' })
  }
  /** Ids below an account, nearest first. Iterating a Set visits entries added meanwhile; a cycle adds none. */
  function* below(accountId: string): Generator<Account> {
    const found = new Set([accountId])
    for (const id of found) {
      for (const child of children.get(id)?.values() ?? []) {
        if (found.has(child.id)) continue
        found.add(child.id)
        yield child
      }
    }
  }
  const existing = (accountId: string): Account => {
    const account = byId.get(accountId)
    if (!account) throw notFound(accountId, 'account')
    return account
  }
  const rejectTakenKey = ({ accountId, hash }: ApiKeyRow): void => {
    const holder = accountByKey.get(hash)
    if (holder === undefined || holder === accountId) return
    throw new HookswitchError('Conflict', 'this API key is taken', { field: 'apiKey' })
  }
  const putApiKey = (row: ApiKeyRow): void => {
    rejectTakenKey(row)
    const before = keys.get(row.accountId)
    if (before) accountByKey.delete(before.hash)
    keys.set(row.accountId, row)
    accountByKey.set(row.hash, row.accountId)
  }

  return {
    insert(
      account: Account,
      apiKey: ApiKeyRow,
      newUsers: readonly User[],
      conditions: AccountConditions = {},
    ): void {
      if (byId.has(account.id)) throw new HookswitchError('Conflict', 'this id is taken', { field: 'id' })
      if (removedIds.has(account.id)) {
        throw new HookswitchError('Conflict', 'this id was used before and is not reused', {
          field: 'id',
        })
      }
      rejectTakenRealm(account)
      checkConditions(account, conditions)
      rejectTakenKey(apiKey)
      users.rejectDuplicateNames(newUsers)
      index(account)
      putApiKey(apiKey)
      for (const user of newUsers) users.putUser(user)
    },
    update(account: Account, conditions: AccountConditions = {}): void {
      const before = existing(account.id)
      assertRevision(account.id, accountRevision(before), conditions.revision)
      rejectTakenRealm(account)
      checkConditions(account, conditions)
      unindex(before)
      index(account)
    },
    remove(accountId: string, { revision }: Pick<RemovalOptions, 'revision'>): void {
      const account = existing(accountId)
      assertRevision(accountId, accountRevision(account), revision)
      if (children.has(accountId)) {
        throw new HookswitchError('Conflict', 'this account has accounts below it', { field: 'id' })
      }
      unindex(account)
      removedIds.add(accountId)
      users.removeAll(accountId)
      const key = keys.get(accountId)
      keys.delete(accountId)
      if (key) accountByKey.delete(key.hash)
    },
    wasRemoved: (accountId: string): boolean => removedIds.has(accountId),
    lineage(accountId: string): readonly Account[] {
      const line = new Set<Account>()
      let account = byId.get(accountId)
      while (account && !line.has(account)) {
        line.add(account)
        account = account.parentId === undefined ? undefined : byId.get(account.parentId)
      }
      // Copies: the caller may modify them.
      return Array.from(line, (entry) => ({ ...entry }))
    },
    descendants: (accountId: string): readonly string[] => Array.from(below(accountId), ({ id }) => id),
    countDescendants: (accountIds: readonly string[], max: number): readonly number[] =>
      accountIds.map((accountId) => {
        let count = 0
        for (const _ of below(accountId)) {
          count += 1
          if (count >= max) break
        }
        return count
      }),
    accountPage(query: AccountQuery): readonly Account[] {
      const { childrenOf, descendantsOf, prefix } = query
      const accounts =
        childrenOf !== undefined
          ? (children.get(childrenOf)?.values() ?? [])
          : descendantsOf === undefined
            ? byId.values()
            : below(descendantsOf)
      const isWanted =
        prefix && ((account: Account) => searchKeyOf(account, prefix.of).startsWith(prefix.text))
      return pageOf(accounts, query, ({ name }) => name, isWanted)
    },
    byRealm(realm: string): readonly Account[] {
      const id = idByRealm.get(normalizeRealm(realm))
      return id === undefined ? [] : [existing(id)]
    },
    byName: (key: string): readonly Account[] => Array.from(idsOfName(key), existing),
    list: (): readonly Account[] => [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    apiKeyIds: (): Iterable<string> => keys.keys(),
    apiKey: (accountId: string): ApiKeyRow | undefined => keys.get(accountId),
    apiKeyByHash(hash: string): ApiKeyRow | undefined {
      const accountId = accountByKey.get(hash)
      return accountId === undefined ? undefined : keys.get(accountId)
    },
    putApiKey,
    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    userPage: users.userPage,
    userByName: users.userByName,
    user: users.user,
    userByCredential: users.userByCredential,
  }
}
