/** Stores accounts and their API keys; finds accounts by id, realm, name and parent. Users are in `users.ts`. */
import {
  type Account,
  type AccountConditions,
  type ApiKeyRow,
  accountRevision,
  assertPlacement,
  assertRevision,
  checksPlacement,
  deleteWebhook,
  errorCode,
  HookswitchError,
  normalizeRealm,
  notFound,
  placementOf,
  type WebhookStore,
} from 'hookswitch/store'
import { createAccountPages } from './account-pages.js'
import { type AccountRows, accountRowOf, apiKeyRowOf, readAccountRows } from './account-rows.js'
import type { DocRow, Statements } from './query.js'
import type { RefusedAccount, RpcAccounts } from './rpc-methods.js'
import { serializeError } from './serialized-error.js'
import type { Synchronous } from './synchronous.js'
import { createUserStore } from './users.js'

interface IdRow {
  readonly id: string
}

/** By the index `hookswitch_api_key_hash` (`schema.ts`). Takes the hash twice. */
const HAS_HASH = 'substr(hash, 1, 10) = substr(?, 1, 10) and hash = ?'

export function createAccountStore(
  statements: Statements,
  webhooks: Pick<Synchronous<WebhookStore>, 'list' | 'replace'>,
): Synchronous<RpcAccounts> {
  const { prepareQuery, prepareChange } = statements
  const exists = prepareQuery<IdRow>('select id from hookswitch_account where id = ?')
  const removedId = prepareQuery<IdRow>('select id from hookswitch_gone_account where id = ?')
  const holderOf = prepareQuery<IdRow>('select id from hookswitch_account where realm_key = ?')
  /** All that a new account could collide with. */
  const holders = prepareQuery<{
    readonly isTaken: number
    readonly wasRemoved: number
    readonly realmHolder: string | null
    readonly keyHolder: string | null
  }>(`select exists (select 1 from hookswitch_account where id = ?) as isTaken,
      exists (select 1 from hookswitch_gone_account where id = ?) as wasRemoved,
      (select id from hookswitch_account where realm_key = ?) as realmHolder,
      (select account_id from hookswitch_api_key where ${HAS_HASH}) as keyHolder`)
  const put = prepareChange(
    'insert or replace into hookswitch_account (id, realm_key, name_key, parent_id, doc) values (?, ?, ?, ?, ?)',
  )
  const child = prepareQuery<IdRow>('select id from hookswitch_account where parent_id = ? limit 1')
  const children = prepareQuery<IdRow>('select id from hookswitch_account where parent_id = ?')
  const parent = prepareQuery<{ readonly parentId: string | null }>(
    'select parent_id as parentId from hookswitch_account where id = ?',
  )
  const tree = {
    parentOf: (accountId: string) => parent.get(accountId)?.parentId,
    childrenOf: (accountId: string) => children.all(accountId).map(({ id }) => id),
  }
  const remove = prepareChange('delete from hookswitch_account where id = ?')
  const removeKey = prepareChange('delete from hookswitch_api_key where account_id = ?')
  const insertRemoved = prepareChange('insert or ignore into hookswitch_gone_account (id) values (?)')
  const read = prepareQuery<DocRow>('select doc from hookswitch_account where id = ?')
  const byRealm = prepareQuery<DocRow>('select doc from hookswitch_account where realm_key = ?')
  const byName = prepareQuery<DocRow>('select doc from hookswitch_account where name_key = ?')
  const otherWithName = prepareQuery<IdRow>(
    'select id from hookswitch_account where name_key = ? and id <> ? limit 1',
  )
  const list = prepareQuery<DocRow>('select doc from hookswitch_account order by id')
  const apiKey = prepareQuery<DocRow>('select doc from hookswitch_api_key where account_id = ?')
  const byHash = prepareQuery<DocRow>(`select doc from hookswitch_api_key where ${HAS_HASH}`)
  const putKey = prepareChange(
    'insert or replace into hookswitch_api_key (account_id, hash, doc) values (?, ?, ?)',
  )
  const { userRows, ...users } = createUserStore(
    statements,
    (accountId) => exists.get(accountId) !== undefined,
  )

  function assertRealmFree([id, realmKey]: AccountRows['account']): void {
    const holder = holderOf.get(realmKey)
    if (holder && holder.id !== id) throw conflict('realm', 'this realm is taken')
  }

  function assertConditions(
    [id, , nameKey, parentId]: AccountRows['account'],
    conditions: AccountConditions,
  ): void {
    const { uniqueName, requireParent } = conditions
    if (checksPlacement(conditions)) {
      assertPlacement(placementOf(tree, { id, parentId }, conditions), conditions)
    }
    if (requireParent && parentId !== null && !exists.get(parentId)) throw notFound(parentId, 'account')
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
    const row = byHash.get(hash, hash)
    if (row && apiKeyOf(row).accountId !== accountId) throw conflict('apiKey', 'this API key is taken')
  }

  function insertRows({ account, apiKey, newUsers, conditions }: AccountRows): void {
    const [id, realmKey] = account
    const [, hash] = apiKey
    const found = holders.get(id, id, realmKey, hash, hash)!
    if (found.isTaken) throw conflict('id', 'this id is taken')
    if (found.wasRemoved) throw conflict('id', 'this id was used before and is not reused')
    if (found.realmHolder !== null) throw conflict('realm', 'this realm is taken')
    assertConditions(account, conditions)
    if (found.keyHolder !== null && found.keyHolder !== id) throw conflict('apiKey', 'this API key is taken')
    userRows.assertDistinctNames(newUsers)
    put(...account)
    putKey(...apiKey)
    userRows.insertAll(id, newUsers)
  }

  return {
    insertAll(rows, count) {
      const refused: RefusedAccount[] = []
      readAccountRows(rows, count).forEach((insertion, index) => {
        try {
          insertRows(insertion)
        } catch (thrown) {
          if (!errorCode(thrown)) throw thrown
          // It has written nothing.
          refused.push({ index, error: serializeError(thrown as HookswitchError) })
        }
      })
      return refused
    },
    update(account, conditions = {}) {
      readExisting(account.id, conditions.revision)
      const row = accountRowOf(account)
      assertRealmFree(row)
      assertConditions(row, conditions)
      put(...row)
    },
    remove(accountId, { nowMs, revision }) {
      readExisting(accountId, revision)
      if (child.get(accountId)) throw conflict('id', 'this account has accounts below it')
      remove(accountId)
      insertRemoved(accountId)
      userRows.removeAll(accountId)
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
    byRealm: (realm) => byRealm.all(normalizeRealm(realm)).map(accountOf),
    byName: (key) => byName.all(key).map(accountOf),
    listDocs: () => jsonArray(list.all().map(({ doc }) => doc)),

    apiKey(accountId) {
      const row = apiKey.get(accountId)
      return row && apiKeyOf(row)
    },
    apiKeyByHash(hash) {
      const row = byHash.get(hash, hash)
      return row && apiKeyOf(row)
    },
    putApiKey(key) {
      assertApiKeyFree(key)
      putKey(...apiKeyRowOf(key))
    },

    userDocs: (accountIds) => jsonArray(accountIds.map((id) => jsonArray(userRows.docs(id)))),
    ...createAccountPages(statements),
    ...users,
  }
}

function jsonArray(items: readonly string[]): string {
  return `[${items.join(',')}]`
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
