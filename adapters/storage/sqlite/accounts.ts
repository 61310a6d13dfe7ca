import {
  type Account,
  type AccountStore,
  type ApiKeyRow,
  HookswitchError,
  nameKey,
  notFound,
  realmKey,
} from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { change, type DocRow, query } from './query.js'
import type { Synchronous } from './synchronous.js'
import { userDoor } from './users.js'

interface IdRow {
  readonly id: string
}

/** Accounts by id, realm, name and parent, with their keys and users. */
export function accountDoor(db: SqliteHandle): Synchronous<AccountStore> {
  const exists = query<IdRow>(db, 'select id from hookswitch_account where id = ?')
  const wasRemoved = query<IdRow>(db, 'select id from hookswitch_gone_account where id = ?')
  const holderOf = query<IdRow>(db, 'select id from hookswitch_account where realm_key = ?')
  const put = change(
    db,
    'insert or replace into hookswitch_account (id, realm_key, name_key, parent_id, doc) values (?, ?, ?, ?, ?)',
  )
  const child = query<IdRow>(db, 'select id from hookswitch_account where parent_id = ? limit 1')
  const remove = change(db, 'delete from hookswitch_account where id = ?')
  const removeKey = change(db, 'delete from hookswitch_api_key where account_id = ?')
  const noteRemoved = change(db, 'insert or ignore into hookswitch_gone_account (id) values (?)')
  const read = query<DocRow>(db, 'select doc from hookswitch_account where id = ?')
  const descendants = query<IdRow>(
    db,
    `with recursive below (id) as (
      select id from hookswitch_account where parent_id = ?
      union
      select a.id from below join hookswitch_account a on a.parent_id = below.id
    ) select id from below where id <> ?`,
  )
  const byRealm = query<DocRow>(db, 'select doc from hookswitch_account where realm_key = ?')
  const byName = query<DocRow>(db, 'select doc from hookswitch_account where name_key = ?')
  const list = query<DocRow>(db, 'select doc from hookswitch_account order by id')
  const apiKey = query<DocRow>(db, 'select doc from hookswitch_api_key where account_id = ?')
  const byHash = query<DocRow>(db, 'select doc from hookswitch_api_key where hash = ?')
  const putKey = change(
    db,
    'insert or replace into hookswitch_api_key (account_id, hash, doc) values (?, ?, ?)',
  )
  const users = userDoor(db, (accountId) => exists.get(accountId) !== undefined)

  function refuseTaken(account: Account): void {
    const holder = holderOf.get(realmKey(account.realm))
    if (holder && holder.id !== account.id) throw taken('realm', 'this realm is taken')
  }

  function refuseTakenKey({ accountId, hash }: ApiKeyRow): void {
    const row = byHash.get(hash)
    if (row && keyOf(row).accountId !== accountId) throw taken('apiKey', 'this API key is taken')
  }

  function write(account: Account): void {
    const { id, realm, name, parentId = null } = account
    put(id, realmKey(realm), nameKey(name), parentId, JSON.stringify(account))
  }

  return {
    insert(account, key, newUsers) {
      if (exists.get(account.id)) throw taken('id', 'this id is taken')
      if (wasRemoved.get(account.id)) throw taken('id', 'this id was used before and is not given again')
      refuseTaken(account)
      refuseTakenKey(key)
      users.refuseEqualNames(newUsers)
      write(account)
      putKey(key.accountId, key.hash, JSON.stringify(key))
      for (const user of newUsers) users.putUser(user)
    },
    update(account) {
      if (!exists.get(account.id)) throw notFound(account.id)
      refuseTaken(account)
      write(account)
    },
    remove(accountId) {
      if (!exists.get(accountId)) throw notFound(accountId)
      if (child.get(accountId)) throw taken('id', 'this account has accounts below it')
      remove(accountId)
      noteRemoved(accountId)
      users.removeAll(accountId)
      removeKey(accountId)
    },
    lineage(accountId) {
      const line = new Map<string, Account>()
      let id: string | undefined = accountId
      while (id !== undefined && !line.has(id)) {
        const row = read.get(id)
        if (!row) break
        const account = accountOf(row)
        line.set(id, account)
        id = account.parentId
      }
      return [...line.values()]
    },
    descendants: (accountId) => descendants.all(accountId, accountId).map(({ id }) => id),
    byRealm: (realm) => byRealm.all(realmKey(realm)).map(accountOf),
    byName: (key) => byName.all(key).map(accountOf),
    list: () => list.all().map(accountOf),

    apiKey(accountId) {
      const row = apiKey.get(accountId)
      return row && keyOf(row)
    },
    apiKeyByHash(hash) {
      const row = byHash.get(hash)
      return row && keyOf(row)
    },
    putApiKey(key) {
      refuseTakenKey(key)
      putKey(key.accountId, key.hash, JSON.stringify(key))
    },

    putUser: users.putUser,
    removeUser: users.removeUser,
    users: users.users,
    user: users.user,
    userByCredential: users.userByCredential,
  }
}

function accountOf({ doc }: DocRow): Account {
  return JSON.parse(doc) as Account
}

function keyOf({ doc }: DocRow): ApiKeyRow {
  return JSON.parse(doc) as ApiKeyRow
}

function taken(field: string, message: string): HookswitchError {
  return new HookswitchError('Conflict', message, { field })
}
