/** Accounts, with their API keys and users. */
import {
  type Account,
  type AccountConditions,
  type AccountStore,
  type ApiKeyRow,
  accountRevision,
  applyReplacement,
  assertPlacement,
  assertRevision,
  checksPlacement,
  deleteWebhook,
  HookswitchError,
  normalizeAccountName,
  normalizeRealm,
  notFound,
  type Placement,
  shardOf,
  type User,
} from 'hookswitch/store'
import { postgresAccountPages } from './account-pages.js'
import { textArray } from './binary-arrays.js'
import { constraintOf } from './errors.js'
import { createGroupCommit } from './group-commit.js'
import { ALL_SHARDS, createOwnerVersions } from './owner-versions.js'
import { placedReader } from './placed-reader.js'
import { type WebhookRow, webhookOf } from './rows.js'
import type { Transaction } from './session.js'
import type { Deps, Queue } from './session-deps.js'
import { accountStatements, type DocRow } from './sql/accounts.js'
import { webhookStatements } from './sql/webhooks.js'
import type { Statement } from './statement.js'
import { postgresUsers } from './users.js'
import { valuesOf as webhookValuesOf } from './webhooks.js'

/** Accounts in one transaction. */
const MAX_INSERTIONS = 1_000
/** Transactions at the same time: the server executes one while it flushes another, or waits for this process. */
const MAX_TRANSACTIONS = 2

/** A new account with its API key and users. */
interface Insertion {
  readonly account: Account
  readonly apiKey: ApiKeyRow
  readonly newUsers: readonly User[]
}

