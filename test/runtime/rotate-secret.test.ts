import { describe, expect, it, onTestFinished } from 'vitest'
import { createHookswitch, HookswitchError, memoryStore, rotateSecret } from '../../src/index.js'
import type { Store } from '../../src/store/contract.js'
import { md5 } from '../../src/values/hash.js'

const OLD = 'the secret of the first start'
const NEW = '2'.repeat(64)
const OTHER = '3'.repeat(64)

const refused = (field: string) => ({ code: 'InvalidOption', field })

/** A store whose contents stay while nobody has it open. */
const newStore = (): Store => memoryStore({ shared: true })

async function start(store: Store, secret: string | readonly string[]) {
  const hs = createHookswitch({ store, secret })
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  return hs
}

async function starting(store: Store, secret: string | readonly string[]): Promise<void> {
  await (await start(store, secret)).close({ drainMs: 0 })
}

const WEBHOOK = {
  name: 'calls',
  uri: 'https://93.184.215.14/calls',
  hook: 'all',
  customRequestHeaders: { 'X-Api-Key': 'key of the receiver' },
} as const

/** Fills a store under `secret`. Returns a function that checks that a node reads everything in clear. */
async function fill(store: Store, secret: string | readonly string[]) {
  const hs = await start(store, secret)
  const account = await hs.accounts.create({
    id: 'acme',
    name: 'Acme',
    realm: 'acme.example',
    users: [{ username: 'Ann', password: 'pass of ann' }],
  })
  const webhook = await hs.webhooks.create('acme', WEBHOOK)
  const before = await hs.webhooks.secret('acme', webhook.id)
  const current = await hs.webhooks.rotateSecret('acme', webhook.id)
  await hs.close({ drainMs: 0 })
  expect(current).not.toBe(before)
  return async (secrets: string | readonly string[]) => {
    const reader = await start(store, secrets)
    expect(await reader.accounts.readApiKey('acme')).toBe(account.apiKey)
    expect(await reader.webhooks.secret('acme', webhook.id)).toBe(current)
    const [read] = await reader.webhooks.list('acme')
    expect(read?.customRequestHeaders).toEqual(WEBHOOK.customRequestHeaders)
    const login = { realm: 'acme.example', credentials: md5('Ann:pass of ann'), method: 'md5' as const }
    expect((await reader.auth.signIn(login)).account.id).toBe('acme')
    await reader.close({ drainMs: 0 })
  }
}

