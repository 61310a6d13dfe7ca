import type { User } from '../../accounts/user.js'
import { HookswitchError, notFound } from '../../errors.js'
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
    deleteInner(idByName, user.accountId, user.username.toLowerCase())
    for (const key of user.credentialKeys) deleteInner(byCredential, user.accountId, key)
  }
  const removeUser = (accountId: string, userId: string): boolean => {
    const user = byAccount.get(accountId)?.get(userId)
    if (user) unindex(user)
    return user !== undefined
  }

  return {
    /** Rejects users of a new account that share a name. */
    rejectDuplicateNames(users: readonly User[]): void {
      if (new Set(users.map((user) => user.username.toLowerCase())).size < users.length) throw usernameTaken()
    },
    putUser(user: User): void {
      if (!accountExists(user.accountId)) throw notFound(user.accountId, 'account')
      const name = user.username.toLowerCase()
      const holder = idByName.get(user.accountId)?.get(name)
      if (holder !== undefined && holder !== user.id) throw usernameTaken()
      removeUser(user.accountId, user.id)
      innerMap(byAccount, user.accountId).set(user.id, user)
      innerMap(idByName, user.accountId).set(name, user.id)
      for (const key of user.credentialKeys) innerMap(byCredential, user.accountId).set(key, user)
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
