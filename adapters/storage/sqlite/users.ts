import { type AccountStore, HookswitchError, notFound, type User } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { change, type DocRow, query } from './query.js'
import type { Synchronous } from './synchronous.js'

type UserDoor = Pick<
  Synchronous<AccountStore>,
  'putUser' | 'removeUser' | 'users' | 'user' | 'userByCredential'
> & {
  /** @throws HookswitchError `Conflict` for users of a new account that are equal in name among themselves */
  refuseEqualNames(users: readonly User[]): void
  removeAll(accountId: string): void
}

/** Users by account and id, by account and name, and by account and credential key. */
export function userDoor(db: SqliteHandle, accountExists: (accountId: string) => boolean): UserDoor {
  const read = query<DocRow>(db, 'select doc from hookswitch_user where account_id = ? and id = ?')
  const list = query<DocRow>(db, 'select doc from hookswitch_user where account_id = ?')
  const holderOf = query<{ readonly id: string }>(
    db,
    'select id from hookswitch_user where account_id = ? and name_lower = ?',
  )
  const put = change(
    db,
    'insert or replace into hookswitch_user (account_id, id, name_lower, doc) values (?, ?, ?, ?)',
  )
  const remove = change(db, 'delete from hookswitch_user where account_id = ? and id = ?')
  const putCredential = change(
    db,
    'insert or replace into hookswitch_credential (account_id, key, user_id) values (?, ?, ?)',
  )
  const removeCredential = change(
    db,
    'delete from hookswitch_credential where account_id = ? and key = ? and user_id = ?',
  )
  const byCredential = query<DocRow>(
    db,
    `select u.doc from hookswitch_credential c
    join hookswitch_user u on u.account_id = c.account_id and u.id = c.user_id
    where c.account_id = ? and c.key = ?`,
  )

  const door: UserDoor = {
    refuseEqualNames(users) {
      if (new Set(users.map(({ username }) => username.toLowerCase())).size < users.length) throw taken()
    },
    putUser(user) {
      const { accountId, id, username, credentialKeys } = user
      if (!accountExists(accountId)) throw notFound(accountId)
      const name = username.toLowerCase()
      const holder = holderOf.get(accountId, name)
      if (holder && holder.id !== id) throw taken()
      door.removeUser(accountId, id)
      put(accountId, id, name, JSON.stringify(user))
      for (const key of credentialKeys) putCredential(accountId, key, id)
    },
    removeUser(accountId, userId) {
      const user = door.user(accountId, userId)
      if (!user) return false
      for (const key of user.credentialKeys) removeCredential(accountId, key, userId)
      return remove(accountId, userId) > 0
    },
    removeAll(accountId) {
      for (const { id } of door.users(accountId)) door.removeUser(accountId, id)
    },
    users: (accountId) =>
      list
        .all(accountId)
        .map(userOf)
        .sort((a, b) => (a.username < b.username ? -1 : 1)),
    user(accountId, userId) {
      const row = read.get(accountId, userId)
      return row && userOf(row)
    },
    userByCredential(accountIds, credentialKeys) {
      for (const accountId of accountIds) {
        for (const key of credentialKeys) {
          const row = byCredential.get(accountId, key)
          if (row) return userOf(row)
        }
      }
      return undefined
    },
  }
  return door
}

function userOf({ doc }: DocRow): User {
  return JSON.parse(doc) as User
}

function taken(): HookswitchError {
  return new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })
}
