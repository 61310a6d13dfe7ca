import { expect, it, onTestFinished } from 'vitest'
import { createAccountStore } from '../../../adapters/storage/sqlite/accounts.js'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { migrateSchema, SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'
import { newAccount, newApiKey } from '../../../src/testkit/conformance/sample-data.js'
import { engineStore, temporaryDatabase } from './sqlite-engine-store.js'
import { createOldFile } from './sqlite-old-schema.js'

function openedStore() {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const store = engineStore(file.path, { now: () => 1 })
  onTestFinished(() => store.close())
  return store
}

it('API keys whose hashes begin with the same ten digits are different keys', async () => {
  const { accounts } = openedStore()
  const [first, second] = ['a', 'b'].map((end) => `${'0123456789'}${end.repeat(54)}`)
  const keys = [newApiKey('one', { hash: first! }), newApiKey('two', { hash: second! })]
  for (const key of keys) await accounts.insert(newAccount({ id: key.accountId }), key, [])

  expect(await accounts.apiKeyByHash(first!)).toEqual(keys[0])
  expect(await accounts.apiKeyByHash(second!)).toEqual(keys[1])
  expect(await accounts.apiKeyByHash(`${'0123456789'}${'c'.repeat(54)}`)).toBeUndefined()

  const taken = newApiKey('three', { hash: second! })
  await expect(async () => accounts.insert(newAccount({ id: 'three' }), taken, [])).rejects.toMatchObject({
    code: 'Conflict',
    field: 'apiKey',
  })
  await expect(async () => accounts.putApiKey({ ...keys[0]!, hash: second! })).rejects.toMatchObject({
    code: 'Conflict',
    field: 'apiKey',
  })
})

it('every statement that looks for an API key by its hash uses the index', () => {
  const { db } = openedStore()
  const statements: string[] = []
  const recording = {
    prepare: (sql: string) => {
      statements.push(sql)
      return db.prepare(sql)
    },
  } as SqliteHandle
  createAccountStore(recording, { list: () => [], replace: () => undefined as never })
  const byHash = statements.filter((sql) => /from hookswitch_api_key where \S*hash/.test(sql))
  expect(byHash.length).toBe(3)
  for (const sql of byHash) {
    const plan = (db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]).map(
      ({ detail }) => detail,
    )
    expect(plan.filter((detail) => /hookswitch_api_key/.test(detail))).toEqual([
      expect.stringMatching(/SEARCH hookswitch_api_key USING INDEX hookswitch_api_key_hash \(<expr>=\?\)/),
    ])
    expect(plan.join('; ')).not.toMatch(/SCAN hookswitch/)
  }
})

it('a file of schema version 4 is migrated, and its API keys are found', async () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const key = newApiKey('one')
  const old = createOldFile(file.path, 4)
  old.prepare('insert into hookswitch_api_key values (?, ?, ?)').run('one', key.hash, JSON.stringify(key))
  migrateSchema(old, { path: file.path, field: 'path' })
  expect(old.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({
    value: SCHEMA_VERSION,
  })
  old.close()
  const { accounts, close } = engineStore(file.path, { now: () => 1 })
  onTestFinished(() => close())
  expect(await accounts.apiKeyByHash(key.hash)).toEqual(key)
})

it('no index of replays is left, in a new file and in a migrated one', () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const old = createOldFile(file.path, 9)
  onTestFinished(() => old.close())
  const indexes = (db: SqliteHandle) =>
    db
      .prepare(
        "select name from sqlite_schema where tbl_name = 'hookswitch_waiting' and sql is not null order by name",
      )
      .all()
  expect(indexes(old)).toContainEqual({ name: 'hookswitch_waiting_replay' })
  migrateSchema(old, { path: file.path, field: 'path' })
  expect(indexes(old)).toEqual(indexes(openedStore().db))
  expect(indexes(old)).not.toContainEqual({ name: 'hookswitch_waiting_replay' })
})
