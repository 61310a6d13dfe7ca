import fc from 'fast-check'
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Log, Store, Webhook } from 'hookswitch/store'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import {
  newAccount,
  newApiKey,
  newToken,
  newUser,
  newWebhook,
  WALL_MS,
} from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()

/** A call of a store method, with a label for the report. */
interface Call {
  readonly label: string
  run(store: Store): Promise<unknown>
  readonly [fc.toStringMethod]: () => string
}

const id = fc.constantFrom('a', 'b', 'c', 'd')
const maybeId = fc.option(id, { nil: undefined })
const call = (label: string, run: Call['run']): Call => ({ label, run, [fc.toStringMethod]: () => label })
let keyCount = 0

/** For lists whose order the contract does not define. */
const sorted = <T>(list: readonly T[]) =>
  [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ id, realm: id, parentId: maybeId, name: id, enabled: fc.boolean() }).chain((account) => {
    const { parentId, ...rest } = account
    const row = newAccount({ ...rest, ...(parentId === undefined ? {} : { parentId }) })
    keyCount += 1
    const key = newApiKey(row.id, { hash: `hash-${keyCount}`, version: `v${keyCount}` })
    const user = newUser(row.id, { id: 'first', username: 'First', credentialKeys: ['k1'] })
    return fc.constantFrom(
      call(`insert ${JSON.stringify(account)}`, (store) => store.accounts.insert(row, key, [user])),
      call(`update ${JSON.stringify(account)}`, (store) => store.accounts.update(row)),
      call(`put key of ${row.id}`, async (store) => {
        // The contract does not define a key without an account.
        if ((await store.accounts.lineage(row.id)).length > 0) await store.accounts.putApiKey(key)
        return [await store.accounts.apiKey(row.id), await store.accounts.apiKeyByHash(key.hash)]
      }),
    )
  }),
  id.chain((one) =>
    fc.constantFrom(
      call(`remove ${one}`, (store) => store.accounts.remove(one, { nowMs: 0 })),
      call(`lineage ${one}`, (store) => store.accounts.lineage(one)),
      call(`descendants ${one}`, async (store) => sorted(await store.accounts.descendants(one))),
      call(`by realm and name ${one}`, async (store) => [
        await store.accounts.byRealm(` ${one.toUpperCase()}`),
        sorted(await store.accounts.byName(one)),
      ]),
      call('list', (store) => store.accounts.list()),
      call(`users of ${one}`, (store) => store.accounts.users(one)),
      call(`key of ${one}`, (store) => store.accounts.apiKey(one)),
    ),
  ),
  fc
    .record({ accountId: id, id, username: fc.constantFrom('x', 'X', 'y'), key: fc.constantFrom('k1', 'k2') })
    .chain(({ accountId, id: userId, username, key }) => {
      const user = newUser(accountId, { id: userId, username, credentialKeys: [`${key}-${userId}`, userId] })
      return fc.constantFrom(
        call(`put user ${accountId}/${userId} ${username}`, (store) => store.accounts.putUser(user)),
        call(`remove user ${accountId}/${userId}`, (store) => store.accounts.removeUser(accountId, userId)),
        call(`user ${accountId}/${userId}`, (store) => store.accounts.user(accountId, userId)),
        call(`user by ${key}`, (store) =>
          store.accounts.userByCredential([accountId, 'a', 'b'], [`${key}-${userId}`, 'k1', userId]),
        ),
      )
    }),
  fc.record({ hash: id, accountId: id, userId: maybeId, age: fc.nat(5) }).chain((token) => {
    const { hash, accountId, userId, age } = token
    const row = newToken(accountId, {
      hash,
      expiresMs: WALL_MS + age,
      ...(userId === undefined ? {} : { userId }),
    })
    return fc.constantFrom(
      call(`issue ${JSON.stringify(token)}`, (store) => store.tokens.issue(row)),
      call(`read token ${hash}`, (store) => store.tokens.read(hash)),
      call(`revoke ${hash}`, (store) => store.tokens.revoke(hash)),
      call(`revoke all of ${accountId}`, (store) => store.tokens.revokeAll(accountId)),
      call(`revoke of ${accountId}/${userId}`, (store) => store.tokens.revokeAll(accountId, userId ?? null)),
      // All that have expired: which ones a smaller limit leaves is not defined.
      call(`prune tokens ${age}`, (store) => store.tokens.pruneTokens(WALL_MS + age, 4)),
    )
  }),
  fc
    .record({
      id,
      accountId: id,
      hook: fc.constantFrom('all', 'channel_create'),
      name: id,
      revision: fc.nat(3),
    })
    .chain(({ id: webhookId, accountId, hook, name, revision }) => {
      const row = newWebhook({
        id: webhookId,
        accountId,
        settings: { hook, name, uri: `https://${name}.example/` },
      })
      const next: Webhook = { ...row, revision: revision + 1, epoch: 1 + (revision % 2) }
      const gone: Webhook = { ...next, deletedMs: WALL_MS, epoch: next.epoch + 1 }
      return fc.constantFrom(
        call(`insert webhook ${webhookId} of ${accountId}`, (store) => store.webhooks.insert(row)),
        call(`replace ${webhookId} of revision ${revision}`, (store) =>
          store.webhooks.replace(next, revision),
        ),
        call(`delete ${webhookId} of revision ${revision}`, (store) =>
          store.webhooks.replace(gone, revision),
        ),
        call(`read webhook ${webhookId}`, async (store) => [
          await store.webhooks.read(accountId, webhookId),
          await store.deliveries.webhookOf(webhookId),
        ]),
        call('webhooks', (store) => store.webhooks.list([accountId, 'a', 'a'])),
        call('candidates', async (store) => sorted(await store.webhooks.candidates([accountId, 'b'], hook))),
      )
    }),
)

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
  const emptyTables = async () => {
    const tables = [
      'account',
      'gone_account',
      'api_key',
      'account_user',
      'credential',
      'token',
      'webhook',
      'nudge',
    ]
    await direct.sql(tables.map((table) => `delete from ${schema}.${table};`).join('\n'))
  }
  afterEach(emptyTables)
  afterAll(async () => {
    await store.close()
    await direct.end()
  })

  it('return the same results as the memory store, whatever the history', async () => {
    const history = fc.array(calls, { minLength: 20, maxLength: 80 })
    await fc.assert(
      fc
        .asyncProperty(history, async (calls) => {
          const model = memoryStore()
          await model.open({ clock: systemClock(), log })
          for (const { label, run } of calls) {
            expect({ label, ...(await resultOf(run(store))) }).toEqual({
              label,
              ...(await resultOf(run(model))),
            })
          }
        })
        .afterEach(emptyTables),
      { numRuns: 40 },
    )
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
    const [one, two] = [newAccount(), newAccount()]
    await store.accounts.insert(one, newApiKey(one.id, { hash: 'same' }), [])
    const second = store.accounts.insert(two, newApiKey(two.id, { hash: 'same' }), [])
    await expect(second).rejects.toMatchObject({ code: 'Conflict', field: 'apiKey' })
    expect(await store.accounts.lineage(two.id)).toEqual([])
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

  it('disabling a webhook waits for a group that changes its health', async () => {
    const webhook = newWebhook()
    await store.webhooks.insert(webhook)
    const { default: pg } = await import('pg')
    const changing = new pg.Client({ connectionString: direct.url })
    await changing.connect()
    await changing.query('begin')
    await changing.query(`select key from ${schema}.webhook where id = $1 for no key update`, [webhook.id])
    let done = false
    const disabled = store.webhooks
      .replace({ ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 }, 1)
      .then((written) => {
        done = true
        return written
      })
    const blocked = () =>
      direct.sql(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
    await expect.poll(blocked).toHaveLength(1)
    expect(done).toBe(false)
    await changing.query('commit')
    await changing.end()
    expect(await disabled).toBe(true)
  })
})
