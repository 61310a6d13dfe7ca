import { existsSync, readFileSync } from 'node:fs'
import type { NewEvent, StoredReplay, Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import {
  commitGroup,
  type EngineStore,
  openDatabase,
  openEngine,
  placed,
  settlementOf,
} from './sqlite-engine-store.js'

const NOW = 1_000
/** Is contained in everything that is to be erased, and nowhere else. */
const MARKER = 'MARK4711'

/** Accepts an event for a webhook and records `attempts` attempts; the last one ends the delivery, if `ended`. */
function send(
  store: EngineStore,
  webhook: Webhook,
  event: NewEvent,
  { attempts = 1, ended = true, response = 'ok' } = {},
): void {
  store.inTransaction((engine) => {
    const delivery = newDelivery(webhook, event)
    commitGroup(engine, { accepted: [placed([event], [delivery])] }, NOW)
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const state = ended && attempt === attempts ? 'exhausted' : 'waiting'
      const settlement = settlementOf(delivery, attempt - 1, state, { responseBody: response })
      commitGroup(engine, { ended: [settlement] }, NOW)
    }
  })
}

/** The rows that contain the marker. */
function rowsWithMarker({ db }: EngineStore): unknown[] {
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

/** How often the marker occurs in the files of the database. */
function countMarkers({ path }: EngineStore): number {
  return ['', '-wal', '-shm', '-journal']
    .map((end) => path + end)
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file).toString('latin1').split(MARKER).length - 1)
    .reduce((sum, count) => sum + count, 0)
}

function eventWithMarker(index: number, overrides: Partial<NewEvent> = {}): NewEvent {
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
  const erasure = { accountId: 'account', ...(callIds ? { callIds } : {}) }
  while ((await store.deliveries.erase(erasure, 50)) > 0) {}
  await store.deliveries.scrub()
}

function fill(store: EngineStore): { readonly keptWebhook: Webhook; readonly callIds: string[] } {
  const kept = newWebhook({ settings: { hook: 'kept' } })
  const own = newWebhook()
  const parent = newWebhook({ accountId: 'parent' })
  store.inTransaction(({ webhooks }) => [kept, own, parent].forEach(webhooks.insert))
  const callIds: string[] = []
  for (let index = 0; index < 400; index += 1) {
    const variants = [
      {},
      { attempts: 3, response: `${MARKER} in the response` },
      { attempts: 2, ended: false, response: `${MARKER} in the response` },
      { attempts: 0 },
    ] as const
    const event = eventWithMarker(index)
    callIds.push(event.callId!, event.otherLegCallId!)
    send(store, index % 5 === 0 ? parent : own, event, variants[index % 4]!)
    // Rows to keep are interleaved with rows to erase.
    if (index % 3 === 0) send(store, kept, newEvent({ callId: `kept-${index}` }))
  }
  const staged = store.db.prepare(
    'insert into hookswitch_inbox (event_id, account_id, call_id, event) values (?, ?, ?, ?)',
  )
  for (let index = 0; index < 20; index += 1) {
    staged.run(`event-${index}`, 'account', `${MARKER}-${index}`, `{"text":"${MARKER.repeat(99)}"}`)
  }
  return { keptWebhook: kept, callIds }
}

