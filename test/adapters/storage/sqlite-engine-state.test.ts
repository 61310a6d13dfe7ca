import { expect, it, onTestFinished } from 'vitest'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  engineStore,
  placed,
  settlementOf,
  temporaryDatabase,
} from './sqlite-engine-store.js'

const NOW = 1_000

function openEngine(path?: string): EngineStore {
  const file = path === undefined ? temporaryDatabase() : undefined
  const store = engineStore(path ?? file!.path, { now: () => NOW })
  onTestFinished(async () => {
    await store.close()
    file?.remove()
  })
  return store
}

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
  const store = openEngine()
  const newest = deliver(store, 3)
  while ((await store.deliveries.erase({ accountId: 'account' }, 99)) > 0) {}
  await store.close()
  expect(deliver(openEngine(store.path), 1)).toBeGreaterThan(newest)
})

it('reserves a block of keys again after the group that reserved it was rolled back', async () => {
  const store = openEngine()
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
  expect(deliver(openEngine(store.path), 2)).toBeGreaterThan(newest)
})

it('stores the part that requests have in common again after the group that stored it was rolled back', async () => {
  const store = openEngine()
  const webhook = newWebhook()
  expect(() =>
    store.inTransaction((engine) => {
      engine.webhooks.insert(webhook)
      const event = newEvent()
      const delivery = newDelivery(webhook, event)
      commitGroup(engine, { accepted: [placed([event], [delivery])] }, NOW)
      commitGroup(engine, { ended: [settlementOf(delivery, 0, 'delivered')] }, NOW)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  deliver(store, 1, webhook)
  const attempts = await store.deliveries.attempts({ accountId: 'account', webhookId: webhook.id, limit: 9 })
  expect(attempts).toMatchObject([{ uri: webhook.settings.uri }])
})

it('names starts before a restart as interrupted, even to a node with the same name', async () => {
  const store = openEngine()
  const webhook = newWebhook()
  const event = newEvent()
  const delivery = newDelivery(webhook, event)
  store.inTransaction((engine) => {
    engine.webhooks.insert(webhook)
    const accepted = [placed([event], [delivery])]
    const start = { webhookId: webhook.id, position: delivery.position!, attempt: 1, epoch: 1 }
    commitGroup(engine, { accepted, starting: { key: 1, deliveries: [start] } }, NOW)
  })
  await store.close()
  const { deliveries } = openEngine(store.path)
  const lease = await deliveries.own('node', 1)
  expect((await deliveries.load(lease, lease.shards))?.interrupted).toMatchObject([{ attempt: 1 }])
})

it('rolls back an ownership with its transaction', async () => {
  const store = openEngine()
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
  const store = openEngine()
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
