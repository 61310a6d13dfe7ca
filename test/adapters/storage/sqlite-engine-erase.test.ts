import { existsSync, readFileSync } from 'node:fs'
import type { NewEvent, Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { type EngineStore, engineStore, freshDatabase, openDatabase } from './sqlite-engine-store.js'

const NOW = 1_000
/** Stands in everything that is to be erased, and nowhere else. */
const MARKER = 'MARK4711'

function opened(): EngineStore {
  const file = freshDatabase()
  const store = engineStore(file.path, { now: () => NOW })
  onTestFinished(async () => {
    await store.close()
    file.remove()
  })
  store.together(({ deliveries }) => deliveries.own('node', 1, NOW))
  return store
}

/** Accepts an event for this webhook, and sends it `attempts` times; the last attempt ends it, if `ended`. */
function send(
  store: EngineStore,
  webhook: Webhook,
  event: NewEvent,
  { attempts = 1, ended = true, response = 'ok' } = {},
): void {
  store.together(({ deliveries }) => {
    const delivery = newDelivery(webhook, event)
    deliveries.accept({ events: [event], deliveries: [delivery], maxPending: 99_999 }, NOW)
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const endpoints = [{ webhookId: webhook.id, room: 1 }]
      const claim = deliveries.claim({ owner: 'node', endpoints, limit: 1, now: NOW }).claims[0]!
      const isEnd = ended && attempt === attempts
      deliveries.settle(
        [
          {
            owner: 'node',
            deliveryId: claim.delivery.id,
            webhookId: webhook.id,
            expect: { state: 'in_flight', fence: claim.delivery.fence },
            next: {
              state: isEnd ? 'exhausted' : 'waiting',
              attempts: attempt,
              tries: attempt,
              interruptions: 0,
              // Only the next round may find it.
              ...(isEnd ? {} : { dueMs: attempt === attempts ? NOW + 1 : NOW }),
              reason: response,
            },
            record: newRecord(claim.delivery, { responseBody: response, attempt }),
          },
        ],
        NOW,
      )
    }
  })
}

/** Where the marker stands in rows. */
function remains({ db }: EngineStore): unknown[] {
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table' and name like 'hookswitch%'")
    .all()
  return (tables as { name: string }[]).flatMap(({ name }) =>
    db
      .prepare(`select * from ${name}`)
      .all()
      .filter((row) => JSON.stringify(row).includes(MARKER))
      .map((row) => [name, row]),
  )
}

/** How often the marker stands in the files of the database. */
function traces({ path }: EngineStore): number {
  return ['', '-wal', '-shm', '-journal']
    .map((end) => path + end)
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file).toString('latin1').split(MARKER).length - 1)
    .reduce((sum, count) => sum + count, 0)
}

function marked(index: number, overrides: Partial<NewEvent> = {}): NewEvent {
  const size = index % 10 === 0 ? 20_000 : 700
  const text = MARKER.repeat(Math.ceil(size / MARKER.length))
  return newEvent({
    callId: `${MARKER}-${index}`,
    otherLegCallId: `${MARKER}-other-${index}`,
    bodies: [
      { head: `{"text":"${text}","sequence":`, tail: '}' },
      { head: `text=${text}&sequence=`, tail: '' },
    ],
    idempotency: { key: `${MARKER}-key-${index}`, bodyHash: 'hash', untilMs: 1e15 },
    ...overrides,
  })
}

async function eraseAll(store: EngineStore, callIds?: readonly string[]): Promise<void> {
  const what = { accountId: 'account', ...(callIds ? { callIds } : {}) }
  while ((await store.deliveries.erase(what, 50)) > 0) {}
  await store.deliveries.scrub()
}

