/** The promise of delivery, line by line: what others, crashes and closing do to it. */
import { memoryStore } from 'hookswitch'
import { gate, hang, manualClock, redirect, scriptedReceiver, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { silent } from '../delivery/world.js'
import { created, services, told } from './running.js'

const running = services()

describe('a dead or slow receiver delays nobody else', () => {
  it('others have everything while twelve webhooks hang on one origin with all that it may hold', async () => {
    // Longer than any test: nothing comes after a time-out.
    const limits = { attemptTimeoutMs: 600_000, inFlightPerOrigin: 20 }
    const { hs, receiver, webhook } = await running(limits)
    const healthy = scriptedReceiver()
    await healthy.start()
    try {
      receiver.on('*', [hang()])
      const hanging = await Promise.all(Array.from({ length: 12 }, (_, n) => webhook(`/hangs-${n}`)))
      const held = async () => {
        const inFlight = { states: ['in_flight'] as const }
        const found = await Promise.all(hanging.map((id) => hs.webhooks.deliveries('parent', id, inFlight)))
        return found.flat().length
      }
      await webhook('/healthy', { uri: healthy.url('/'), hook: 'all' })
      for (let n = 0; n < 20; n += 1) await hs.publish(created(`call-${n}`))
      const seen = await healthy.next(20)
      expect(new Set(seen.map(({ body }) => JSON.parse(body).call_id)).size).toBe(20)
      expect(await held()).toBe(20)
      const delivered = told(hs, 'delivered')
      await hs.publish(created('late', { hook: 'channel_destroy' }))
      await delivered
      expect(await held()).toBe(20)
    } finally {
      await healthy.close()
    }
  })
})

describe('no request ever goes to a blocked address', () => {
  it('not by its URL, its name, one address of several, a spelling in v6 or a redirect', async () => {
    const canary = scriptedReceiver()
    await canary.start()
    try {
      const answers: readonly (readonly string[])[] = [
        ['127.0.0.1'],
        ['93.184.216.34', '127.0.0.1'],
        ['::ffff:127.0.0.1'],
      ]
      let asked = 0
      const resolver = {
        resolve: async () => ({ kind: 'addresses', addresses: answers[asked++]! }) as const,
        close() {},
      }
      const { hs } = await running({ allowLocal: false, resolver })
      const wish = { name: 'w', hook: 'all', retries: 0 } as const
      for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1', 'localhost']) {
        const uri = canary.url('/').replace('127.0.0.1', host)
        await expect(hs.webhooks.create('parent', { ...wish, uri })).rejects.toMatchObject({
          code: 'InvalidInput',
          field: 'uri',
        })
      }
      await hs.webhooks.create('parent', { ...wish, uri: canary.url('/').replace('127.0.0.1', 'a.example') })
      for (const addresses of answers) {
        const attempted = told(hs, 'attempt')
        await hs.publish(created(`call to ${addresses}`))
        expect(await attempted, addresses.join()).toMatchObject([{ clientError: 'blocked_address' }])
      }
      const { hs: open, receiver, webhook } = await running()
      receiver.on('/hook', [redirect(canary.url('/'), 307)])
      await webhook('/hook', { retries: 1 })
      const exhausted = told(open, 'exhausted')
      await open.publish(created('call'))
      await exhausted
      expect(canary.connections).toBe(0)
    } finally {
      await canary.close()
    }
  })
})

describe('a crash costs at most one duplicate', () => {
  it('for each delivery in flight, which has a record of it; what waited is sent once', async () => {
    const store = memoryStore()
    const secret = 'a secret that outlives the instance'
    const dead = await running({ store, secret, inFlightPerEndpoint: 3 })
    const { receiver } = dead
    const held = gate()
    receiver.on('/hook', [held])
    const id = await dead.webhook('/hook')
    for (let n = 0; n < 5; n += 1) await dead.hs.publish(created(`call-${n}`))
    const cut = await receiver.next(3)
    // The next life takes the store over; what the one before still sees of its requests is of no account any more.
    const { hs } = await running({ store, secret, inFlightPerEndpoint: 3 })
    held.release()
    await until(
      async () => (await hs.webhooks.deliveries('parent', id, { states: ['delivered'] })).length === 5,
    )
    const wereCut = new Set(cut.map(({ headers }) => headers['webhook-id']))
    for (const { id: deliveryId, attempts } of await hs.webhooks.deliveries('parent', id)) {
      const sent = receiver.requests.filter(({ headers }) => headers['webhook-id'] === deliveryId)
      const records = await hs.webhooks.attempts('parent', id, { deliveryId, ascending: true })
      const reasons = wereCut.has(deliveryId) ? ['interrupted', undefined] : [undefined]
      expect(records.map(({ attempt, reason }) => [attempt, reason])).toEqual(
        reasons.map((r, n) => [n + 1, r]),
      )
      expect([sent.length, attempts]).toEqual([reasons.length, reasons.length])
      expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
    }
  })
})

describe('close drains', () => {
  it('it begins nothing, waits for what is in flight as long as it was told, and leaves no socket', async () => {
    const store = memoryStore()
    const { hs, receiver, webhook } = await running({
      store,
      inFlightPerEndpoint: 2,
      attemptTimeoutMs: 600_000,
    })
    const held = gate()
    receiver.on('/hook', [held, hang()])
    const id = await webhook('/hook')
    for (const call of ['answered', 'cut', 'waits']) await hs.publish(created(call))
    await receiver.next(2)
    const delivered = told(hs, 'delivered')
    const closing = hs.close({ drainMs: 200 })
    await expect(hs.publish(created('late'))).rejects.toMatchObject({ code: 'Closing' })
    held.release()
    await delivered
    await closing
    await until(() => receiver.openConnections === 0)
    expect(receiver.requests).toHaveLength(2)
    await store.open({ clock: manualClock(), log: silent })
    const left = await store.deliveries.deliveries({
      accountId: 'parent',
      webhookId: id,
      ascending: true,
      limit: 9,
    })
    expect(left.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['waiting', 1],
      ['waiting', 0],
    ])
  })
})