it('leaves no byte of erased calls in the files, and keeps everything else', async () => {
  const store = openEngine(NOW)
  const { keptWebhook: kept, callIds } = fill(store)
  expect(countMarkers(store)).toBeGreaterThan(10_000)
  // SQLite merges the pages of the remaining rows, which the second half then erases.
  for (const callId of callIds.filter((_, index) => index % 4 < 3)) {
    await store.deliveries.erase({ accountId: 'account', callIds: [callId] }, 999)
  }
  await eraseAll(store, callIds)
  expect(rowsWithMarker(store)).toEqual([])
  expect(countMarkers(store)).toBe(0)

  const query = { accountId: 'account', webhookId: kept.id, limit: 999 }
  const rows = await store.deliveries.deliveries(query)
  expect(rows.map((row) => row.callId?.startsWith('kept-'))).toEqual(Array.from({ length: 134 }, () => true))
  expect(await store.deliveries.attempts(query)).toHaveLength(134)
  expect(await store.deliveries.legs('account', 'kept-0')).toEqual(['kept-0'])
  expect(store.db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
})

it('leaves no byte of an erased account in the files, nor of its deleted webhooks', async () => {
  const store = openEngine(NOW)
  fill(store)
  const deleted = newWebhook({
    settings: { name: `${MARKER} webhook`, uri: `https://${MARKER}.example.com/` },
  })
  store.inTransaction(({ webhooks }) => webhooks.insert(deleted))
  send(store, deleted, eventWithMarker(9_999, { callId: `${MARKER}-last` }))
  await store.webhooks.replace({ ...deleted, deletedMs: NOW, revision: 2, epoch: 2 }, 1)
  const { callId: _none, ...without } = eventWithMarker(10_000, { numbered: false })
  send(store, insertWebhook(store), without)
  expect(countMarkers(store)).toBeGreaterThan(10_000)
  await eraseAll(store)
  expect(rowsWithMarker(store)).toEqual([])
  expect(countMarkers(store)).toBe(0)
  for (const table of [
    'waiting',
    'attempt',
    'event',
    'body',
    'call',
    'delivery_id',
    'idempotency',
    'inbox',
  ]) {
    const left = store.db.prepare(`select count(*) as count from hookswitch_${table}`).get()
    expect([table, left]).toEqual([table, { count: 0 }])
  }
})

/** Inserts a webhook of the account. */
function insertWebhook(store: EngineStore): Webhook {
  const webhook = newWebhook()
  store.inTransaction(({ webhooks }) => webhooks.insert(webhook))
  return webhook
}

it('erases events without deliveries in batches of limited size, and counts them', async () => {
  const store = openEngine(NOW)
  const { callId: _none, ...withoutCall } = newEvent({ numbered: false })
  store.inTransaction((engine) => {
    for (let index = 0; index < 30; index += 1) {
      const { id, position } = newEvent()
      const event = index % 2 === 0 ? newEvent({ callId: 'call' }) : { ...withoutCall, id, position }
      commitGroup(engine, { accepted: [placed([event], [])] }, NOW)
    }
  })
  const left = () =>
    (store.db.prepare('select count(*) as left from hookswitch_event').get() as { left: number }).left
  const [before, sizes] = [left(), [] as number[]]
  for (let rows = before; rows > 0; rows = left()) {
    const removed = await store.deliveries.erase({ accountId: 'account' }, 4)
    expect(removed).toBeGreaterThan(0)
    sizes.push(rows - left())
  }
  expect(before).toBeGreaterThan(10)
  expect(Math.max(...sizes)).toBe(4)
  expect(store.db.prepare("select value from hookswitch_meta where name = 'erased'").get()).toEqual({
    value: 1,
  })
})

it('reports another connection that prevents the truncation of the log', async () => {
  const store = openEngine(NOW)
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
  expect(rowsWithMarker(store)).toEqual([])
  expect(countMarkers(store)).toBe(0)
})

it('nothing of an erased leg is left in the file', async () => {
  const store = openEngine(NOW)
  const leg = { accountId: 'acme', state: `{"from":"${MARKER}"}` }
  // Not in the order of their ids, so that pages are split, which leaves copies of rows behind in pages that stay.
  for (const source of ['one', 'two']) {
    const legs = Array.from({ length: 997 }, (_, index) => {
      const callId = `${(index * 31) % 997}`
      return index % 3 === 0 ? { ...leg, callId } : { callId, accountId: 'other', state: '{}' }
    })
    await store.openLegs.write(source, { put: legs, remove: [] }, 1)
  }
  store.db.exec('pragma wal_checkpoint(truncate)')
  expect(readFileSync(store.path).includes(MARKER)).toBe(true)
  while ((await store.openLegs.erase({ accountId: 'acme' }, 50)) > 0) {}
  await store.deliveries.scrub()
  expect(readFileSync(store.path).includes(MARKER)).toBe(false)
})

it('nothing of an erased job is left in the file', async () => {
  const { db, path, replays, deliveries } = openEngine(NOW)
  const job = (index: number): StoredReplay => ({
    id: index.toString(16).padStart(32, '0'),
    accountId: index % 3 === 0 ? 'acme' : 'other',
    state: 'running',
    createdMs: NOW + index,
    revision: 1,
    doc: JSON.stringify({ reason: index % 3 === 0 ? MARKER : '-', text: 'x'.repeat(100) }),
  })
  for (let index = 0; index < 60; index += 1) await replays.create(job((index * 31) % 60))
  db.exec('pragma wal_checkpoint(truncate)')
  expect(readFileSync(path).includes(MARKER)).toBe(true)
  while ((await replays.erase('acme', 7)) > 0) {}
  await deliveries.scrub()
  expect(readFileSync(path).includes(MARKER)).toBe(false)
  expect(await replays.unfinished(99)).toHaveLength(40)
})
