import { createHookswitch, type HookswitchOptions, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { httpFace } from '../src/http-face.js'

type Store = HookswitchOptions<ReturnType<typeof memoryStore>>['store']

/** A sender that counts its ends. */
function closing() {
  let closed = 0
  const answer = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const
  return {
    sender: {
      send: async () => answer,
      close: async () => {
        closed++
      },
    },
    closed: () => closed,
  }
}

it('a start that failed leaves nothing behind: its lease is given back, its sender closed', async () => {
  const store = memoryStore({ shared: true })
  const renewed: string[] = []
  const released: string[] = []
  const { deliveries } = store
  const broken: Store = {
    ...store,
    deliveries: {
      ...deliveries,
      subscribe: () => {
        throw new Error('no wake-ups here')
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
  const { sender, closed } = closing()
  const hs = createHookswitch({ store: broken, sender })
  await expect(hs.start()).rejects.toThrow('no wake-ups here')
  expect([released.length, closed()]).toEqual([1, 1])
  expect(renewed).toEqual([])
  await hs.close()
})

it('what is said of publishing and closing may be null, which says nothing', async () => {
  const { sender, closed } = closing()
  const hs = createHookswitch({ store: memoryStore(), sender })
  await hs.start()
  await hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
  const event = { hook: 'channel_create', accountId: 'acc', callId: 'c' }
  await expect(hs.publish(event, null as never)).resolves.toMatchObject({ duplicate: false })
  await expect(hs.close({ drainMs: '5' as never })).rejects.toMatchObject({ field: 'drainMs' })
  await hs.close(null as never)
  expect(closed()).toBe(1)
})

it('options are those of the object itself, not of its prototype', () => {
  const inherited = Object.create({ store: memoryStore() }) as never
  expect(() => createHookswitch(inherited)).toThrow(expect.objectContaining({ field: 'store' }))
})

it('a face that could not be loaded is loaded again', async () => {
  let loads = 0
  const face = httpFace(async () => {
    loads++
    if (loads === 1) throw new Error('out')
    return async () => ({ status: 204, headers: {}, body: '' })
  })
  const request = { method: 'GET', url: '/', headers: {} }
  await expect(face.handle(request)).rejects.toThrow('out')
  expect(await face.handle(request)).toMatchObject({ status: 204 })
  await face.handle(request)
  expect(loads).toBe(2)
})
