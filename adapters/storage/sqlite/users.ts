/** Stores users; finds them by account and id, name or credential key. */
import {
  type AccountStore,
  assertRevision,
  HookswitchError,
  notFound,
  type User,
  userNameKey,
  userRevision,
} from 'hookswitch/store'
import type { UserRows } from './account-rows.js'
import type { DocRow, Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

type UserStore = Pick<
  Synchronous<AccountStore>,
  'putUser' | 'removeUser' | 'user' | 'userByName' | 'userByCredential'
> & {
  /** What the accounts do with the rows of their users. */
  readonly userRows: {
    /** The documents of the users of an account, in any order. */
    docs(accountId: string): readonly string[]
    /** @throws HookswitchError `Conflict` when two users of a new account have the same name */
    assertDistinctNames(users: readonly UserRows[]): void
    /** Inserts the users of a new account, whose names are distinct. */
    insertAll(accountId: string, users: readonly UserRows[]): void
    removeAll(accountId: string): void
  }
}

export function createUserStore(
  { prepareQuery, prepareChange }: Statements,
  hasAccount: (accountId: string) => boolean,
): UserStore {
  const read = prepareQuery<DocRow>('select doc from hookswitch_user where account_id = ? and id = ?')
  const list = prepareQuery<DocRow>('select doc from hookswitch_user where account_id = ?')
  const put = prepareChange(
    'insert or replace into hookswitch_user (account_id, id, name_lower, doc) values (?, ?, ?, ?)',
  )
  const remove = prepareChange('delete from hookswitch_user where account_id = ? and id = ?')
  const removedId = prepareQuery<object>('select 1 from hookswitch_gone_user where account_id = ? and id = ?')
  const insertRemoved = prepareChange(
    'insert or ignore into hookswitch_gone_user (account_id, id) values (?, ?)',
  )
  const forgetRemoved = prepareChange('delete from hookswitch_gone_user where account_id = ?')
  const byName = prepareQuery<DocRow>(
    'select doc from hookswitch_user where account_id = ? and name_lower = ?',
  )
  const putCredential = prepareChange(
    'insert or replace into hookswitch_credential (account_id, key, user_id) values (?, ?, ?)',
  )
  const removeCredential = prepareChange(
    'delete from hookswitch_credential where account_id = ? and key = ? and user_id = ?',
  )
  const byCredential = prepareQuery<DocRow>(`select u.doc from hookswitch_credential c
    join hookswitch_user u on u.account_id = c.account_id and u.id = c.user_id
    where c.account_id = ? and c.key = ?`)

  function deleteRows({ accountId, id, credentialKeys }: User): void {
    for (const key of credentialKeys) removeCredential(accountId, key, id)
    remove(accountId, id)
  }

  const store: UserStore = {
    userRows: {
      docs: (accountId) => list.all(accountId).map(({ doc }) => doc),
      assertDistinctNames(users) {
        if (users.length > 1 && new Set(users.map(({ nameKey }) => nameKey)).size < users.length)
          throw nameConflict()
      },
      insertAll(accountId, users) {
        for (const { id, nameKey, doc, credentialKeys } of users) {
          put(accountId, id, nameKey, doc)
          for (const key of credentialKeys) putCredential(accountId, key, id)
        }
      },
      removeAll(accountId) {
        for (const row of list.all(accountId)) deleteRows(userOf(row))
        // The id of the account is never assigned again.
        forgetRemoved(accountId)
      },
    },
    putUser(user, { revision, isNew } = {}) {
      const { accountId, id, credentialKeys } = user
      if (!hasAccount(accountId)) throw notFound(accountId, 'account')
      const before = store.user(accountId, id)
      if (isNew && (before || removedId.get(accountId, id))) {
        throw new HookswitchError('Conflict', 'this id is taken or was used before', { field: 'id' })
      }
      if (revision !== undefined && !before) throw notFound(id, 'user')
      if (before) assertRevision(id, userRevision(before), revision)
      const name = userNameKey(user)
      const holder = byName.get(accountId, name)
      if (holder && userOf(holder).id !== id) throw nameConflict()
      if (before) deleteRows(before)
      put(accountId, id, name, JSON.stringify(user))
      for (const key of credentialKeys) putCredential(accountId, key, id)
    },
    removeUser(accountId, userId, { revision } = {}) {
      const user = store.user(accountId, userId)
      if (!user) return false
      assertRevision(userId, userRevision(user), revision)
      deleteRows(user)
      insertRemoved(accountId, userId)
      return true
    },
    user(accountId, userId) {
      const row = read.get(accountId, userId)
      return row && userOf(row)
    },
    userByName(accountId, username) {
      const row = byName.get(accountId, username.toLowerCase())
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
  return store
}

function userOf({ doc }: DocRow): User {
  return JSON.parse(doc) as User
}

function nameConflict(): HookswitchError {
  return new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })
}
