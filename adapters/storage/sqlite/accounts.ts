/** Stores accounts and their API keys; finds accounts by id, realm, name and parent. Users are in `users.ts`. */
import {
  type Account,
  type AccountConditions,
  type AccountStore,
  type ApiKeyRow,
  accountRevision,
  deleteWebhook,
  HookswitchError,
  normalizeAccountName,
  normalizeRealm,
  notFound,
  type WebhookStore,
} from 'hookswitch/store'
import { createAccountPages } from './account-pages.js'
import type { SqliteHandle } from './driver.js'
import { type DocRow, prepareChange, prepareQuery } from './query.js'
import { assertRevision } from './revision.js'
import type { Synchronous } from './synchronous.js'
import { createUserStore } from './users.js'

interface IdRow {
  readonly id: string
}

export function createAccountStore(
  db: SqliteHandle,
  webhooks: Pick<Synchronous<WebhookStore>, 'list' | 'replace'>,
): Synchronous<AccountStore> {
  const exists = prepareQuery<IdRow>(db, 'select id from hookswitch_account where id = ?')
  const removedId = prepareQuery<IdRow>(db, 'select id from hookswitch_gone_account where id = ?')
  const holderOf = prepareQuery<IdRow>(db, 'select id from hookswitch_account where realm_key = ?')
  const put = prepareChange(
    db,
    'insert or replace into hookswitch_account (id, realm_key, name_key, parent_id, doc) values (?, ?, ?, ?, ?)',
  )
  const child = prepareQuery<IdRow>(db, 'select id from hookswitch_account where parent_id = ? limit 1')
  const remove = prepareChange(db, 'delete from hookswitch_account where id = ?')
  const removeKey = prepareChange(db, 'delete from hookswitch_api_key where account_id = ?')
  const insertRemoved = prepareChange(db, 'insert or ignore into hookswitch_gone_account (id) values (?)')
  const read = prepareQuery<DocRow>(db, 'select doc from hookswitch_account where id = ?')
  const descendants = prepareQuery<IdRow>(
    db,
    `with recursive below (id) as (
      select id from hookswitch_account where parent_id = ?
      union
      select a.id from below join hookswitch_account a on a.parent_id = below.id
    ) select id from below where id <> ?`,
  )
  const byRealm = prepareQuery<DocRow>(db, 'select doc from hookswitch_account where realm_key = ?')
  const byName = prepareQuery<DocRow>(db, 'select doc from hookswitch_account where name_key = ?')
  const otherWithName = prepareQuery<IdRow>(
    db,
    'select id from hookswitch_account where name_key = ? and id <> ? limit 1',
  )
  const list = prepareQuery<DocRow>(db, 'select doc from hookswitch_account order by id')
  const apiKey = prepareQuery<DocRow>(db, 'select doc from hookswitch_api_key where account_id = ?')
  const byHash = prepareQuery<DocRow>(db, 'select doc from hookswitch_api_key where hash = ?')
  const putKey = prepareChange(
    db,
    'insert or replace into hookswitch_api_key (account_id, hash, doc) values (?, ?, ?)',
  )
  const pages = createAccountPages(db)
  const users = createUserStore(db, (accountId) => exists.get(accountId) !== undefined)

  function assertRealmFree(account: Account): void {
    const holder = holderOf.get(normalizeRealm(account.realm))
    if (holder && holder.id !== account.id) throw conflict('realm', 'this realm is taken')
  }

  function assertConditions(account: Account, { uniqueName, requireParent }: AccountConditions): void {
    const { id, name, parentId } = account
    if (requireParent && parentId !== undefined && !exists.get(parentId)) throw notFound(parentId, 'account')
    const nameKey = normalizeAccountName(name)
    if (uniqueName && nameKey !== '' && otherWithName.get(nameKey, id)) {
      throw conflict('name', 'this name is taken')
    }
  }

  function readExisting(accountId: string, revision: number | undefined): Account {
    const row = read.get(accountId)
    if (!row) throw notFound(accountId, 'account')
    const account = accountOf(row)
    assertRevision(accountId, accountRevision(account), revision)
    return account
  }

  function assertApiKeyFree({ accountId, hash }: ApiKeyRow): void {
    const row = byHash.get(hash)
    if (row && apiKeyOf(row).accountId !== accountId) throw conflict('apiKey', 'this API key is taken')
  }

  function writeAccount(account: Account): void {
    const { id, realm, name, parentId = null } = account
    put(id, normalizeRealm(realm), normalizeAccountName(name), parentId, JSON.stringify(account))
  }

  return {
    insert(account, key, newUsers, conditions = {}) {
      if (exists.get(account.id)) throw conflict('id', 'this id is taken')
      if (removedId.get(account.id)) throw conflict('id', 'this id was used before and is not reused')
      assertRealmFree(account)
      assertConditions(account, conditions)
      assertApiKeyFree(key)
      users.assertDistinctNames(newUsers)
      writeAccount(account)
      putKey(key.accountId, key.hash, JSON.stringify(key))
      for (const user of newUsers) users.putUser(user)
    },
    update(account, conditions = {}) {
      readExisting(account.id, conditions.revision)
      assertRealmFree(account)
      assertConditions(account, conditions)
      writeAccount(account)
    },
    remove(accountId, { nowMs, revision }) {
      readExisting(accountId, revision)
      if (child.get(accountId)) throw conflict('id', 'this account has accounts below it')
      remove(accountId)
      insertRemoved(accountId)
      users.removeAll(accountId)
      removeKey(accountId)
      const removed = webhooks.list([accountId])
      for (const webhook of removed) webhooks.replace(deleteWebhook(webhook, nowMs), webhook.revision)
      return removed.map(({ id }) => id)
    },
    wasRemoved: (accountId) => removedId.get(accountId) !== undefined,
    lineage(accountId) {
      const lineage = new Map<string, Account>()
      let id: string | undefined = accountId
      while (id !== undefined && !lineage.has(id)) {
        const row = read.get(id)
        if (!row) break
        const account = accountOf(row)
        lineage.set(id, account)
        id = account.parentId
      }
      return [...lineage.values()]
    },
    descendants: (accountId) => descendants.all(accountId, accountId).map(({ id }) => id),
    countDescendants: pages.countDescendants,
    accountPage: pages.accountPage,
    byRealm: (realm) => byRealm.all(normalizeRealm(realm)).map(accountOf),
    byName: (key) => byName.all(key).map(accountOf),
    list: () => list.all().map(accountOf),

    apiKey(accountId) {
      const row = apiKey.get(accountId)
      return row && apiKeyOf(row)
    },
    apiKeyByHash(hash) {
      const row = byHash.get(hash)
      return row && apiKeyOf(row)
    },
    putApiKey(key) {
      assertApiKeyFree(key)
      putKey(key.accountId, key.hash, JSON.stringify(key))
    },

    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    userPage: pages.userPage,
    userByName: users.userByName,
    user: users.user,
    userByCredential: users.userByCredential,
  }
}

function accountOf({ doc }: DocRow): Account {
  return JSON.parse(doc) as Account
}

function apiKeyOf({ doc }: DocRow): ApiKeyRow {
  return JSON.parse(doc) as ApiKeyRow
}

function conflict(field: string, message: string): HookswitchError {
  return new HookswitchError('Conflict', message, { field })
}
