import { join } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import {
  accountRowsOf,
  readAccountRows,
  writeAccountRows,
} from '../../../adapters/storage/sqlite/account-rows.js'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { Writer } from '../../../adapters/storage/sqlite/encoded-values.js'
import { newAccount, newApiKey, newUser } from '../../../src/testkit/conformance/sample-data.js'
import { propertyRuns } from '../../support/property-runs.js'
import { openStore, rejectionOf, temporaryFolder } from './sqlite-harness.js'

const { DatabaseSync } = loadDriver()

describe('rows of new accounts that cross to the thread', () => {
  it('are read as they were written', () => {
    const text = fc.string({ unit: 'binary' })
    const insertion = fc.record({
      account: fc.record(
        { id: text, name: text, realm: text, parentId: text },
        { requiredKeys: ['id', 'name', 'realm'] },
      ),
      users: fc.array(
        fc.record({ id: text, username: text, credentialKeys: fc.array(text, { maxLength: 3 }) }),
        {
          maxLength: 3,
        },
      ),
      conditions: fc.record(
        {
          uniqueName: fc.boolean(),
          requireParent: fc.boolean(),
          acyclic: fc.boolean(),
          maxDepth: fc.nat(20),
        },
        { requiredKeys: ['uniqueName', 'requireParent', 'acyclic'] },
      ),
    })
    fc.assert(
      fc.property(fc.array(insertion, { maxLength: 5 }), (insertions) => {
        const rows = insertions.map(({ account, users, conditions }) => {
          const { id } = account
          const newUsers = users.map((user) => newUser(id, user))
          return accountRowsOf(newAccount(account), newApiKey(id), newUsers, conditions)
        })
        const to = new Writer()
        for (const row of rows) writeAccountRows(to, row)
        expect(readAccountRows(to.finish(), rows.length)).toEqual(rows)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe('accounts of a SQLite file', () => {
  it('are inserted in several requests if there are very many, and only the refused one is missing', async () => {
    const store = await openStore(sqliteStore({ path: join(temporaryFolder(), 'x.db'), inThread: true }))
    const accounts = Array.from({ length: 2_100 }, (_, nth) =>
      newAccount({ id: `a${nth}`, realm: `a${nth}.test` }),
    )
    const twice = newAccount({ id: 'twice', realm: 'a2050.test' })
    const results = await Promise.allSettled(
      [...accounts, twice].map((account) =>
        store.accounts.insert(account, newApiKey(account.id), [newUser(account.id)]),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2_100)
    expect(results.at(-1)).toMatchObject({ reason: { code: 'Conflict', field: 'realm' } })
    expect(await store.accounts.list()).toHaveLength(2_100)
    const lists = await Promise.all([...accounts, twice].map(({ id }) => store.accounts.users(id)))
    expect(lists.map(([user, ...others]) => [user?.accountId, others.length])).toEqual(
      [...accounts.map(({ id }) => id), undefined].map((id) => [id, 0]),
    )
    expect(await store.accounts.users(5 as never)).toEqual([])
    await store.close()
  })

  it('whose document is damaged reject with StoreCorrupt, which names the file and quotes nothing', async () => {
    const path = join(temporaryFolder(), 'x.db')
    const store = await openStore(sqliteStore({ path, inThread: true }))
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [newUser(account.id)])
    await store.close()
    const db = new DatabaseSync(path)
    // SQLite computes sort keys from it, and accepts it as JSON5.
    for (const table of ['account', 'user']) db.exec(`update hookswitch_${table} set doc = '[''hunter2'']'`)
    db.close()
    const damaged = await openStore(sqliteStore({ path, inThread: true }))
    for (const read of [damaged.accounts.list(), damaged.accounts.users(account.id)]) {
      const error = await rejectionOf(read)
      expect(error).toMatchObject({ code: 'StoreCorrupt' })
      expect((error as Error).message).toContain(`${path} is damaged (a text that should be JSON)`)
      expect(inspect(error)).not.toContain('hunter2')
    }
    await damaged.close()
  })
})
