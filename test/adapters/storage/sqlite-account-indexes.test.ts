import { expect, it } from 'vitest'
import { createAccountStore } from '../../../adapters/storage/sqlite/accounts.js'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { statementsOf } from '../../../adapters/storage/sqlite/query.js'
import { newAccount, newApiKey } from '../../../src/testkit/conformance/sample-data.js'
import { openEngine } from './sqlite-engine-store.js'

it('API keys whose hashes begin with the same ten digits are different keys', async () => {
  const { accounts } = openEngine(1)
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
  const { db } = openEngine(1)
  const statements: string[] = []
  const recording = {
    prepare: (sql: string) => {
      statements.push(sql)
      return db.prepare(sql)
    },
  } as SqliteHandle
  createAccountStore(statementsOf(recording), { list: () => [], replace: () => undefined as never })
  const byHash = statements.filter((sql) => /from hookswitch_api_key where \S*hash/.test(sql))
  expect(byHash.length).toBe(2)
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

it('pages of children and users read an index in order', () => {
  const { db } = openEngine(1)
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