describe('a node', () => {
  it('with another secret refuses to start, even before anything is encrypted', async () => {
    const store = newStore()
    await starting(store, OLD)
    await expect(starting(store, NEW)).rejects.toMatchObject(refused('secret'))
    await starting(store, OLD)
  })

  it('shows neither secret in the error', async () => {
    const store = newStore()
    await starting(store, OLD)
    const error = await starting(store, NEW).catch((thrown: Error) => thrown.message)
    expect(error).toMatch(/^secret is not the one that this store is encrypted with: [^.]*$/)
    expect(error).not.toContain(OLD)
    expect(error).not.toContain(NEW)
  })

  it('of several on an empty store that start at once with different secrets, only one starts', async () => {
    const store = newStore()
    const results = await Promise.allSettled([OLD, NEW, OTHER].map((secret) => starting(store, secret)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('with the new secret first makes the old one insufficient, and the new one too', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    await check([OLD, NEW])
    await starting(store, OLD)
    await check([NEW, OLD])
    await expect(starting(store, OLD)).rejects.toMatchObject(refused('secret'))
    await expect(starting(store, NEW)).rejects.toMatchObject(refused('secret'))
    await expect(starting(store, NEW)).rejects.toThrow(/^secret is one of several .*: give all of them$/)
    await starting(store, [OLD, NEW])
  })

  it('refuses a damaged record', async () => {
    const store = newStore()
    await starting(store, OLD)
    for (const damaged of ['', '{', '{"version":2}', '{"version":1,"current":[],"retired":[]}']) {
      const broken = { ...store, encryption: { ...store.encryption, record: async () => damaged } }
      await expect(starting(broken, OLD)).rejects.toMatchObject({ code: 'StoreCorrupt' })
    }
  })

  it('refuses a store that has lost its record, and not its rows', async () => {
    const store = newStore()
    await fill(store, OLD)
    const broken = { ...store, encryption: { ...store.encryption, record: async () => undefined } }
    await expect(starting(broken, NEW)).rejects.toThrow(/encrypted rows and no encryption record/)
    await expect(starting(broken, OLD)).rejects.toMatchObject({ code: 'StoreCorrupt' })
  })

  it('refuses a store without the port', async () => {
    const { encryption: _, ...store } = newStore()
    await expect(starting(store as Store, OLD)).rejects.toMatchObject(refused('store'))
  })
})

describe('rotateSecret', () => {
  it('makes everything readable with the new secret alone', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    expect(await rotateSecret({ store, from: OLD, to: NEW })).toEqual({ rows: 2, unreadable: [] })
    await check(NEW)
    await expect(starting(store, OLD)).rejects.toMatchObject(refused('secret'))
    await expect(starting(store, [OLD, NEW])).rejects.toThrow(/^secret was rotated out of this store: /)
    await check([NEW, OLD])
  })

  it('leaves nothing that the old secret decrypts', async () => {
    const store = newStore()
    const deleting = await start(store, OLD)
    await deleting.accounts.create({ id: 'gone', name: 'Gone', realm: 'gone.example' })
    const webhook = await deleting.webhooks.create('gone', WEBHOOK)
    await deleting.webhooks.remove('gone', webhook.id)
    await deleting.close({ drainMs: 0 })
    await fill(store, OLD)
    expect((await rotateSecret({ store, from: OLD, to: NEW })).rows).toBe(4)
    await store.open({ clock: { now: Date.now } as never, log: console as never })
    const { createSecretCipher } = await import('../../src/values/encryption.js')
    const { reencryptRow } = await import('../../src/runtime/encrypted-rows.js')
    const [from, to] = [createSecretCipher([OLD]), createSecretCipher([NEW])]
    const ciphers = { from, to, random: (count: number) => new Uint8Array(count) }
    for (const kind of ['apiKey', 'webhook'] as const) {
      const rows = await store.encryption.encryptedRows(kind, undefined, 99)
      expect(rows).toHaveLength(2)
      // Nothing is left to encrypt, and everything is readable.
      for (const row of rows) expect(reencryptRow(row, ciphers)).toEqual({ isUnreadable: false })
    }
    const { lookupKeys } = JSON.parse((await store.encryption.record())!)
    const purpose = 'service-secret-lookup-keys'
    expect(from.decrypt(lookupKeys, purpose)).toBeUndefined()
    expect(to.decrypt(lookupKeys, purpose)).toBeDefined()
  })

  it('may follow other rotations, also back to an earlier secret', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    await rotateSecret({ store, from: OLD, to: NEW })
    await rotateSecret({ store, from: NEW, to: OTHER })
    await check(OTHER)
    await rotateSecret({ store, from: OTHER, to: NEW })
    await check(NEW)
    await expect(starting(store, OTHER)).rejects.toMatchObject(refused('secret'))
    await expect(starting(store, OLD)).rejects.toMatchObject(refused('secret'))
  })

  it('refuses wrong secrets and changes nothing', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    const wrong = [
      [{ from: OTHER, to: NEW }, 'from'],
      [{ from: NEW, to: OLD.padEnd(64, '0') }, 'to'],
      [{ from: OLD, to: OLD }, 'to'],
      [{ from: OLD, to: 'short' }, 'to'],
      [{ from: 'short', to: NEW }, 'from'],
      [{ to: NEW }, 'from'],
    ] as const
    for (const [secrets, field] of wrong) {
      await expect(rotateSecret({ store, ...secrets })).rejects.toMatchObject(refused(field))
    }
    await check(OLD)
    await rotateSecret({ store, from: OLD, to: NEW })
    await expect(rotateSecret({ store, from: OLD, to: OTHER })).rejects.toMatchObject(refused('from'))
    await check(NEW)
  })

  it('reports rows that neither secret decrypts, and leaves them', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    const foreign = newStore()
    await fill(foreign, OTHER)
    await foreign.open({ clock: { now: Date.now } as never, log: console as never })
    await store.open({ clock: { now: Date.now } as never, log: console as never })
    const row = (await foreign.accounts.apiKey('acme'))!
    const account = { ...(await foreign.accounts.list())[0]!, id: 'lost', realm: 'lost.example' }
    await store.accounts.insert(account, { ...row, accountId: 'lost' }, [])
    await store.close()
    const lost = { kind: 'apiKey', id: 'lost' }
    expect(await rotateSecret({ store, from: OLD, to: NEW })).toEqual({ rows: 2, unreadable: [lost] })
    await check(NEW)
  })

  it('encrypts what nodes with both secrets write meanwhile', async () => {
    const store = newStore()
    const check = await fill(store, OLD)
    // One node still writes under the old secret: it was not restarted yet.
    const late = await start(store, [OLD, NEW])
    const early = await start(store, [NEW, OLD])
    let calls = 0
    const written: Promise<unknown>[] = []
    const { encryption } = store
    const busy: Store = {
      ...store,
      encryption: {
        ...encryption,
        async encryptedRows(...args) {
          const rows = await encryption.encryptedRows(...args)
          calls += 1
          if (calls > 8) return rows
          for (const [hs, name] of [
            [late, `late-${calls}`],
            [early, `early-${calls}`],
          ] as const) {
            written.push(hs.accounts.create({ id: name, name, realm: `${name}.example` }))
            written.push(hs.accounts.rotateApiKey('acme').catch(() => {}))
            written.push(hs.webhooks.create('acme', { ...WEBHOOK, name }))
          }
          await Promise.all(written)
          return rows
        },
      },
    }
    const keyBefore = await early.accounts.readApiKey('acme')
    const { rows } = await rotateSecret({ store: busy, from: OLD, to: NEW })
    expect(rows).toBeGreaterThan(8)
    await late.close({ drainMs: 0 })
    await early.close({ drainMs: 0 })
    const after = await start(store, NEW)
    const names = Array.from({ length: 8 }, (_, index) => [`late-${index + 1}`, `early-${index + 1}`]).flat()
    for (const name of names) expect(await after.accounts.readApiKey(name)).toMatch(/^[0-9a-f]{64}$/)
    for (const webhook of await after.webhooks.list('acme')) {
      expect(await after.webhooks.secret('acme', webhook.id)).toMatch(/^whsec_/)
      expect(webhook.customRequestHeaders).toEqual(WEBHOOK.customRequestHeaders)
    }
    // The key that a node set during the rotation was not overwritten by the one before it.
    expect(await after.accounts.readApiKey('acme')).not.toBe(keyBefore)
    await after.close({ drainMs: 0 })
    await expect(check(NEW)).rejects.toThrow()
  })

  it('completes after a crash before or after any of its writes', async () => {
    const writes = ['replaceRecord', 'reencrypt', 'replaceSecret'] as const
    for (const isWritten of [false, true]) {
      for (let crashAt = 1; ; crashAt += 1) {
        const store = newStore()
        const check = await fill(store, OLD)
        let count = 0
        const crash = new HookswitchError('StoreUnavailable', 'the process has died')
        const crashing =
          <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
          async (...args: Args) => {
            count += 1
            if (count > crashAt) throw crash
            if (count < crashAt) return write(...args)
            if (isWritten) await write(...args)
            throw crash
          }
        const { encryption } = store
        const dying: Store = {
          ...store,
          replaceSecret: crashing(store.replaceSecret!),
          encryption: {
            ...encryption,
            replaceRecord: crashing(encryption.replaceRecord),
            reencrypt: crashing(encryption.reencrypt),
          },
        }
        const result = await rotateSecret({ store: dying, from: OLD, to: NEW }).catch((thrown) => thrown)
        // Two writes of the record, two rows, and the store's own secret.
        if (crashAt > 2 + writes.length) {
          expect(result).toEqual({ rows: 2, unreadable: [] })
          break
        }
        expect(result).toBe(crash)
        // Nodes with both secrets can work in between.
        await check([NEW, OLD])
        await rotateSecret({ store, from: OLD, to: NEW })
        await check(NEW)
        await expect(starting(store, OLD)).rejects.toMatchObject(refused('secret'))
      }
    }
  })

  it('uses and replaces the secret that the store keeps', async () => {
    const store = newStore()
    const hs = createHookswitch({ store })
    await hs.start()
    const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await hs.close()
    await rotateSecret({ store, to: NEW })
    expect(await rotateSecret({ store, to: NEW })).toEqual({ rows: 0, unreadable: [] })
    const next = createHookswitch({ store })
    await next.start()
    expect(await next.accounts.readApiKey('acme')).toBe(apiKey)
    await next.close()
    expect(await (await start(store, NEW)).accounts.readApiKey('acme')).toBe(apiKey)
  })
})