export function postgresAccounts(
  { session, schema }: Pick<Deps, 'session' | 'schema'>,
  queue: Pick<Queue, 'notify'>,
): AccountStore {
  const sql = accountStatements(schema)
  const webhookSql = webhookStatements(schema)
  const versions = createOwnerVersions(schema)
  const pages = postgresAccountPages(session, schema)
  const users = postgresUsers(session, schema)

  const values = (account: Account) => [
    account.id,
    normalizeRealm(account.realm),
    normalizeAccountName(account.name),
    account.parentId ?? null,
    JSON.stringify(account),
  ]
  /** Before the locks of rows: a transaction that waits for the tree holds nothing. */
  const checkPlacement = async (
    tx: Transaction,
    { id, parentId }: Account,
    conditions: AccountConditions,
    lock: Statement,
  ) => {
    if (!checksPlacement(conditions)) return
    await tx.query(lock, [`hookswitch account tree ${schema}`])
    // A separate statement, which sees what the transactions that held the lock committed.
    const facts = [id, parentId ?? null, conditions.maxDepth ?? 0]
    const [placement] = await tx.query<Placement>(sql.placement, facts)
    assertPlacement(placement!, conditions)
  }
  const lockParent = async (tx: Transaction, { parentId }: Account, { requireParent }: AccountConditions) => {
    if (parentId === undefined) return
    const held = await tx.query(sql.lockParent, [parentId])
    if (requireParent && held.length === 0) throw notFound(parentId, 'account')
  }
  const lockRevision = async (tx: Transaction, accountId: string, revision: number | undefined) => {
    const [row] = await tx.query<DocRow>(sql.lock, [accountId])
    if (!row) throw notFound(accountId, 'account')
    assertRevision(accountId, accountRevision(JSON.parse(row.doc) as Account), revision)
  }
  /** After the other locks: a transaction that holds a name waits for no row that another one may have locked. */
  const assertNameFree = async (
    tx: Transaction,
    { id, name }: Account,
    { uniqueName }: AccountConditions,
  ) => {
    const nameKey = normalizeAccountName(name)
    if (!uniqueName || nameKey === '') return
    await tx.query(sql.lockName, [`hookswitch account name ${schema} ${nameKey}`])
    // A separate statement, which sees what the transaction that held the lock committed.
    if ((await tx.query(sql.otherWithName, [nameKey, id])).length > 0)
      throw taken('name', 'this name is taken')
  }
  const readOne = async <T>(
    statement: (typeof sql)[keyof typeof sql],
    value: string,
  ): Promise<T | undefined> => {
    const [row] = await session.query<DocRow>(statement, [value])
    return row && (JSON.parse(row.doc) as T)
  }
  const all = async (statement: (typeof sql)[keyof typeof sql], args: readonly unknown[]) =>
    (await session.query<DocRow>(statement, args)).map(({ doc }) => JSON.parse(doc) as Account)

  const insertOne =
    ({ account, apiKey, newUsers }: Insertion, conditions: AccountConditions) =>
    async (tx: Transaction): Promise<void> => {
      await checkPlacement(tx, account, conditions, sql.shareTree)
      await lockParent(tx, account, conditions)
      await assertNameFree(tx, account, conditions)
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
    }
  /** Inserts all or none. Rejects if one of them is refused, without saying which. */
  const insertAll = (insertions: readonly Insertion[]) => async (tx: Transaction) => {
    // In the order of their ids, so that nodes with the same list do not wait for each other in a circle.
    const sorted = [...insertions].sort((a, b) => (a.account.id < b.account.id ? -1 : 1))
    const parents = new Set(sorted.flatMap(({ account }) => account.parentId ?? []))
    if (parents.size > 0) await tx.query(sql.lockParents, [textArray([...parents])])
    const rows = sorted.map(({ account }) => values(account))
    const column = (at: number) => textArray(rows.map((row) => row[at] ?? null))
    const ids = column(0)
    await tx.query(sql.insertAll, [
      ids,
      column(1),
      column(2),
      column(3),
      column(4),
      textArray(sorted.map(({ apiKey }) => apiKey.hash)),
      textArray(sorted.map(({ apiKey }) => JSON.stringify(apiKey))),
    ])
    // Checked after the insert: this sees a removal that the insert waited for.
    if ((await tx.query(sql.wereRemoved, [ids])).length > 0)
      throw taken('id', 'one of several ids was used before and is not reused')
    await users.insertAll(
      tx,
      sorted.flatMap(({ newUsers }) => newUsers),
    )
  }
  /** Accounts that are inserted while a transaction is being committed share the next one; a refused group is retried one by one. */
  const together = createGroupCommit<Insertion, void>(
    async (insertions) => {
      const [first, ...others] = insertions
      await session.transaction(others.length === 0 ? insertOne(first!, {}) : insertAll(insertions))
      return insertions.map(() => ({ value: undefined }))
    },
    { maxCalls: MAX_INSERTIONS, maxGroups: MAX_TRANSACTIONS },
  )

  return {
    insert: (account, apiKey, newUsers, conditions = {}) => {
      const insertion = { account, apiKey, newUsers }
      const isUnconditional =
        !conditions.uniqueName && !conditions.requireParent && !checksPlacement(conditions)
      return isUnconditional ? together.run(insertion) : session.transaction(insertOne(insertion, conditions))
    },
    update: (account, conditions = {}) =>
      session.transaction(async (tx) => {
        await checkPlacement(tx, account, conditions, sql.lockTree)
        await lockParent(tx, account, conditions)
        if (conditions.revision !== undefined) await lockRevision(tx, account.id, conditions.revision)
        await assertNameFree(tx, account, conditions)
        const updated = await translated(tx.query(sql.update, values(account)))
        if (updated.length === 0) throw notFound(account.id, 'account')
      }),
    async remove(accountId, { nowMs, revision }) {
      const removed: string[] = []
      const written = session.transaction(async (tx) => {
        removed.length = 0
        const raised = await versions.raise(tx, ALL_SHARDS)
        await lockRevision(tx, accountId, revision)
        if ((await tx.query(sql.child, [accountId])).length > 0) {
          throw taken('id', 'this account has accounts below it')
        }
        await tx.query(sql.remove, [accountId])
        for (const row of await tx.query<WebhookRow>(webhookSql.lockAll, [accountId])) {
          const webhook = webhookOf(row)
          removed.push(webhook.id)
          const deleted = applyReplacement(webhook, deleteWebhook(webhook, nowMs))
          await tx.query(webhookSql.replace, webhookValuesOf(deleted))
        }
        await versions.record(
          tx,
          raised,
          removed.map((webhookId) => ({ webhookId })),
        )
      })
      await written.finally(() => {
        for (const id of removed) queue.notify(shardOf(id))
      })
      return removed
    },
    async wasRemoved(accountId) {
      return (await session.query(sql.wasRemoved, [accountId])).length > 0
    },
    lineage: placedReader<Account>(session, sql.lineages),
    async descendants(accountId) {
      const rows = await session.query<{ id: string }>(sql.descendants, [accountId])
      return rows.map(({ id }) => id)
    },
    countDescendants: pages.countDescendants,
    accountPage: pages.accountPage,
    byRealm: (realm) => all(sql.byRealm, [normalizeRealm(realm)]),
    byName: (key) => all(sql.byName, [key]),
    list: () => all(sql.list, []),

    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    userPage: pages.userPage,
    userByName: users.userByName,
    user: users.user,
    userByCredential: users.userByCredential,

    apiKey: (accountId) => readOne<ApiKeyRow>(sql.apiKey, accountId),
    apiKeyByHash: (hash) => readOne<ApiKeyRow>(sql.apiKeyByHash, hash),
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
