/**
 * What went wrong, each with a door of the host's that does not keep to its contract: an `async` retry policy that
 * rejected ended the process; a sender that answered nothing kept its delivery in flight, and its place, for ever; one
 * that could not close left lease and store open; a directory's `null` was a TypeError, or shown to clients.
 */
import { createHookswitch, custom, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { guardedDirectory } from '../../src/accounts/guarded-directory.js'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { approve } from '../../src/send/connect.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { created, services, told } from '../service/running.js'

const running = services()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

it('a retry policy that rejects is one that answers nonsense: the default takes over', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown) => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  try {
    const policies = { broken: (async () => Promise.reject(new Error('of the host'))) as never }
    const sender = { send: async () => ({ ...OK, status: 500 }), close: async () => {} }
    const { hs, webhook } = await running({ retryPolicy: custom('broken'), policies, sender })
    const attempted = told(hs, 'attempt')
    const id = await webhook('/')
    await hs.publish(created('call'))
    await attempted
    // Rejections that nobody heard are told when the microtasks are done.
    await new Promise(setImmediate)
    expect(await hs.webhooks.deliveries('parent', id)).toMatchObject([{ state: 'waiting', attempts: 1 }])
    expect(unheard).toEqual([])
  } finally {
    process.off('unhandledRejection', hear)
  }
})

describe('a sender that answers no observation', () => {
  for (const answer of [undefined, null, {}, { kind: 'response' }, { ...OK, status: Number.NaN }]) {
    it(`${JSON.stringify(answer)} is a fault of ours, and recorded`, async () => {
      const sender = { send: async () => answer as never, close: async () => {} }
      const { hs, webhook } = await running({ sender })
      const attempted = told(hs, 'attempt')
      const id = await webhook('/')
      await hs.publish(created('call'))
      expect(await attempted).toMatchObject([{ clientError: 'own_fault', attempt: 1 }])
      expect(await hs.webhooks.deliveries('parent', id)).toMatchObject([{ state: 'waiting', tries: 0 }])
    })
  }
})

it('a sender that cannot be closed does not keep the store open', async () => {
  const store = memoryStore()
  const sender = { send: async () => OK, close: async () => Promise.reject(new Error('of the host')) }
  const hs = createHookswitch({ store, sender })
  await hs.start()
  await hs.close()
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

describe('a directory', () => {
  const nobody = { accounts: {}, box: {}, clock: {}, random: {}, newId: () => '' } as never
  const answering = (answers: object) => guardedDirectory({ ...storedDirectory(nobody), ...answers } as never)

  it('whose accounts are none is not available', async () => {
    for (const list of [[null], [5], [{}], 'text', null]) {
      const directory = answering({ lineage: async () => list, accountsByRealm: async () => list })
      await expect(directory.lineage('a')).rejects.toMatchObject({ code: 'StoreUnavailable' })
      await expect(directory.accountsByRealm('a')).rejects.toMatchObject({ code: 'StoreUnavailable' })
    }
    await expect(answering({ descendants: async () => [null] }).descendants('a')).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
  })

  it('may say null where there is nothing, as databases do', async () => {
    const holder = { accountId: 'a', userId: null, credentialVersion: '1' }
    const account = { id: 'a', name: 'A', realm: 'a', enabled: true, resellerId: null, language: null }
    const directory = answering({ holderOfApiKey: async () => holder, lineage: async () => [account] })
    expect(await directory.holderOfApiKey('key')).toEqual({ accountId: 'a', credentialVersion: '1' })
    expect(await directory.lineage('a')).toEqual([{ id: 'a', name: 'A', realm: 'a', enabled: true }])
  })
})

it('a resolver that answers nonsense is a fault of ours, not of the receiver', async () => {
  const policy = compilePolicy({ allowLocal: false, allow: [] })
  for (const answer of [undefined, {}, { kind: 'addresses' }, { kind: 'addresses', addresses: [5] }]) {
    const resolver = { resolve: async () => answer as never, close() {} }
    expect(await approve({ policy, resolver }, 'name.example', 100)).toMatchObject({ kind: 'own_fault' })
  }
})
