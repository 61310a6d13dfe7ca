import { expect, it, onTestFinished } from 'vitest'
import { migrateSchema, SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'

import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  engineStore,
  openDatabase,
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

it('creates the tables once, and sets application_id in its own file but not in a host’s', () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  for (let round = 0; round < 2; round += 1) {
    const db = openDatabase(file.path)
    expect(db.prepare('pragma application_id').get()).toEqual({ application_id: 0x486b5377 })
    expect(db.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({
      value: SCHEMA_VERSION,
    })
    db.close()
  }
  const host = temporaryDatabase()
  onTestFinished(host.remove)
  const db = openHostDatabase(host.path)
  migrateSchema(db, { path: host.path, field: 'database' })
  expect(db.prepare('pragma application_id').get()).toEqual({ application_id: 7 })
  expect(db.prepare('pragma user_version').get()).toEqual({ user_version: 9 })
  const names = db.prepare("select name from sqlite_schema where type = 'table' order by name").all()
  const ours = (names as { name: string }[]).filter(({ name }) => name.startsWith('hookswitch_'))
  expect(ours.length).toBe(names.length - 1)
  db.close()
})

/** A host's file: a table of the host, and none of ours. */
function openHostDatabase(path: string) {
  const db = openDatabase(path)
  const ours = db.prepare("select name from sqlite_schema where type = 'table' and name like 'hookswitch%'")
  for (const { name } of ours.all() as { name: string }[]) db.exec(`drop table ${name}`)
  db.exec('create table host_calls (id integer); pragma application_id = 7; pragma user_version = 9')
  return db
}

it('rejects tables of a newer version with one sentence and changes nothing', () => {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  const db = openDatabase(file.path)
  onTestFinished(() => db.close())
  db.exec("update hookswitch_meta set value = 99 where name = 'schema'")
  const before = db.prepare('pragma data_version').get()
  expect(() => migrateSchema(db, { path: file.path, field: 'path' })).toThrow(
    expect.objectContaining({
      code: 'InvalidOption',
      field: 'path',
      message: `path was written by a newer hookswitch (schema 99, this version supports ${SCHEMA_VERSION}), update the package: ${file.path}`,
    }),
  )
  expect(db.prepare('pragma data_version').get()).toEqual(before)
  expect(db.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({ value: 99 })
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
