/** A field or an option that is undefined counts as absent: so it comes from `process.env` and from optional columns. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHookswitch, memoryStore, verify } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { sqliteStore } from 'hookswitch/sqlite'
import { scriptedReceiver } from 'hookswitch/testkit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'undefined-inputs-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each([
  ['memory', memoryStore],
  ['SQLite', () => sqliteStore({ path: join(folder, 'x.db'), inThread: true })],
])('what is undefined counts as absent, with the store in %s', (_, open) => {
  it('in accounts, users, webhooks, lists, events and signatures', async () => {
    const receiver = scriptedReceiver()
    await receiver.start()
    onTestFinished(() => receiver.close())
    const hs = createHookswitch({
      store: open(),
      allowLocal: true,
      secret: undefined,
      tls: { ca: undefined },
    })
    await hs.start()
    onTestFinished(() => hs.close())
    const account = {
      id: 'acme',
      name: 'Acme',
      realm: 'acme.example',
      parentId: undefined,
      timezone: undefined,
    }
    const user = { username: 'ada', password: 'lovelace', email: undefined, enabled: undefined }
    const created = await hs.accounts.create({ ...account, users: [user] })
    const named = { ...created, modifiedMs: expect.any(Number), revision: expect.any(Number) }
    const { apiKey: _key, ...stored } = named
    expect(await hs.accounts.update('acme', { name: undefined, timezone: undefined })).toEqual(stored)
    await hs.accounts.ensure([{ ...account, language: undefined, users: [user] }])
    expect(await hs.accounts.get('acme')).toMatchObject({ name: 'Acme', users: [{ username: 'ada' }] })
    await hs.auth.issue({ accountId: 'acme', userId: undefined, role: 'read', ttlSeconds: 60 })

    const uri = receiver.url('/w')
    const webhook = await hs.webhooks.create('acme', { name: 'w', uri, hook: 'all', group: undefined })
    const { name, ordering, retries } = webhook
    const patched = await hs.webhooks.patch('acme', webhook.id, { name: undefined, retries: undefined })
    expect(patched).toMatchObject({ name, ordering, retries })
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'c', from: undefined })
    const request = await receiver.next()
    expect(JSON.parse(request.body)).not.toHaveProperty('from')

    const secret = await hs.webhooks.secret('acme', webhook.id)
    const options = { nowSeconds: undefined, toleranceSeconds: undefined }
    expect(verify(request, secret, options)).toMatchObject({ ok: true })
    const page = {
      limit: undefined,
      cursor: undefined,
      fromMs: undefined,
      toMs: undefined,
      ascending: undefined,
    }
    await expect.poll(() => hs.webhooks.attempts('acme', undefined, page)).toHaveLength(1)
    expect(await hs.webhooks.deliveries('acme', webhook.id, { ...page, states: undefined })).toHaveLength(1)
    expect(
      (await hs.operator.search({ limit: undefined, cursor: undefined, callId: undefined })).deliveries,
    ).toHaveLength(1)
    expect(await hs.operator.unhealthy({ states: undefined, limit: undefined })).toBeDefined()
    expect(await hs.replays.list({ accountId: undefined, limit: undefined })).toEqual([])
    const erased = await hs.erase({ accountId: 'acme', callId: 'c', number: undefined })
    expect(erased.callIds).toEqual(['c'])
  })
})

it('an option of the HTTP server that is undefined has its default', async () => {
  const hs = createHookswitch({ store: memoryStore() })
  const [given, defaults] = [createServer(hs, { headersTimeoutMs: undefined }), createServer(hs)]
  expect(given.headersTimeout).toBe(defaults.headersTimeout)
})
