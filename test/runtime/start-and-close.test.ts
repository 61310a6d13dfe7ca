import { createHookswitch, HookswitchError, type HookswitchOptions, memoryStore } from 'hookswitch'
import type { Random } from 'hookswitch/adapter'
import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { createLazyHandler } from '../../src/http/lazy-handler.js'

type Store = HookswitchOptions['store']

/** A sender that counts its `close` calls. */
function countingSender() {
  let closed = 0
  const response = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const
  return {
    sender: {
      send: async () => response,
      close: async () => {
        closed++
      },
    },
    closed: () => closed,
  }
}

it('a failed start releases its lease and closes its sender', async () => {
  const store = memoryStore({ shared: true })
  const renewed: string[] = []
  const released: string[] = []
  const { deliveries } = store
  const broken: Store = {
    ...store,
    deliveries: {
      ...deliveries,
      subscribe: () => {
        throw new Error('no subscription')
      },
      renew(owner, leaseMs) {
        renewed.push(owner)
        return deliveries.renew(owner, leaseMs)
      },
      release(owner) {
        released.push(owner)
        return deliveries.release(owner)
      },
    },
  }
  const { sender, closed } = countingSender()
  const hs = createHookswitch({ store: broken, sender })
  await expect(hs.start()).rejects.toThrow('no subscription')
  expect([released.length, closed()]).toEqual([1, 1])
  expect(renewed).toEqual([])
  await hs.close()
})

it('a failed start asks the store no more', async () => {
  const clock = manualClock()
  const store = memoryStore()
  const unavailable = () => Promise.reject(new HookswitchError('StoreUnavailable', 'down'))
  let questions = 0
  const hs = createHookswitch({
    clock,
    store: {
      ...store,
      holds: { ...store.holds, list: unavailable },
      tokens: {
        ...store.tokens,
        read() {
          questions += 1
          return unavailable()
        },
      },
    },
  })
  await expect(hs.start()).rejects.toMatchObject({ code: 'StoreUnavailable' })
  const asked = questions
  await clock.advance(10_000)
  expect(questions).toBe(asked)
  await hs.close()
})

it('a start that fails before its dispatcher exists closes its sender', async () => {
  let isExhausted = false
  const random: Random = {
    bytes(count) {
      // Twelve bytes are the nonce of the encryption record, which is written before anything else is created.
      if (isExhausted && count !== 12) throw new Error('no randomness')
      return new Uint8Array(count)
    },
    fraction: () => 0,
  }
  const { sender, closed } = countingSender()
  const hs = createHookswitch({ store: memoryStore(), sender, random })
  isExhausted = true
  await expect(hs.start()).rejects.toThrow('no randomness')
  expect(closed()).toBe(1)
  await hs.close()
})

it('null as options of publish and close means the defaults', async () => {
  const { sender, closed } = countingSender()
  const hs = createHookswitch({ store: memoryStore(), sender })
  await hs.start()
  await hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
  const event = { hook: 'channel_create', accountId: 'acc', callId: 'c' } as const
  await expect(hs.publish(event, null as never)).resolves.toMatchObject({ duplicate: false })
  await expect(hs.close({ drainMs: '5' as never })).rejects.toMatchObject({ field: 'drainMs' })
  await hs.close(null as never)
  expect(closed()).toBe(1)
})

it('inherited properties are not options', () => {
  const inherited = Object.create({ store: memoryStore() }) as never
  expect(() => createHookswitch(inherited)).toThrow(expect.objectContaining({ field: 'store' }))
})

it('the HTTP handler is loaded again after a failure', async () => {
  let loads = 0
  const lazy = createLazyHandler(async () => {
    loads++
    if (loads === 1) throw new Error('not loaded')
    return async () => ({ status: 204, headers: {}, body: '' })
  })
  const request = { method: 'GET', url: '/', headers: {} }
  await expect(lazy.handle(request)).rejects.toThrow('not loaded')
  expect(await lazy.handle(request)).toMatchObject({ status: 204 })
  await lazy.handle(request)
  expect(loads).toBe(2)
})
