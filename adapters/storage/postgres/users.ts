/** Users of accounts, found by their credential keys. */
import {
  type AccountStore,
  assertRevision,
  HookswitchError,
  notFound,
  type User,
  userNameKey,
  userRevision,
} from 'hookswitch/store'
import { textArray } from './binary-arrays.js'
import { constraintOf } from './errors.js'
import { placedReader } from './placed-reader.js'
import type { Session, Transaction } from './session.js'
import { accountStatements, type DocRow } from './sql/accounts.js'
import { userStatements } from './sql/users.js'

type UserStore = Pick<
  AccountStore,
  'putUser' | 'removeUser' | 'users' | 'user' | 'userByName' | 'userByCredential'
>

export function postgresUsers(session: Session, schema: string) {
  const sql = userStatements(schema)
  const { lockParent: lockAccount } = accountStatements(schema)
  const readList = placedReader<User>(session, sql.lists)

  async function put(tx: Transaction, user: User, isNew: boolean): Promise<void> {
    const { accountId, id } = user
    const values = [accountId, id, userNameKey(user), JSON.stringify(user)]
    try {
      const written = await tx.query(isNew ? sql.insert : sql.put, values)
      if (written.length === 0) throw usedId()
    } catch (thrown) {
      throw constraintOf(thrown) === 'account_user_name' ? taken() : thrown
    }
    await tx.query(sql.removeCredentials, [accountId, id])
    if (user.credentialKeys.length > 0)
      await tx.query(sql.putCredentials, [accountId, id, user.credentialKeys])
  }

  async function lockUser(tx: Transaction, accountId: string, id: string, revision: number): Promise<void> {
    const [row] = await tx.query<DocRow>(sql.lock, [accountId, id])
    if (!row) throw notFound(id, 'user')
    assertRevision(id, userRevision(userOf(row)), revision)
  }

  return {
    /** Inserts the users of new accounts, in their transaction. */
    async insertAll(tx: Transaction, users: readonly User[]): Promise<void> {
      if (users.length === 0) return
      const credentials = users.flatMap(({ accountId, id, credentialKeys }) =>
        credentialKeys.map((key) => ({ accountId, key, id })),
      )
      try {
        await tx.query(sql.insertAll, [
          textArray(users.map(({ accountId }) => accountId)),
          textArray(users.map(({ id }) => id)),
          textArray(users.map(userNameKey)),
          textArray(users.map((user) => JSON.stringify(user))),
          textArray(credentials.map(({ accountId }) => accountId)),
          textArray(credentials.map(({ key }) => key)),
          textArray(credentials.map(({ id }) => id)),
        ])
      } catch (thrown) {
        throw constraintOf(thrown) === 'account_user_name' ? taken() : thrown
      }
    },
    putUser: (user, { revision, isNew } = {}) =>
      session.transaction(async (tx) => {
        const { accountId, id } = user
        // Locked, so that a removal of the account does not leave this user behind.
        if ((await tx.query(lockAccount, [accountId])).length === 0) throw notFound(accountId, 'account')
        if (revision !== undefined) await lockUser(tx, accountId, id, revision)
        if (isNew) {
          const isUsed =
            (await tx.query(sql.lock, [accountId, id])).length > 0 ||
            (await tx.query(sql.wasRemoved, [accountId, id])).length > 0
          if (isUsed) throw usedId()
        }
        await put(tx, user, isNew ?? false)
      }),
    removeUser: (accountId, userId, { revision } = {}) =>
      session.transaction(async (tx) => {
        const [row] = await tx.query<DocRow>(sql.lock, [accountId, userId])
        if (!row) return false
        assertRevision(userId, userRevision(userOf(row)), revision)
        await tx.query(sql.remove, [accountId, userId])
        return true
      }),
    async users(accountId) {
      const users = await readList(accountId)
      return users.sort((a, b) => (userNameKey(a) < userNameKey(b) ? -1 : 1))
    },
    async user(accountId, userId) {
      const [row] = await session.query<DocRow>(sql.read, [accountId, userId])
      return row && userOf(row)
    },
    async userByName(accountId, username) {
      const [row] = await session.query<DocRow>(sql.byName, [accountId, username.toLowerCase()])
      return row && userOf(row)
    },
    async userByCredential(accountIds, credentialKeys) {
      const [row] = await session.query<DocRow>(sql.byCredential, [accountIds, credentialKeys])
      return row && userOf(row)
    },
  } satisfies UserStore & { insertAll(tx: Transaction, users: readonly User[]): Promise<void> }
}

const usedId = () => new HookswitchError('Conflict', 'this id is taken or was used before', { field: 'id' })

function userOf({ doc }: DocRow): User {
  return JSON.parse(doc) as User
}

function taken(): HookswitchError {
  return new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })
}
