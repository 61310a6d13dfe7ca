import { normalizeAccountName, normalizeRealm } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import { SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'
import { newAccount, newUser } from '../../../src/testkit/conformance/sample-data.js'
import { engineStore, temporaryDatabase } from './sqlite-engine-store.js'
import { createOldFile } from './sqlite-old-schema.js'

it('a file of schema version 3 is migrated, and its accounts and users are listed', async () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const parent = newAccount({ id: 'parent' })
  const child = newAccount({ id: 'child', name: 'Child', realm: 'child-one.example', parentId: 'parent' })
  const user = newUser('child', { username: 'Host-made' })
  const db = createOldFile(file.path, 3)
  const insert = db.prepare('insert into hookswitch_account values (?, ?, ?, ?, ?)')
  for (const account of [parent, child]) {
    const { id, realm, name, parentId = null } = account
    insert.run(id, normalizeRealm(realm), normalizeAccountName(name), parentId, JSON.stringify(account))
  }
  db.prepare('insert into hookswitch_user values (?, ?, ?, ?)').run(
    'child',
    user.id,
    'host-made',
    JSON.stringify(user),
  )
  db.close()

  const { accounts, close, db: migrated } = engineStore(file.path, { now: () => 1 })
  onTestFinished(() => close())
  expect(migrated.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({
    value: SCHEMA_VERSION,
  })
  const page = { ascending: true, limit: 9 }
  expect(await accounts.accountPage({ ...page, childrenOf: 'parent' })).toEqual([child])
  const prefix = { of: 'realm', text: 'childone' } as const
  expect(await accounts.accountPage({ ...page, descendantsOf: 'parent', prefix })).toEqual([child])
  expect(await accounts.userPage('child', page)).toEqual([user])
  await accounts.removeUser('child', user.id)
  await expect(async () => accounts.putUser(user, { isNew: true })).rejects.toMatchObject({
    code: 'Conflict',
  })
})

it('pages of children and users read an index in order', () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const { close, db } = engineStore(file.path, { now: () => 1 })
  onTestFinished(() => close())
  const planOf = (sql: string) =>
    (db.prepare(`explain query plan ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join('; ')
  const children = planOf(
    `select doc from hookswitch_account where parent_id = 'p' and (sort_key, id) > ('a', 'b')
     order by sort_key asc, id asc limit 50`,
  )
  expect(children).toMatch(/USING INDEX hookswitch_account_children \(parent_id=\? AND \(sort_key,id\)>/)
  expect(children).not.toMatch(/TEMP B-TREE/)
  const users = planOf(
    `select doc from hookswitch_user where account_id = 'p' and (sort_key, id) < ('a', 'b')
     order by sort_key desc, id desc limit 50`,
  )
  expect(users).toMatch(/USING INDEX hookswitch_user_sorted/)
  expect(users).not.toMatch(/TEMP B-TREE/)
})
