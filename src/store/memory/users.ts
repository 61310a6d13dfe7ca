import type { User } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
import { inner, removeInner } from './state.js'

const taken = () => new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })

/** Users by account and id, by account and name, and by credential key and account. */
export function memoryUsers(accountExists: (accountId: string) => boolean) {
  const byAccount = new Map<string, Map<string, User>>()
  const idByName = new Map<string, Map<string, string>>()
  /** By account, then credential key. */
  const byCredential = new Map<string, Map<string, User>>()

  const unindex = (user: User) => {
    removeInner(byAccount, user.accountId, user.id)
    removeInner(idByName, user.accountId, user.username.toLowerCase())
    for (const key of user.credentialKeys) removeInner(byCredential, user.accountId, key)
  }
  const removeUser = (accountId: string, userId: string): boolean => {
    const user = byAccount.get(accountId)?.get(userId)
    if (user) unindex(user)
    return user !== undefined
  }

  return {
    /** Refuses users of a new account that are equal in name among themselves. */
    refuseEqualNames(users: readonly User[]): void {
      if (new Set(users.map((user) => user.username.toLowerCase())).size < users.length) throw taken()
    },
    putUser(user: User): void {
      if (!accountExists(user.accountId)) throw notFound(user.accountId)
      const name = user.username.toLowerCase()
      const holder = idByName.get(user.accountId)?.get(name)
      if (holder !== undefined && holder !== user.id) throw taken()
      removeUser(user.accountId, user.id)
      inner(byAccount, user.accountId).set(user.id, user)
      inner(idByName, user.accountId).set(name, user.id)
      for (const key of user.credentialKeys) inner(byCredential, user.accountId).set(key, user)
    },
    removeUser,
    removeAll(accountId: string): void {
      for (const userId of [...(byAccount.get(accountId)?.keys() ?? [])]) removeUser(accountId, userId)
    },
    users: (accountId: string): readonly User[] =>
      [...(byAccount.get(accountId)?.values() ?? [])].sort((a, b) => (a.username < b.username ? -1 : 1)),
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
