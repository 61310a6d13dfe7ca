import assert from 'node:assert/strict'
import type { EncryptedKind, EncryptedRow } from '../../store/encryption-store.js'
import { type DefineRule, type Fixture, readPages, valuesOf } from './fixture.js'
import { newAccount, newApiKey, newWebhook, WALL_MS } from './sample-data.js'

/** Lists all rows of a kind. */
const listAll = ({ store }: Fixture, kind: EncryptedKind) =>
  readPages<EncryptedRow>((last, limit) => store.encryption.encryptedRows(kind, last?.id, limit))

const idsOf = (rows: readonly EncryptedRow[]) => rows.map(({ id }) => id).toSorted()

/** An account with an API key. */
async function insertAccount({ store }: Fixture, id: string): Promise<void> {
  const account = newAccount({ id, realm: `${id}.example` })
  await store.accounts.insert(account, newApiKey(id, { hash: `hash-of-${id}`, sealed: `sealed-${id}` }), [])
}

/** A webhook with headers and two secrets, and its row. */
async function insertWebhook({ store }: Fixture, id = 'webhook') {
  const webhook = newWebhook({
    id,
    sealedHeaders: 'headers',
    secrets: [{ sealed: 'second' }, { sealed: 'first', expiresMs: WALL_MS }],
  })
  await store.webhooks.insert(webhook)
  const row: EncryptedRow = { kind: 'webhook', id, headers: 'headers', secrets: ['second', 'first'] }
  return { webhook, row }
}

