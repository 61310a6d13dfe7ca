import { postgresStore } from 'hookswitch/postgres'
import type { Log, Store } from 'hookswitch/store'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { newAccount, newUser } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { createSchemaAt, literal } from './postgres-schema-version.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
afterAll(() => server?.end())

async function openNode(schema: string): Promise<Store> {
  const store = postgresStore({ connectionString: server!.url, schema })
  await store.open({ clock: systemClock(), log })
  onTestFinished(() => store.close())
  return store
}

describe.skipIf(!server)('lists of accounts in PostgreSQL', () => {
  it('a schema of version 3 is migrated, and its accounts and users are listed', async () => {
    const schema = server!.freshSchema()
    const parent = newAccount({ id: 'parent' })
    const child = newAccount({ id: 'child', name: 'Child', realm: 'child-one.example', parentId: 'parent' })
    const user = newUser('child', { username: 'Host-made' })
    const row = ({ id, name, realm, parentId }: typeof parent, ...more: unknown[]) =>
      `(${[id, realm, name.toLowerCase()].map(literal).join()}, ${parentId ? literal(parentId) : 'null'}, ${more.map(literal).join()})`
    await createSchemaAt(
      server!,
      schema,
      3,
      `insert into account (id, realm_key, name_key, parent_id, doc) values ${row(parent, parent)}, ${row(child, child)};
      insert into account_user (account_id, id, name_key, doc)
        values ('child', ${literal(user.id)}, 'host-made', ${literal(user)})`,
    )

    const { accounts } = await openNode(schema)
    const page = { ascending: true, limit: 9 }
    expect(await accounts.accountPage({ ...page, childrenOf: 'parent' })).toEqual([child])
    const prefix = { of: 'realm', text: 'childone' } as const
    expect(await accounts.accountPage({ ...page, descendantsOf: 'parent', prefix })).toEqual([child])
    expect(await accounts.userPage('child', page)).toEqual([user])
    await accounts.removeUser('child', user.id)
    await expect(accounts.putUser(user, { isNew: true })).rejects.toMatchObject({ code: 'Conflict' })
  })
})
