/** Users of accounts, found by their credential keys. */
import { type AccountStore, HookswitchError, notFound, type User } from 'hookswitch/store'
import { constraintOf } from './errors.js'
import type { Session, Transaction } from './session.js'
import { accountStatements, type DocRow } from './sql/accounts.js'
import { userStatements } from './sql/users.js'

type UserStore = Pick<AccountStore, 'putUser' | 'removeUser' | 'users' | 'user' | 'userByCredential'>

export function postgresUsers(session: Session, schema: string) {
  const sql = userStatements(schema)
  const { lockParent: lockAccount } = accountStatements(schema)

  async function put(tx: Transaction, user: User): Promise<void> {
    const { accountId, id } = user
    try {
      await tx.query(sql.put, [accountId, id, user.username.toLowerCase(), JSON.stringify(user)])
    } catch (thrown) {
      throw constraintOf(thrown) === 'account_user_name' ? taken() : thrown
    }
    await tx.query(sql.removeCredentials, [accountId, id])
    if (user.credentialKeys.length > 0)
      await tx.query(sql.putCredentials, [accountId, id, user.credentialKeys])
  }

  return {
    /** Inserts the users of a new account, in its transaction. */
    async insertAll(tx: Transaction, users: readonly User[]): Promise<void> {
      for (const user of users) await put(tx, user)
    },
    putUser: (user) =>
      session.transaction(async (tx) => {
        // Locked, so that a removal of the account does not leave this user behind.
        if ((await tx.query(lockAccount, [user.accountId])).length === 0)
          throw notFound(user.accountId, 'account')
        await put(tx, user)
      }),
    async removeUser(accountId, userId) {
      return (await session.query(sql.remove, [accountId, userId])).length > 0
    },
    async users(accountId) {
      const rows = await session.query<DocRow>(sql.list, [accountId])
      return rows.map(userOf).sort((a, b) => (a.username < b.username ? -1 : 1))
    },
    async user(accountId, userId) {
      const [row] = await session.query<DocRow>(sql.read, [accountId, userId])
      return row && userOf(row)
    },
    async userByCredential(accountIds, credentialKeys) {
      const [row] = await session.query<DocRow>(sql.byCredential, [accountIds, credentialKeys])
      return row && userOf(row)
    },
  } satisfies UserStore & { insertAll(tx: Transaction, users: readonly User[]): Promise<void> }
}

function userOf({ doc }: DocRow): User {
  return JSON.parse(doc) as User
}

function taken(): HookswitchError {
  return new HookswitchError('Conflict', 'this user name is taken', { field: 'username' })
}