/** Rules of the encryption record and of ciphertexts. */
export function encryptionRules(rule: DefineRule): void {
  rule('the encryption record is written only if it is still the one that was read', async ({ store }) => {
    const { encryption } = store
    assert.equal(await encryption.record(), undefined)
    assert.equal(await encryption.replaceRecord('lost', 'other'), false)
    assert.equal(await encryption.record(), undefined)
    assert.equal(await encryption.replaceRecord('one', undefined), true)
    assert.equal(await encryption.replaceRecord('lost', undefined), false)
    assert.equal(await encryption.replaceRecord('lost', 'other'), false)
    assert.equal(await encryption.record(), 'one')
    const large = JSON.stringify('Zoë \u{1f4de}'.padEnd(60_000, '"'))
    assert.equal(await encryption.replaceRecord(large, 'one'), true)
    assert.equal(await encryption.record(), large)
  })

  rule('of several first encryption records one is written', async ({ store }) => {
    const records = ['a', 'b', 'c', 'd']
    const written = await Promise.all(
      records.map((record) => store.encryption.replaceRecord(record, undefined)),
    )
    assert.equal(written.filter(Boolean).length, 1)
    assert.equal(await store.encryption.record(), records[written.indexOf(true)])
  })

  rule('rows with ciphertexts are listed page by page, each once', async (fixture) => {
    for (const id of ['e', 'b', 'd', 'a', 'c']) await insertAccount(fixture, id)
    for (const id of ['3', '1', '2']) await insertWebhook(fixture, id)
    const apiKeys = await listAll(fixture, 'apiKey')
    assert.deepEqual(idsOf(apiKeys), ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(
      apiKeys.find(({ id }) => id === 'd'),
      { kind: 'apiKey', id: 'd', secrets: ['sealed-d'] },
    )
    const webhooks = await listAll(fixture, 'webhook')
    assert.deepEqual(idsOf(webhooks), ['1', '2', '3'])
    assert.deepEqual(
      webhooks.find(({ id }) => id === '2'),
      { kind: 'webhook', id: '2', headers: 'headers', secrets: ['second', 'first'] },
    )
  })

  rule('the ciphertexts of deleted webhooks are listed and replaced', async (fixture) => {
    const { webhook, row } = await insertWebhook(fixture)
    await fixture.remove(webhook)
    assert.deepEqual(await listAll(fixture, 'webhook'), [row])
    const next = { ...row, secrets: ['new second', 'new first'] }
    assert.equal(await fixture.store.encryption.reencrypt(next, row), true)
    assert.deepEqual(await listAll(fixture, 'webhook'), [next])
    assert.equal(await fixture.store.webhooks.read(webhook.accountId, webhook.id), undefined)
  })

  rule('replacing the ciphertext of an API key changes nothing else', async (fixture) => {
    await insertAccount(fixture, 'acme')
    await insertAccount(fixture, 'other')
    const { accounts, encryption } = fixture.store
    const before = await accounts.apiKey('acme')
    const row: EncryptedRow = { kind: 'apiKey', id: 'acme', secrets: ['sealed-acme'] }
    assert.equal(await encryption.reencrypt({ ...row, secrets: ['again'] }, row), true)
    assert.deepEqual(await accounts.apiKey('acme'), { ...before, sealed: 'again' })
    assert.deepEqual(await accounts.apiKeyByHash('hash-of-acme'), { ...before, sealed: 'again' })
    assert.equal((await accounts.apiKey('other'))?.sealed, 'sealed-other')
  })

  rule('replacing the ciphertexts of a webhook increments its revision and nothing else', async (fixture) => {
    const { webhook, row } = await insertWebhook(fixture)
    await insertWebhook(fixture, 'other')
    const { webhooks, encryption } = fixture.store
    const before = await webhooks.read(webhook.accountId, webhook.id)
    const next = { ...row, headers: 'again', secrets: ['new second', 'new first'] }
    assert.equal(await encryption.reencrypt(next, row), true)
    assert.deepEqual(await webhooks.read(webhook.accountId, webhook.id), {
      ...before,
      sealedHeaders: 'again',
      secrets: [{ sealed: 'new second' }, { sealed: 'new first', expiresMs: WALL_MS }],
      revision: webhook.revision + 1,
    })
    assert.equal((await webhooks.read(webhook.accountId, 'other'))?.revision, webhook.revision)
  })

  rule('candidates and loads have the replaced ciphertexts', async (fixture) => {
    const { webhook, row } = await insertWebhook(fixture)
    const { webhooks, encryption } = fixture.store
    await fixture.accept(webhook)
    const candidate = async () =>
      (await webhooks.candidates([webhook.accountId], webhook.settings.hook))[0]?.sealedHeaders
    const loaded = async () => (await fixture.node.load()).webhooks.get(webhook.id)?.sealedHeaders
    assert.deepEqual([await candidate(), await loaded()], ['headers', 'headers'])
    await encryption.reencrypt({ ...row, headers: 'again' }, row)
    assert.deepEqual([await candidate(), await loaded()], ['again', 'again'])
  })

  rule('ciphertexts that have changed since they were read are not replaced', async (fixture) => {
    await insertAccount(fixture, 'acme')
    const { webhook, row } = await insertWebhook(fixture)
    const { accounts, webhooks, encryption } = fixture.store
    const stale: EncryptedRow = { kind: 'apiKey', id: 'acme', secrets: ['before'] }
    assert.equal(await encryption.reencrypt({ ...stale, secrets: ['lost'] }, stale), false)
    assert.equal((await accounts.apiKey('acme'))?.sealed, 'sealed-acme')
    const lost = { ...row, headers: 'lost', secrets: ['lost', 'lost'] }
    for (const expected of [
      { ...row, headers: 'before' },
      { ...row, secrets: ['second', 'before'] },
      { ...row, secrets: ['second'] },
    ]) {
      assert.equal(await encryption.reencrypt(lost, expected), false)
    }
    assert.deepEqual(await webhooks.read(webhook.accountId, webhook.id), webhook)
    const unknown: EncryptedRow = { kind: 'webhook', id: 'unknown', secrets: ['x'] }
    assert.equal(await encryption.reencrypt(unknown, unknown), false)
    assert.equal(
      await encryption.reencrypt({ ...unknown, kind: 'apiKey' }, { ...unknown, kind: 'apiKey' }),
      false,
    )
  })

  rule('a writer that read the old ciphertexts cannot write them back', async (fixture) => {
    const { webhook, row } = await insertWebhook(fixture)
    const { webhooks, encryption } = fixture.store
    await encryption.reencrypt({ ...row, secrets: ['new second', 'new first'] }, row)
    const renamed = { ...webhook, revision: webhook.revision + 1 }
    assert.equal(await webhooks.replace(renamed, webhook.revision), false)
    const stored = await webhooks.read(webhook.accountId, webhook.id)
    assert.deepEqual(valuesOf(stored!.secrets, 'sealed'), ['new second', 'new first'])
  })

  rule('of concurrent replacements of the same ciphertexts one succeeds', async (fixture) => {
    await insertAccount(fixture, 'acme')
    const row: EncryptedRow = { kind: 'apiKey', id: 'acme', secrets: ['sealed-acme'] }
    const written = await Promise.all(
      ['a', 'b', 'c'].map((sealed) => fixture.store.encryption.reencrypt({ ...row, secrets: [sealed] }, row)),
    )
    assert.equal(written.filter(Boolean).length, 1)
  })
}
