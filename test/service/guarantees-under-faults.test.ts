/** The delivery guarantees, one by one, under slow receivers, blocked addresses, crashes and closing. */
import { memoryStore } from 'hookswitch'
import { gate, hang, manualClock, redirect, scriptedReceiver, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { silentLog } from '../delivery/harness.js'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('a dead or slow receiver delays no other', () => {
  it('others get every event while twelve hanging webhooks use every slot of their origin', async () => {
    // Longer than any test, so that no attempt times out.
    const limits = { attemptTimeoutMs: 600_000, inFlightPerOrigin: 20 }
    const { hs, receiver, createWebhook } = await startService(limits)
    const healthy = scriptedReceiver()
    await healthy.start()
    try {
      const hanging = await Promise.all(Array.from({ length: 12 }, (_, n) => createWebhook(`/hangs-${n}`)))
      // They have answered once, fast: no other limit than that of their origin applies to them yet.
      const warm = nextEvents(hs, 'delivered', 12)
      await hs.publish(channelCreate('warm-up'))
      await warm
      receiver.on('*', [hang()])
      const countInFlight = async () => {
        const inFlight = { states: ['in_flight'] as const }
        const lists = await Promise.all(hanging.map((id) => hs.webhooks.deliveries('parent', id, inFlight)))
        return lists.flat().length
      }
      await createWebhook('/healthy', { uri: healthy.url('/'), hook: 'all' })
      for (let n = 0; n < 20; n += 1) await hs.publish(channelCreate(`call-${n}`))
      const requests = await healthy.next(20)
      expect(new Set(requests.map(({ body }) => JSON.parse(body).call_id)).size).toBe(20)
      expect(await countInFlight()).toBe(20)
      const delivered = nextEvents(hs, 'delivered')
      await hs.publish(channelCreate('late', { hook: 'channel_destroy' }))
      await delivered
      expect(await countInFlight()).toBe(20)
    } finally {
      await healthy.close()
    }
  })
})

describe('no request ever goes to a blocked address', () => {
  it('by URL, by name, by one address of several, by an IPv6 spelling or by redirect', async () => {
    const canary = scriptedReceiver()
    await canary.start()
    try {
      const lookups: readonly (readonly string[])[] = [
        ['127.0.0.1'],
        ['93.184.216.34', '127.0.0.1'],
        ['::ffff:127.0.0.1'],
      ]
      let lookup = 0
      const resolver = {
        resolve: async () => ({ kind: 'addresses', addresses: lookups[lookup++]! }) as const,
        close() {},
      }
      const { hs } = await startService({ allowLocal: false, resolver })
      const input = { name: 'w', hook: 'all', retries: 0 } as const
      for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1', 'localhost']) {
        const uri = canary.url('/').replace('127.0.0.1', host)
        await expect(hs.webhooks.create('parent', { ...input, uri })).rejects.toMatchObject({
          code: 'InvalidInput',
          field: 'uri',
        })
      }
      await hs.webhooks.create('parent', { ...input, uri: canary.url('/').replace('127.0.0.1', 'a.example') })
      for (const addresses of lookups) {
        const attempted = nextEvents(hs, 'attempt')
        await hs.publish(channelCreate(`call to ${addresses}`))
        expect(await attempted, addresses.join()).toMatchObject([{ clientError: 'blocked_address' }])
      }
      const { hs: open, receiver, createWebhook } = await startService()
      receiver.on('/hook', [redirect(canary.url('/'), 307)])
      await createWebhook('/hook', { retries: 1 })
      const exhausted = nextEvents(open, 'exhausted')
      await open.publish(channelCreate('call'))
      await exhausted
      expect(canary.connections).toBe(0)
    } finally {
      await canary.close()
    }
  })
})

describe('a crash costs at most one duplicate', () => {
  it('per delivery in flight, which is recorded; waiting deliveries are sent once', async () => {
    const store = memoryStore()
    const secret = 'a secret shared by both instances'
    const crashed = await startService({ store, secret, inFlightPerEndpoint: 3 })
    const { receiver } = crashed
    const held = gate()
    receiver.on('/hook', [held])
    const id = await crashed.createWebhook('/hook')
    for (let n = 0; n < 5; n += 1) await crashed.hs.publish(channelCreate(`call-${n}`))
    const interrupted = await receiver.next(3)
    // The next instance takes the store over; the results of the first one's requests are fenced.
    const { hs } = await startService({ store, secret, inFlightPerEndpoint: 3 })
    held.release()
    await until(
      async () => (await hs.webhooks.deliveries('parent', id, { states: ['delivered'] })).length === 5,
    )
    const interruptedIds = new Set(interrupted.map(({ headers }) => headers['webhook-id']))
    for (const { id: deliveryId, attempts } of await hs.webhooks.deliveries('parent', id)) {
      const sent = receiver.requests.filter(({ headers }) => headers['webhook-id'] === deliveryId)
      const records = await hs.webhooks.attempts('parent', id, { deliveryId, ascending: true })
      const reasons = interruptedIds.has(deliveryId) ? ['interrupted', undefined] : [undefined]
      expect(records.map(({ attempt, reason }) => [attempt, reason])).toEqual(
        reasons.map((r, n) => [n + 1, r]),
      )
      expect([sent.length, attempts]).toEqual([reasons.length, reasons.length])
      expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
    }
  })
})

describe('close()', () => {
  it('starts nothing, waits drainMs for requests in flight and leaves no socket', async () => {
    const store = memoryStore()
    const { hs, receiver, createWebhook } = await startService({
      store,
      inFlightPerEndpoint: 2,
      attemptTimeoutMs: 600_000,
    })
    const held = gate()
    receiver.on('/hook', [held, hang()])
    const id = await createWebhook('/hook')
    for (const call of ['answered', 'cut', 'waits']) await hs.publish(channelCreate(call))
    await receiver.next(2)
    const delivered = nextEvents(hs, 'delivered')
    const closing = hs.close({ drainMs: 200 })
    await expect(hs.publish(channelCreate('late'))).rejects.toMatchObject({ code: 'Closing' })
    held.release()
    await delivered
    await closing
    await until(() => receiver.openConnections === 0)
    expect(receiver.requests).toHaveLength(2)
    await store.open({ clock: manualClock(), log: silentLog })
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
