/** Accounts, with their API keys and users. */
import {
  type Account,
  type AccountStore,
  type ApiKeyRow,
  HookswitchError,
  normalizeAccountName,
  normalizeRealm,
  notFound,
} from 'hookswitch/store'
import { constraintOf } from './errors.js'
import { lineageReader } from './lineages.js'
import type { Transaction } from './session.js'
import type { Deps } from './session-deps.js'
import { accountStatements, type DocRow } from './sql/accounts.js'
import { postgresUsers } from './users.js'

export function postgresAccounts({ session, schema }: Pick<Deps, 'session' | 'schema'>): AccountStore {
  const sql = accountStatements(schema)
  const users = postgresUsers(session, schema)

  const values = (account: Account) => [
    account.id,
    normalizeRealm(account.realm),
    normalizeAccountName(account.name),
    account.parentId ?? null,
    JSON.stringify(account),
  ]
  const lockParent = async (tx: Transaction, { parentId }: Account) => {
    if (parentId !== undefined) await tx.query(sql.lockParent, [parentId])
  }
  const one = async <T>(statement: (typeof sql)[keyof typeof sql], value: string): Promise<T | undefined> => {
    const [row] = await session.query<DocRow>(statement, [value])
    return row && (JSON.parse(row.doc) as T)
  }
  const all = async (statement: (typeof sql)[keyof typeof sql], args: readonly unknown[]) =>
    (await session.query<DocRow>(statement, args)).map(({ doc }) => JSON.parse(doc) as Account)

  return {
    insert: (account, apiKey, newUsers) =>
      session.transaction(async (tx) => {
        await lockParent(tx, account)
        const inserted = await tx.query(sql.insert, values(account))
        if (inserted.length === 0 && (await tx.query(sql.exists, [account.id])).length > 0) {
          throw taken('id', 'this id is taken')
        }
        // Checked after the insert: this sees a removal that the insert waited for.
        if ((await tx.query(sql.wasRemoved, [account.id])).length > 0) {
          throw taken('id', 'this id was used before and is not reused')
        }
        if (inserted.length === 0) throw taken('realm', 'this realm is taken')
        await putApiKey(tx, apiKey)
        await users.insertAll(tx, newUsers)
      }),
    update: (account) =>
      session.transaction(async (tx) => {
        await lockParent(tx, account)
        const updated = await translated(tx.query(sql.update, values(account)))
        if (updated.length === 0) throw notFound(account.id, 'account')
      }),
    remove: (accountId) =>
      session.transaction(async (tx) => {
        if ((await tx.query(sql.lock, [accountId])).length === 0) throw notFound(accountId, 'account')
        if ((await tx.query(sql.child, [accountId])).length > 0) {
          throw taken('id', 'this account has accounts below it')
        }
        await tx.query(sql.remove, [accountId])
      }),
    lineage: lineageReader(session, sql.lineages),
    async descendants(accountId) {
      const rows = await session.query<{ id: string }>(sql.descendants, [accountId])
      return rows.map(({ id }) => id)
    },
    byRealm: (realm) => all(sql.byRealm, [normalizeRealm(realm)]),
    byName: (key) => all(sql.byName, [key]),
    list: () => all(sql.list, []),

    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    user: users.user,
    userByCredential: users.userByCredential,

    apiKey: (accountId) => one<ApiKeyRow>(sql.apiKey, accountId),
    apiKeyByHash: (hash) => one<ApiKeyRow>(sql.apiKeyByHash, hash),
    putApiKey: (row) => putApiKey(session, row),
  }

  async function putApiKey(on: Transaction, row: ApiKeyRow): Promise<void> {
    await translated(on.query(sql.putApiKey, [row.accountId, row.hash, JSON.stringify(row)]))
  }
}

/** Translates a rejected row: the constraint names the field. */
async function translated<T>(written: Promise<T>): Promise<T> {
  try {
    return await written
  } catch (thrown) {
    const constraint = constraintOf(thrown)
    if (constraint === 'account_realm') throw taken('realm', 'this realm is taken')
    if (constraint === 'api_key_hash') throw taken('apiKey', 'this API key is taken')
    throw thrown
  }
}

function taken(field: string, message: string): HookswitchError {
  return new HookswitchError('Conflict', message, { field })
}