function fill(store: EngineStore): { readonly kept: Webhook; readonly callIds: string[] } {
  const kept = newWebhook({ settings: { hook: 'kept' } })
  const own = newWebhook()
  const parent = newWebhook({ accountId: 'parent' })
  store.together(({ webhooks }) => [kept, own, parent].forEach(webhooks.insert))
  const callIds: string[] = []
  for (let index = 0; index < 400; index += 1) {
    const ways = [
      {},
      { attempts: 3, response: `${MARKER} said the receiver` },
      { attempts: 2, ended: false, response: `${MARKER} said the receiver` },
      { attempts: 0 },
    ] as const
    const event = marked(index)
    callIds.push(event.callId!, event.otherLegCallId!)
    send(store, index % 5 === 0 ? parent : own, event, ways[index % 4]!)
    // What is kept lies between what goes.
    if (index % 3 === 0) send(store, kept, newEvent({ callId: `kept-${index}` }))
  }
  const staged = store.db.prepare(
    'insert into hookswitch_inbox (event_id, account_id, call_id, event) values (?, ?, ?, ?)',
  )
  for (let index = 0; index < 20; index += 1) {
    staged.run(`event-${index}`, 'account', `${MARKER}-${index}`, `{"text":"${MARKER.repeat(99)}"}`)
  }
  return { kept, callIds }
}

it('leaves no byte of erased calls in the files, and everything else as it was', async () => {
  const store = opened()
  const { kept, callIds } = fill(store)
  expect(traces(store)).toBeGreaterThan(10_000)
  // What stays after the first half moves together, and goes with the second.
  for (const callId of callIds.filter((_, index) => index % 4 < 3)) {
    await store.deliveries.erase({ accountId: 'account', callIds: [callId] }, 999)
  }
  await eraseAll(store, callIds)
  expect(remains(store)).toEqual([])
  expect(traces(store)).toBe(0)

  const query = { accountId: 'account', webhookId: kept.id, limit: 999 }
  const rows = await store.deliveries.deliveries(query)
  expect(rows.map((row) => row.callId?.startsWith('kept-'))).toEqual(Array.from({ length: 134 }, () => true))
  expect(await store.deliveries.attempts(query)).toHaveLength(134)
  expect(await store.deliveries.legs('account', 'kept-0')).toEqual(['kept-0'])
  expect(store.db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
})

it('leaves no byte of an erased account in the files, nor of its deleted webhooks', async () => {
  const store = opened()
  fill(store)
  const deleted = newWebhook({
    settings: { name: `${MARKER} webhook`, uri: `https://${MARKER}.example.com/` },
  })
  store.together(({ webhooks }) => webhooks.insert(deleted))
  send(store, deleted, marked(9_999, { callId: `${MARKER}-last` }))
  await store.webhooks.replace({ ...deleted, deletedMs: NOW, revision: 2, epoch: 2 }, 1)
  const { callId: _none, ...without } = marked(10_000, { numbered: false })
  send(store, newestWebhook(store), without)
  expect(traces(store)).toBeGreaterThan(10_000)
  await eraseAll(store)
  expect(remains(store)).toEqual([])
  expect(traces(store)).toBe(0)
  expect(await store.deliveries.pending()).toBe(0)
  for (const table of ['delivery', 'attempt', 'event', 'body', 'call', 'idempotency', 'inbox']) {
    const left = store.db.prepare(`select count(*) as count from hookswitch_${table}`).get()
    expect([table, left]).toEqual([table, { count: 0 }])
  }
})

/** A live webhook of the account. */
function newestWebhook(store: EngineStore): Webhook {
  const webhook = newWebhook()
  store.together(({ webhooks }) => webhooks.insert(webhook))
  return webhook
}

it('says so when another connection keeps the log from being emptied', async () => {
  const store = opened()
  const { callIds } = fill(store)
  const reader = openDatabase(store.path)
  onTestFinished(() => reader.close())
  reader.exec('begin')
  reader.prepare('select count(*) from hookswitch_event').get()
  store.db.exec('pragma busy_timeout = 0')
  await expect(eraseAll(store, callIds)).rejects.toThrow(
    expect.objectContaining({
      code: 'StoreUnavailable',
      message: expect.stringContaining('another connection'),
    }),
  )
  reader.exec('commit')
  await store.deliveries.scrub()
  expect(remains(store)).toEqual([])
  expect(traces(store)).toBe(0)
})
