import { expect, it, onTestFinished } from 'vitest'
import { migrate, SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'
import { recent } from '../../../adapters/storage/sqlite/recent.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { type EngineStore, engineStore, freshDatabase, openDatabase } from './sqlite-engine-store.js'

const NOW = 1_000

function opened(path?: string): EngineStore {
  const file = path === undefined ? freshDatabase() : undefined
  const store = engineStore(path ?? file!.path, { now: () => NOW })
  onTestFinished(async () => {
    await store.close()
    file?.remove()
  })
  return store
}

/** A webhook with so many deliveries; the newest position. */
function accept(store: EngineStore, count: number, webhook = newWebhook()): number {
  return store.together(({ webhooks, deliveries }) => {
    if (!deliveries.webhookOf(webhook.id)) webhooks.insert(webhook)
    for (let index = 0; index < count; index += 1) {
      const event = newEvent({ callId: 'call' })
      deliveries.accept(
        { events: [event], deliveries: [newDelivery(webhook, event)], maxPending: 999_999 },
        NOW,
      )
    }
    const query = { accountId: 'account', webhookId: webhook.id, limit: 1 }
    return deliveries.deliveries(query)[0]!.position
  })
}

it('never gives a position twice, though the newest rows were erased and the file opened again', async () => {
  const store = opened()
  const newest = accept(store, 3)
  while ((await store.deliveries.erase({ accountId: 'account' }, 99)) > 0) {}
  await store.close()
  expect(accept(opened(store.path), 1)).toBeGreaterThan(newest)
})

it('gives positions that are written, though the group that took a new block of them was undone', async () => {
  const store = opened()
  expect(() =>
    store.together(({ webhooks, deliveries }) => {
      const webhook = newWebhook()
      webhooks.insert(webhook)
      const event = newEvent()
      deliveries.accept({ events: [event], deliveries: [newDelivery(webhook, event)], maxPending: 9 }, NOW)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  const newest = accept(store, 2)
  await store.close()
  const again = opened(store.path)
  expect(accept(again, 2)).toBeGreaterThan(newest)
  expect(await again.deliveries.pending()).toBe(4)
})

it('takes what a former life had in flight for orphans, under the same name too', async () => {
  const store = opened()
  const webhook = newWebhook()
  await store.deliveries.own('node', 1)
  accept(store, 1, webhook)
  const request = { owner: 'node', endpoints: [{ webhookId: webhook.id, room: 1 }], limit: 1, now: NOW }
  const { claims } = await store.deliveries.claim(request)
  await store.close()
  const again = opened(store.path)
  expect(await again.deliveries.orphans('node', 9)).toEqual([])
  await again.deliveries.own('node', 1)
  expect(await again.deliveries.orphans('node', 9)).toEqual([claims[0]!.delivery])
})

it('undoes an ownership with its transaction', async () => {
  const store = opened()
  await store.deliveries.own('node', 1)
  expect(() =>
    store.together(({ deliveries }) => {
      deliveries.own('thief', 1, NOW)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect((await store.deliveries.renew('thief', 1)).shards).toEqual([])
  expect((await store.deliveries.renew('node', 1)).shards).toHaveLength(64)
})

it('remembers what was asked for of late, and no more than twice its size', () => {
  const numbers = recent<number, number>(10)
  for (let number = 0; number < 1_000; number += 1) {
    numbers.set(number, number)
    expect(numbers.get(0)).toBe(0)
  }
  const left = Array.from({ length: 1_000 }, (_, number) => numbers.get(number)).filter(
    (found) => found !== undefined,
  )
  expect(left.length).toBeLessThanOrEqual(20)
  expect(numbers.get(999)).toBe(999)
  numbers.delete(999)
  expect(numbers.get(999)).toBeUndefined()
})

it('makes the tables once, in a file of its own or of a host, and says whose the file is', () => {
  const file = freshDatabase()
  onTestFinished(file.remove)
  for (let round = 0; round < 2; round += 1) {
    const db = openDatabase(file.path)
    expect(db.prepare('pragma application_id').get()).toEqual({ application_id: 0x486b5377 })
    expect(db.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({
      value: SCHEMA_VERSION,
    })
    db.close()
  }
  const host = freshDatabase()
  onTestFinished(host.remove)
  const db = openDatabaseOf(host.path)
  migrate(db, { path: host.path, field: 'database' })
  expect(db.prepare('pragma application_id').get()).toEqual({ application_id: 7 })
  expect(db.prepare('pragma user_version').get()).toEqual({ user_version: 9 })
  const names = db.prepare("select name from sqlite_schema where type = 'table' order by name").all()
  const ours = (names as { name: string }[]).filter(({ name }) => name.startsWith('hookswitch_'))
  expect(ours.length).toBe(names.length - 1)
  db.close()
})

/** A file with tables of somebody else. */
function openDatabaseOf(path: string) {
  const db = openDatabase(path)
  const ours = db.prepare("select name from sqlite_schema where type = 'table' and name like 'hookswitch%'")
  for (const { name } of ours.all() as { name: string }[]) db.exec(`drop table ${name}`)
  db.exec('create table host_calls (id integer); pragma application_id = 7; pragma user_version = 9')
  return db
}

it('refuses tables of a newer version in one sentence, and changes nothing', () => {
  const file = freshDatabase()
  onTestFinished(file.remove)
  const db = openDatabase(file.path)
  onTestFinished(() => db.close())
  db.exec("update hookswitch_meta set value = 99 where name = 'schema'")
  const before = db.prepare('pragma data_version').get()
  expect(() => migrate(db, { path: file.path, field: 'path' })).toThrow(
    expect.objectContaining({
      code: 'InvalidOption',
      field: 'path',
      message: `path was written by a newer hookswitch (schema 99, this one knows ${SCHEMA_VERSION}), update the package: ${file.path}`,
    }),
  )
  expect(db.prepare('pragma data_version').get()).toEqual(before)
  expect(db.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({ value: 99 })
})
