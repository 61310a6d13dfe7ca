import { type PostgresStoreOptions, postgresStore } from 'hookswitch/postgres'
import type { Store, Webhook } from 'hookswitch/store'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { candidateReader } from '../../../adapters/storage/postgres/candidates.js'
import type { Session } from '../../../adapters/storage/postgres/session.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const quiet = () => {}
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const HOOK = 'channel_create'

describe.skipIf(!server)('candidates of the PostgreSQL store', () => {
  const direct = server!
  let schema = ''
  let stores: Store[] = []

  async function openStore(options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
    const store = postgresStore({ connectionString: direct.url, schema, ...options } as PostgresStoreOptions)
    stores.push(store)
    await store.open({ clock: systemClock(), log })
    return store
  }
  beforeEach(() => {
    schema = direct.freshSchema()
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
  })

  const idsOf = (webhooks: readonly Webhook[]) => webhooks.map(({ id }) => id).sort()
  const candidates = async (store: Store, accounts = ['account']) =>
    idsOf(await store.webhooks.candidates(accounts, HOOK))

  it('a node sees a change of another node at once, whatever it has cached', async () => {
    const [here, there] = [await openStore(), await openStore()]
    expect(await candidates(here)).toEqual([])
    expect(await candidates(there)).toEqual([])
    const webhook = newWebhook()
    await here.webhooks.insert(webhook)
    expect(await candidates(there)).toEqual([webhook.id])
    expect(await candidates(there)).toEqual([webhook.id])
    const other = newWebhook({ settings: { hook: 'all' } })
    await there.webhooks.insert(other)
    expect(await candidates(here)).toEqual(idsOf([webhook, other]))
    const moved = { ...webhook, revision: 2, settings: { ...webhook.settings, hook: 'channel_destroy' } }
    expect(await here.webhooks.replace(moved, 1)).toBe(true)
    expect(await candidates(there)).toEqual([other.id])
    expect(await candidates(here)).toEqual([other.id])
  })

  it('a manual change of the table is seen', async () => {
    const store = await openStore()
    const [remaining, removed] = [newWebhook(), newWebhook()]
    await store.webhooks.insert(remaining)
    await store.webhooks.insert(removed)
    expect(await candidates(store)).toHaveLength(2)
    await direct.sql(`delete from "${schema}".webhook where id = '${removed.id}'`)
    expect(await candidates(store)).toEqual([remaining.id])
    await direct.sql(`update "${schema}".webhook set deleted_ms = 1`)
    expect(await candidates(store)).toEqual([])
  })

  it('a change of health or of another account does not invalidate the cache', async () => {
    const store = await openStore()
    const webhook = newWebhook()
    await store.webhooks.insert(webhook)
    const [before] = await store.webhooks.candidates(['account'], HOOK)
    await direct.sql(`update "${schema}".webhook set health = '{}'`)
    await store.webhooks.insert(newWebhook({ accountId: 'another' }))
    expect((await store.webhooks.candidates(['account'], HOOK))[0]).toBe(before)
  })

  it('several accounts are read together, also when one is named twice', async () => {
    const store = await openStore()
    const [first, second] = [newWebhook({ accountId: 'one' }), newWebhook({ accountId: 'two' })]
    await store.webhooks.insert(first)
    await store.webhooks.insert(second)
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await candidates(store, ['one', 'two', 'one', 'nobody'])).toEqual(idsOf([first, second]))
      expect(await candidates(store, ['two'])).toEqual([second.id])
    }
  })

  it('the result of an account without a change mark is not cached', async () => {
    const store = await openStore()
    expect(await candidates(store)).toEqual([])
    const webhook = newWebhook()
    await store.webhooks.insert(webhook)
    await direct.sql(`delete from "${schema}".webhook_change`)
    expect(await candidates(store)).toEqual([webhook.id])
  })
})

it('candidates do not wait for a statement of another call that gets no answer', async () => {
  let statements = 0
  const none = { place: 1, mark: null, doc: null, health: null }
  const query = () => (statements++ === 0 ? new Promise(() => {}) : Promise.resolve([none]))
  const { candidates } = candidateReader({ session: { query } as unknown as Session, schema: 's' })
  void candidates(['a'], HOOK)
  await new Promise(setImmediate)
  expect(await candidates(['b'], HOOK)).toEqual([])
})
