import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/errors.js'
import type { Log } from '../../src/ports.js'
import { type MemoryStoreOptions, memoryStore } from '../../src/store/memory.js'
import { manualClock } from '../../src/testkit/clock.js'
import { storeConformance } from '../../src/testkit/conformance/index.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../src/testkit/conformance/sample-data.js'
import type { Webhook } from '../../src/webhooks/webhook.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const DAY_MS = 86_400_000

for (const shared of [false, true]) {
  storeConformance(
    { describe, it },
    {
      name: shared ? 'the shared memory store' : 'the memory store',
      supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
      async open({ clock }) {
        const store = memoryStore({ shared })
        await store.open({ clock, log })
        return store
      },
    },
  )
}

async function opened(options: MemoryStoreOptions = {}) {
  const clock = manualClock()
  const store = memoryStore(options)
  await store.open({ clock, log })
  await store.deliveries.own('node', 30_000)
  const now = clock.now()

  /** Accepts one event for this webhook and settles its delivery as delivered. Returns the delivery's id. */
  async function deliver(webhook: Webhook): Promise<string> {
    const event = newEvent()
    const delivery = newDelivery(webhook, event)
    await store.deliveries.accept({ events: [event], deliveries: [delivery], maxPending: 9 }, now)
    const endpoints = [{ webhookId: webhook.id, slots: 1 }]
    const { claims } = await store.deliveries.claim({ owner: 'node', endpoints, limit: 1, now })
    const claimed = claims[0]!.delivery
    const settlement = {
      owner: 'node',
      deliveryId: delivery.id,
      webhookId: webhook.id,
      expect: { state: 'in_flight', fence: claimed.fence },
      next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
      record: newRecord(claimed),
    } as const
    await store.deliveries.settle([settlement], now)
    return delivery.id
  }
  async function attemptsOf(webhook: Webhook): Promise<string[]> {
    const { accountId, id: webhookId } = webhook
    const rows = await store.deliveries.attempts({ accountId, webhookId, ascending: true, limit: 99 })
    return rows.map((row) => row.deliveryId)
  }
  async function webhook(): Promise<Webhook> {
    const row = newWebhook()
    await store.webhooks.insert(row)
    return row
  }
  return { store, clock, now, deliver, attemptsOf, webhook }
}

describe('memoryStore', () => {
  it('retains the newest attempts and ended deliveries of each webhook up to a limit', async () => {
    const { store, deliver, attemptsOf, webhook } = await opened({ attemptsPerWebhook: 3 })
    const [busy, quiet] = [await webhook(), await webhook()]
    const first = await deliver(quiet)
    const made: string[] = []
    for (let index = 0; index < 8; index += 1) made.push(await deliver(busy))
    expect(await attemptsOf(busy)).toEqual(made.slice(5))
    expect(await attemptsOf(quiet)).toEqual([first])
    const query = { accountId: 'account', webhookId: busy.id, ascending: true, limit: 9 }
    expect((await store.deliveries.deliveries(query)).map((row) => row.id)).toEqual(made.slice(5))
    expect(await store.deliveries.delivery('account', made[0]!)).toBeUndefined()
  })

  it('retains the newest attempts and ended deliveries over all webhooks up to a limit', async () => {
    const { store, deliver, attemptsOf, webhook } = await opened({ attemptsInAll: 4 })
    const [one, two] = [await webhook(), await webhook()]
    const made: string[] = []
    for (const target of [one, two, one, one, two, two]) made.push(await deliver(target))
    expect(await attemptsOf(one)).toEqual([made[2], made[3]])
    expect(await attemptsOf(two)).toEqual([made[4], made[5]])
    expect(await store.deliveries.delivery('account', made[1]!)).toBeUndefined()
  })

  it('shows the body of every retained attempt', async () => {
    const { store, deliver, webhook } = await opened({ attemptsPerWebhook: 3 })
    const target = await webhook()
    for (let index = 0; index < 8; index += 1) await deliver(target)
    const rows = await store.deliveries.attempts({ accountId: 'account', limit: 9 })
    expect(rows.map((row) => row.requestBody?.includes('"sequence":1'))).toEqual([true, true, true])
  })

  it('removes the numbers and legs of a call after a day without an event, not before', async () => {
    const { store, now } = await opened()
    const next = async (at: number) => {
      const event = newEvent({ callId: 'a', otherLegCallId: 'b' })
      return (await store.deliveries.accept({ events: [event], deliveries: [], maxPending: 1 }, at))[0]
        ?.sequence
    }
    const limits = { attemptsPerWebhook: 9, beforeMs: 0, limit: 9 }
    expect([await next(now), await next(now + DAY_MS / 2)]).toEqual([1, 2])
    expect(await store.deliveries.prune(limits, now + DAY_MS)).toBe(0)
    expect(await store.deliveries.legs('account', 'b')).toEqual(['b', 'a'])
    expect(await store.deliveries.prune(limits, now + 1.5 * DAY_MS)).toBe(2)
    expect(await store.deliveries.legs('account', 'b')).toEqual([])
    expect(await next(now + 2 * DAY_MS)).toBe(1)
  })

  it('is unavailable until it is opened, and again after close until it is reopened', async () => {
    const { store, clock } = await opened()
    const fresh = memoryStore()
    expect(await fresh.deliveries.pending().catch(errorCode)).toBe('StoreUnavailable')
    await store.close()
    expect(await store.deliveries.pending().catch(errorCode)).toBe('StoreUnavailable')
    await store.open({ clock, log })
    expect(await store.deliveries.pending()).toBe(0)
  })

  it('is closed by the last of the nodes that share it, and uses the clock of the first', async () => {
    const store = memoryStore({ shared: true })
    const [first, second] = [manualClock({ nowMs: 1_000 }), manualClock({ nowMs: 601_000 })]
    await store.open({ clock: first, log })
    await store.open({ clock: second, log })
    expect((await store.deliveries.own('node', 1)).storeMs).toBe(1_000)
    await store.close()
    expect(await store.deliveries.pending()).toBe(0)
    await store.close()
    expect(await store.deliveries.pending().catch(errorCode)).toBe('StoreUnavailable')
  })

  it('rejects an invalid option and names it', () => {
    for (const option of ['attemptsPerWebhook', 'attemptsInAll']) {
      for (const value of [0, -1, 1.5, Number.NaN]) {
        expect(() => memoryStore({ [option]: value })).toThrow(
          expect.objectContaining({ code: 'InvalidOption', field: option }),
        )
      }
    }
  })
})
