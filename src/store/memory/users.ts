import type { PageQuery, UserConditions } from '../../accounts/account-store.js'
import { type User, userNameKey, userRevision, userSortKey } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
import { assertRevision } from '../engine/errors.js'
import { AccountUsers } from './account-users.js'
import { pageOf } from './page.js'

const usernameTaken = () => new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })

/** Users by account. */
export function memoryUsers(accountExists: (accountId: string) => boolean) {
  const byAccount = new Map<string, AccountUsers>()
  /** Ids of removed users by account. */
  const removedIds = new Map<string, Set<string>>()
  const removeUser = (
    accountId: string,
    userId: string,
    conditions: Pick<UserConditions, 'revision'> = {},
  ): boolean => {
    const users = byAccount.get(accountId)
    const user = users?.byId(userId)
    if (!users || !user) return false
    assertRevision(userId, userRevision(user), conditions.revision)
    users.remove(user)
    if (users.size === 0) byAccount.delete(accountId)
    const removed = removedIds.get(accountId)
    if (removed) removed.add(userId)
    else removedIds.set(accountId, new Set([userId]))
    return true
  }

  return {
    /** Rejects users of a new account that share a name. */
    rejectDuplicateNames(users: readonly User[]): void {
      if (users.length > 1 && new Set(users.map(userNameKey)).size < users.length) throw usernameTaken()
    },
    putUser(user: User, { revision, isNew }: UserConditions = {}): void {
      if (!accountExists(user.accountId)) throw notFound(user.accountId, 'account')
      const users = byAccount.get(user.accountId)
      const before = users?.byId(user.id)
      if (isNew && (before || removedIds.get(user.accountId)?.has(user.id))) {
        throw new HookswitchError('Conflict', 'this id is taken or was used before', { field: 'id' })
      }
      if (revision !== undefined && !before) throw notFound(user.id, 'user')
      if (before) assertRevision(user.id, userRevision(before), revision)
      const holder = users?.byName(userNameKey(user))
      if (holder && holder.id !== user.id) throw usernameTaken()
      if (before) users?.remove(before)
      if (users) users.add(user)
      else byAccount.set(user.accountId, new AccountUsers(user))
    },
    removeUser,
    removeAll(accountId: string): void {
      byAccount.delete(accountId)
      // The id of the account is never assigned again.
      removedIds.delete(accountId)
    },
    users: (accountId: string): readonly User[] =>
      [...(byAccount.get(accountId)?.all() ?? [])].sort((a, b) => (userNameKey(a) < userNameKey(b) ? -1 : 1)),
    userPage: (accountId: string, query: PageQuery): readonly User[] =>
      pageOf(byAccount.get(accountId)?.all() ?? [], query, userSortKey),
    userByName: (accountId: string, username: string): User | undefined =>
      byAccount.get(accountId)?.byName(username.toLowerCase()),
    user: (accountId: string, userId: string): User | undefined => byAccount.get(accountId)?.byId(userId),
    userByCredential(accountIds: readonly string[], credentialKeys: readonly string[]): User | undefined {
      for (const accountId of accountIds) {
        const users = byAccount.get(accountId)
        for (const key of credentialKeys) {
          const user = users?.byCredential(key)
          if (user) return user
        }
      }
      return undefined
    },
  }
}
