import type { PageQuery, UserConditions } from '../../accounts/account-store.js'
import { type User, userNameKey, userRevision, userSortKey } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
import { assertRevision, pageOf } from './page.js'
import { deleteInner, innerMap } from './state.js'

const usernameTaken = () => new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })

/** Users, indexed by account with id, by account with name, and by account with credential key. */
export function memoryUsers(accountExists: (accountId: string) => boolean) {
  const byAccount = new Map<string, Map<string, User>>()
  const idByName = new Map<string, Map<string, string>>()
  /** By account, then credential key. */
  const byCredential = new Map<string, Map<string, User>>()

  const unindex = (user: User) => {
    deleteInner(byAccount, user.accountId, user.id)
    deleteInner(idByName, user.accountId, userNameKey(user))
    for (const key of user.credentialKeys) deleteInner(byCredential, user.accountId, key)
  }
  /** Ids of removed users by account. */
  const removedIds = new Map<string, Set<string>>()
  const removeUser = (
    accountId: string,
    userId: string,
    conditions: Pick<UserConditions, 'revision'> = {},
  ): boolean => {
    const user = byAccount.get(accountId)?.get(userId)
    if (!user) return false
    assertRevision(userId, userRevision(user), conditions.revision)
    unindex(user)
    const removed = removedIds.get(accountId)
    if (removed) removed.add(userId)
    else removedIds.set(accountId, new Set([userId]))
    return true
  }

  return {
    /** Rejects users of a new account that share a name. */
    rejectDuplicateNames(users: readonly User[]): void {
      if (new Set(users.map(userNameKey)).size < users.length) throw usernameTaken()
    },
    putUser(user: User, { revision, isNew }: UserConditions = {}): void {
      if (!accountExists(user.accountId)) throw notFound(user.accountId, 'account')
      const before = byAccount.get(user.accountId)?.get(user.id)
      if (isNew && (before || removedIds.get(user.accountId)?.has(user.id))) {
        throw new HookswitchError('Conflict', 'this id is taken or was used before', { field: 'id' })
      }
      if (revision !== undefined && !before) throw notFound(user.id, 'user')
      if (before) assertRevision(user.id, userRevision(before), revision)
      const name = userNameKey(user)
      const holder = idByName.get(user.accountId)?.get(name)
      if (holder !== undefined && holder !== user.id) throw usernameTaken()
      if (before) unindex(before)
      innerMap(byAccount, user.accountId).set(user.id, user)
      innerMap(idByName, user.accountId).set(name, user.id)
      for (const key of user.credentialKeys) innerMap(byCredential, user.accountId).set(key, user)
    },
    removeUser,
    removeAll(accountId: string): void {
      for (const userId of [...(byAccount.get(accountId)?.keys() ?? [])]) removeUser(accountId, userId)
      // The id of the account is never assigned again.
      removedIds.delete(accountId)
    },
    users: (accountId: string): readonly User[] =>
      [...(byAccount.get(accountId)?.values() ?? [])].sort((a, b) =>
        userNameKey(a) < userNameKey(b) ? -1 : 1,
      ),
    userPage: (accountId: string, query: PageQuery): readonly User[] =>
      pageOf(byAccount.get(accountId)?.values() ?? [], query, userSortKey),
    userByName(accountId: string, username: string): User | undefined {
      const id = idByName.get(accountId)?.get(username.toLowerCase())
      return id === undefined ? undefined : byAccount.get(accountId)?.get(id)
    },
    user: (accountId: string, userId: string): User | undefined => byAccount.get(accountId)?.get(userId),
    userByCredential(accountIds: readonly string[], credentialKeys: readonly string[]): User | undefined {
      for (const accountId of accountIds) {
        const ofAccount = byCredential.get(accountId)
        for (const key of credentialKeys) {
          const user = ofAccount?.get(key)
          if (user) return user
        }
      }
      return undefined
    },
  }
}
