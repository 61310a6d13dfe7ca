import { expect, it } from 'vitest'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { commitGroup, type EngineStore, openEngine, placed, settlementOf } from './sqlite-engine-store.js'

const NOW = 1_000

/** Delivers `count` events to a webhook and returns the cursor of the newest record. */
function deliver(store: EngineStore, count: number, webhook = newWebhook()): number {
  return store.inTransaction((engine) => {
    if (!engine.deliveries.webhookOf(webhook.id)) engine.webhooks.insert(webhook)
    for (let index = 0; index < count; index += 1) {
      const event = newEvent({ callId: 'call' })
      const delivery = newDelivery(webhook, event)
      commitGroup(engine, { accepted: [placed([event], [delivery])] }, NOW)
      commitGroup(engine, { ended: [settlementOf(delivery, 0, 'delivered')] }, NOW)
    }
    return engine.deliveries.attempts({ accountId: 'account', webhookId: webhook.id, limit: 1 })[0]!.position
  })
}

it('never reuses a cursor, not even after the newest rows were erased and the file was reopened', async () => {
  const store = openEngine(NOW)
  const newest = deliver(store, 3)
  while ((await store.deliveries.erase({ accountId: 'account' }, 99)) > 0) {}
  await store.close()
  expect(deliver(openEngine(NOW, store.path), 1)).toBeGreaterThan(newest)
})

it('reserves a block of keys again after the group that reserved it was rolled back', async () => {
  const store = openEngine(NOW)
  expect(() =>
    store.inTransaction((engine) => {
      const webhook = newWebhook()
      engine.webhooks.insert(webhook)
      const event = newEvent()
      commitGroup(engine, { accepted: [placed([event], [newDelivery(webhook, event)])] }, NOW)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  const newest = deliver(store, 2)
  await store.close()
  expect(deliver(openEngine(NOW, store.path), 2)).toBeGreaterThan(newest)
})

it('rolls back an ownership with its transaction', async () => {
  const store = openEngine(NOW)
  await store.deliveries.own('node', 1)
  expect(() =>
    store.inTransaction(({ deliveries }) => {
      deliveries.own('thief', 1, NOW)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect((await store.deliveries.renew('thief', 1)).shards).toEqual([])
  expect((await store.deliveries.renew('node', 1)).shards).toHaveLength(64)
})

it('keeps store time while an endpoint is paused, and returns to the clock of the machine after that', async () => {
  const store = openEngine(NOW)
  const pausedUntilMs = NOW + 3_600_000
  store.inTransaction(({ webhooks, deliveries }) => {
    deliveries.own('node', 1, pausedUntilMs - 60_000)
    webhooks.insert(newWebhook({ health: { failuresInRow: 1, pausedUntilMs } }))
  })
  const startAt = (machineMs: number) =>
    store.inTransaction(({ deliveries }) => deliveries.own('node', 1, machineMs).storeMs)
  expect(startAt(NOW)).toBe(pausedUntilMs - 60_000)
  expect(startAt(NOW + 61_000)).toBe(pausedUntilMs + 1_000)
  expect(startAt(pausedUntilMs)).toBe(pausedUntilMs)
})
