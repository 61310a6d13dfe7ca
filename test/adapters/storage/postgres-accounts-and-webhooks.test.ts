import { postgresStore } from 'hookswitch/postgres'
import type { Log, Store } from 'hookswitch/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { newAccount, newApiKey, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()

async function resultOf(promise: Promise<unknown>) {
  return promise.then(
    (value) => ({ value }),
    ({ code, field, id: what, message }: Record<string, unknown>) =>
      code === 'StoreUnavailable' ? { message } : { code, field, id: what },
  )
}

describe.skipIf(!server)('accounts, users, tokens and webhooks in PostgreSQL', () => {
  const direct = server!
  const schema = direct?.freshSchema()
  let store: Store

  beforeAll(async () => {
    store = postgresStore({ connectionString: direct.url, schema })
    await store.open({ clock: systemClock(), log })
  })
  afterAll(async () => {
    await store.close()
    await direct.end()
  })

  it('a child inserted during the removal of its parent prevents the removal, or comes after it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const parent = newAccount()
      const child = newAccount({ parentId: parent.id })
      await store.accounts.insert(parent, newApiKey(parent.id), [])
      const [, removed] = await Promise.all([
        store.accounts.insert(child, newApiKey(child.id), []),
        resultOf(store.accounts.remove(parent.id, { nowMs: 0 })),
      ])
      const lineage = (await store.accounts.lineage(child.id)).map((account) => account.id)
      expect([lineage, removed]).toEqual(
        'code' in removed
          ? [[child.id, parent.id], expect.objectContaining({ code: 'Conflict' })]
          : [[child.id], { value: [] }],
      )
    }
  })

  it('an API key cannot belong to two accounts', async () => {
    const [accountA, accountB] = [newAccount(), newAccount()]
    await store.accounts.insert(accountA, newApiKey(accountA.id, { hash: 'same' }), [])
    const second = store.accounts.insert(accountB, newApiKey(accountB.id, { hash: 'same' }), [])
    await expect(second).rejects.toMatchObject({ code: 'Conflict', field: 'apiKey' })
    expect(await store.accounts.lineage(accountB.id)).toEqual([])
  })

  it('texts with special characters of SQL are stored unchanged', async () => {
    const odd = 'a\u0000b\u2028"\\ \ud83d\udcde $1 \' -- \ud800'
    const webhook = newWebhook({
      settings: { name: odd, customData: { [odd]: odd } },
      extra: { [odd]: [odd] },
    })
    await store.webhooks.insert(webhook)
    expect(await store.webhooks.read('account', webhook.id)).toEqual(webhook)
    const account = newAccount({ name: 'Ünïcode \' "quoted" \\ $1' })
    await store.accounts.insert(account, newApiKey(account.id), [])
    expect(await store.accounts.lineage(account.id)).toEqual([account])
    const rejected = resultOf(store.webhooks.read('account', 'a\u0000b'))
    expect(await rejected).toMatchObject({ code: 'InvalidInput' })
  })

  it('a value that is no text is the id of no account, and does not disturb others', async () => {
    const account = newAccount()
    await store.accounts.insert(account, newApiKey(account.id), [])
    const lineages = [7 as never, account.id].map((id) => store.accounts.lineage(id))
    expect(await Promise.all(lineages)).toEqual([[], [account]])
  })
})
