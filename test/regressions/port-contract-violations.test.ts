/**
 * Implementations of the host that violate their port's contract: an `async` retry policy that rejected ended the
 * process; a sender that returned no observation kept its delivery in flight, and its slot, forever; a sender that failed
 * to close left lease and store open; a directory's `null` caused a TypeError or was shown to clients.
 */
import { createHookswitch, custom, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { safeDirectory } from '../../src/accounts/safe-directory.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { resolveAllowedAddresses } from '../../src/send/connect.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

it('a retry policy that rejects is invalid: the default policy applies', async () => {
  const unhandled: unknown[] = []
  const record = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', record)
  try {
    const policies = { broken: (async () => Promise.reject(new Error('fault of the host'))) as never }
    const sender = { send: async () => ({ ...OK, status: 500 }), close: async () => {} }
    const { hs, createWebhook } = await startService({ retryPolicy: custom('broken'), policies, sender })
    const attempted = nextEvents(hs, 'attempt')
    const id = await createWebhook('/')
    await hs.publish(channelCreate('call'))
    await attempted
    // Node reports unhandled rejections after the microtasks.
    await new Promise(setImmediate)
    expect(await hs.webhooks.deliveries('parent', id)).toMatchObject([{ state: 'waiting', attempts: 1 }])
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', record)
  }
})

describe('a sender that returns an invalid observation', () => {
  for (const observation of [undefined, null, {}, { kind: 'response' }, { ...OK, status: Number.NaN }]) {
    it(`${JSON.stringify(observation)} is recorded as an internal fault`, async () => {
      const sender = { send: async () => observation as never, close: async () => {} }
      const { hs, createWebhook } = await startService({ sender })
      const attempted = nextEvents(hs, 'attempt')
      const id = await createWebhook('/')
      await hs.publish(channelCreate('call'))
      expect(await attempted).toMatchObject([{ clientError: 'own_fault', attempt: 1 }])
      expect(await hs.webhooks.deliveries('parent', id)).toMatchObject([{ state: 'waiting', tries: 0 }])
    })
  }
})

it('a sender that fails to close does not keep the store open', async () => {
  const store = memoryStore()
  const sender = { send: async () => OK, close: async () => Promise.reject(new Error('fault of the host')) }
  const hs = createHookswitch({ store, sender })
  await hs.start()
  await hs.close()
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

describe('a directory', () => {
  const deps = { accounts: {}, cipher: {}, clock: {}, random: {}, newId: () => '' } as never
  const directoryWith = (methods: object) => safeDirectory({ ...storeDirectory(deps), ...methods } as never)

  it('that returns invalid accounts is unavailable', async () => {
    for (const list of [[null], [5], [{}], 'text', null]) {
      const directory = directoryWith({ lineage: async () => list, accountsByRealm: async () => list })
      await expect(directory.lineage('a')).rejects.toMatchObject({ code: 'StoreUnavailable' })
      await expect(directory.accountsByRealm('a')).rejects.toMatchObject({ code: 'StoreUnavailable' })
    }
    await expect(directoryWith({ descendants: async () => [null] }).descendants('a')).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
  })

  it('may return null for absent values, as databases do', async () => {
    const holder = { accountId: 'a', userId: null, credentialVersion: '1' }
    const account = { id: 'a', name: 'A', realm: 'a', enabled: true, resellerId: null, language: null }
    const directory = directoryWith({ holderOfApiKey: async () => holder, lineage: async () => [account] })
    expect(await directory.holderOfApiKey('key')).toEqual({ accountId: 'a', credentialVersion: '1' })
    expect(await directory.lineage('a')).toEqual([{ id: 'a', name: 'A', realm: 'a', enabled: true }])
  })
})

it('an invalid result of a resolver is an internal fault, not charged to the receiver', async () => {
  const policy = compileAddressPolicy({ allowLocal: false, allow: [] })
  for (const resolution of [undefined, {}, { kind: 'addresses' }, { kind: 'addresses', addresses: [5] }]) {
    const resolver = { resolve: async () => resolution as never, close() {} }
    expect(
      await resolveAllowedAddresses({ addressPolicy: policy, resolver }, 'name.example', 100),
    ).toMatchObject({ kind: 'own_fault' })
  }
})
