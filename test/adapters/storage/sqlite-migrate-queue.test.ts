import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttemptRecord, type Delivery, laneKey, type Store } from 'hookswitch/store'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { migrateSchema, SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'
import { rowsOf } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { commitGroup, engineStore, placed } from './sqlite-engine-store.js'
import { temporaryFolder } from './sqlite-harness.js'
import { oldWriter } from './sqlite-old-rows.js'
import { createOldFile } from './sqlite-old-schema.js'

const NOW = 1_735_689_600_000
const ACCOUNT = 'account'
const LANE = `${ACCOUNT}/call`

const plain = newWebhook({ id: 'plain' })
const parent = newWebhook({ id: 'parent', accountId: 'above', health: { failuresInRow: 2 } })
const cancelled = newWebhook({ id: 'cancelled', epoch: 2 })

function recordOf(deliveryId: string, eventId: string, attempt: number, rest: Partial<AttemptRecord> = {}) {
  const delivery = newDelivery(plain, newEvent({ id: eventId, callId: 'call' }), { id: deliveryId })
  return newRecord({ ...delivery, attempts: attempt - 1 } as Delivery, { atMs: NOW + attempt, ...rest })
}

const REQUEST_HEADERS = [
  ...['User-Agent', 'hookswitch/0.1', 'Accept', '*/*', 'X-Hook-ID', 'plain', 'X-Account-ID', ACCOUNT],
  ...['X-Hook-Attempt', '1', 'webhook-id', 'delivered', 'webhook-timestamp', `${NOW / 1_000}`],
  ...['webhook-signature', '[redacted]', 'X-Custom', 'a\nb', 'traceparent', '00-1', 'X-Empty', ''],
]
const RECORDS = {
  delivered: [
    recordOf('delivered', 'event-1', 1, { result: 'success', status: 200, requestHeaders: REQUEST_HEADERS }),
  ],
  retrying: [recordOf('retrying', 'event-3', 1, { clientError: 'timeout' })],
  exhausted: [recordOf('exhausted', 'event-4', 1), recordOf('exhausted', 'event-4', 2)],
  unrecorded: [recordOf('unrecorded', 'event-5', 1)],
}

/** A file of an earlier version with deliveries in every state. @param more further events that wait */
function createFile(path: string, version: 1 | 4, more = 0): void {
  const db = createOldFile(path, version)
  db.exec('begin')
  const write = oldWriter(db)
  for (const webhook of [plain, parent, cancelled]) write.webhook(webhook)
  for (let number = 1; number <= 8; number += 1) {
    const bodies = number === 6 ? ['{"sequence":6}', 'sequence=6'] : [`{"sequence":${number}}`]
    write.event(
      { id: `event-${number}`, accountId: ACCOUNT, callId: 'call', bodies, traceparent: '00-1' },
      NOW,
    )
    if (number === 1) {
      write.delivery(
        'event-1',
        {
          id: 'delivered',
          webhook: plain,
          state: 'delivered',
          attempts: 1,
          lane: LANE,
          endedMs: NOW + 5,
          records: RECORDS.delivered,
        },
        NOW,
      )
    }
    if (number === 2) {
      write.delivery(
        'event-2',
        { id: 'in-flight', webhook: plain, state: 'in_flight', attempts: 0, lane: LANE },
        NOW,
      )
      write.delivery(
        'event-2',
        { id: 'above', webhook: parent, state: 'waiting', dueMs: NOW, lane: LANE },
        NOW,
      )
    }
    if (number === 3)
      write.delivery(
        'event-3',
        {
          id: 'retrying',
          webhook: plain,
          state: 'retrying',
          attempts: 1,
          dueMs: NOW + 9_000,
          reason: 'timeout',
          lane: LANE,
          records: RECORDS.retrying,
        },
        NOW,
      )
    if (number === 4)
      write.delivery(
        'event-4',
        {
          id: 'exhausted',
          webhook: plain,
          state: 'exhausted',
          attempts: 2,
          lane: LANE,
          endedMs: NOW + 7,
          reason: 'gave up',
          records: RECORDS.exhausted,
        },
        NOW,
      )
    if (number === 5)
      write.delivery(
        'event-5',
        {
          id: 'unrecorded',
          webhook: plain,
          state: 'delivered',
          attempts: 2,
          lane: LANE,
          endedMs: NOW + 8,
          records: RECORDS.unrecorded,
        },
        NOW,
      )
    if (number === 6)
      write.delivery(
        'event-6',
        { id: 'form', webhook: plain, state: 'waiting', variant: 1, encoding: 'form', lane: LANE },
        NOW,
      )
    if (number === 7)
      write.delivery('event-7', { id: 'own-lane', webhook: plain, state: 'waiting', dueMs: NOW }, NOW)
    if (number === 8)
      write.delivery(
        'event-8',
        { id: 'stale', webhook: { ...cancelled, epoch: 1 }, state: 'waiting', dueMs: NOW, lane: LANE },
        NOW,
      )
  }
  write.delivery(
    'event-1',
    { id: 'replay-1', webhook: plain, state: 'waiting', dueMs: NOW, replayOf: 'delivered', lane: 'replay/x' },
    NOW,
  )
  write.delivery(
    'event-1',
    { id: 'replay-2', webhook: plain, state: 'waiting', replayOf: 'delivered', lane: 'replay/x' },
    NOW,
  )
  write.event({ id: 'test', accountId: ACCOUNT, bodies: ['{}'], isNumbered: false }, NOW)
  write.delivery(
    'test',
    { id: 'test-delivery', webhook: plain, state: 'waiting', dueMs: NOW, lane: 'test/1' },
    NOW,
  )
  write.key(ACCOUNT, 'key', 'event-4', 4, 'hash', NOW + 86_400_000)
  for (let index = 0; index < more; index += 1) {
    write.event({ id: `more-${index}`, accountId: ACCOUNT, callId: `call-${index % 7}`, bodies: ['{}'] }, NOW)
    write.delivery(
      `more-${index}`,
      {
        id: `more-delivery-${index}`,
        webhook: plain,
        state: 'waiting',
        lane: `${ACCOUNT}/call-${index % 7}`,
      },
      NOW,
    )
  }
  write.end(NOW)
  db.exec('commit; pragma wal_checkpoint(truncate)')
  db.close()
}

function open(path: string) {
  const store = engineStore(path, { now: () => NOW })
  onTestFinished(() => store.close())
  return store
}

async function load({ deliveries }: Store) {
  const lease = await deliveries.own('node', 1)
  const part = (await deliveries.load(lease, lease.shards))!
  const rows = rowsOf(part.waiting)
  const claims = await deliveries.bodies(rows)
  return {
    ...part,
    rows: rows.map((row, index) => ({ ...row, id: claims[index]!.delivery.id, body: claims[index]!.body })),
  }
}

describe.each([1, 4] as const)('a file of schema version %d', (version) => {
  it('is migrated: what waits, in order, and what was in flight as interrupted', async () => {
    const path = join(temporaryFolder(), 'x.db')
    createFile(path, version)
    const { rows, interrupted, webhooks } = await load(open(path))
    expect(
      rows.map(({ id, sequence, attempts, dueMs, body }) => [id, sequence, attempts, dueMs, body]),
    ).toEqual(
      expect.arrayContaining([
        ['in-flight', 2, 0, 0, '{"sequence":2}'],
        ['above', 2, 0, 0, '{"sequence":2}'],
        ['retrying', 3, 1, NOW + 9_000, '{"sequence":3}'],
        ['form', 6, 0, 0, 'sequence=6'],
        ['own-lane', 7, 0, 0, '{"sequence":7}'],
        ['stale', 8, 0, 0, '{"sequence":8}'],
        ['replay-1', 0, 0, 0, '{"sequence":1}'],
        ['replay-2', 0, 0, 0, '{"sequence":1}'],
        ['test-delivery', 0, 0, 0, '{}'],
      ]),
    )
    expect(rows).toHaveLength(9)
    const lane = rows.filter((row) => row.lane === laneKey(LANE) && row.webhookId === 'plain')
    expect(lane.map(({ id }) => id)).toEqual(['in-flight', 'retrying', 'form'])
    const [replay, second] = rows.filter(({ id }) => id.startsWith('replay'))
    expect([replay!.lane, replay!.position < second!.position]).toEqual([second!.lane, true])
    expect(rows.find(({ id }) => id === 'own-lane')?.lane).toBe(0)
    const { position, webhookId, epoch } = rows.find(({ id }) => id === 'in-flight')!
    expect(interrupted).toEqual([{ webhookId, position, attempt: 1, epoch }])
    expect(webhooks.find(({ id }) => id === 'parent')?.health).toEqual({ failuresInRow: 2 })
  })

  it('is migrated: ends, records, keys and numbers', async () => {
    const path = join(temporaryFolder(), 'x.db')
    createFile(path, version)
    const store = open(path)
    const { deliveries } = store
    for (const [id, records] of Object.entries(RECORDS)) {
      const found = await deliveries.attempts({
        accountId: ACCOUNT,
        deliveryId: id,
        ascending: true,
        limit: 9,
      })
      expect(found.map(({ position: _p, requestBody: _b, ...record }) => record)).toEqual(records)
    }
    const all = await deliveries.attempts({ accountId: ACCOUNT, callIds: ['call'], limit: 99 })
    expect(all.map(({ id }) => id).sort()).toEqual(
      Object.values(RECORDS)
        .flat()
        .map(({ id }) => id)
        .sort(),
    )
    const state = async (id: string) => deliveries.delivery(ACCOUNT, id)
    expect(await state('delivered')).toMatchObject({
      state: 'delivered',
      endedMs: NOW + 5,
      acceptedMs: NOW,
      lane: LANE,
    })
    expect(await state('exhausted')).toMatchObject({ state: 'exhausted', attempts: 2, reason: 'gave up' })
    expect(await state('unrecorded')).toMatchObject({ state: 'delivered', attempts: 2, endedMs: NOW + 8 })
    expect(await state('stale')).toMatchObject({ state: 'cancelled' })
    expect(await state('form')).toMatchObject({ state: 'waiting', encoding: 'form' })
    expect(await state('replay-1')).toMatchObject({
      state: 'waiting',
      replayOf: 'delivered',
      eventId: 'event-1',
    })
    const list = { accountId: ACCOUNT, webhookId: 'plain', limit: 99 }
    expect(await deliveries.deliveries(list)).toHaveLength(10)
    expect(await deliveries.deliveries({ ...list, states: ['delivered'] })).toHaveLength(2)

    const event = newEvent({ callId: 'call' })
    const again = newEvent({
      callId: 'call',
      idempotency: { key: 'key', bodyHash: 'hash', untilMs: NOW + 1 },
    })
    const { accepted } = store.inTransaction((engine) =>
      commitGroup(engine, { accepted: [placed([event]), placed([again])] }, NOW),
    )
    expect(accepted).toMatchObject([
      { events: [{ sequence: 9, duplicate: false }] },
      { events: [{ id: 'event-4', sequence: 4, duplicate: true }] },
    ])
    expect(await deliveries.legs(ACCOUNT, 'call')).toEqual(['call'])
    while ((await deliveries.erase({ accountId: ACCOUNT }, 99)) > 0) {}
    for (const table of ['waiting', 'attempt', 'event', 'body', 'call', 'delivery_id', 'idempotency']) {
      const { count } = store.db.prepare(`select count(*) as count from hookswitch_${table}`).get() as {
        count: number
      }
      expect([table, count]).toEqual([table, 0])
    }
  })
})

/** A connection that loses its process at the commit with this number, 1, 2, … */
function crashingAt(db: SqliteHandle, commit: number): SqliteHandle {
  let commits = 0
  return {
    prepare: (sql) => db.prepare(sql),
    close: () => db.close(),
    exec(sql) {
      if (sql === 'commit') commits += 1
      if (sql === 'rollback' || (sql === 'commit' && commits === commit)) throw new Error('crash')
      db.exec(sql)
    },
  }
}

it('a crash at any commit of a migration leaves a file that the next open continues', async () => {
  const folder = temporaryFolder()
  const [old, whole] = [join(folder, 'old.db'), join(folder, 'whole.db')]
  createFile(old, 1, 1_200)
  copyFileSync(old, whole)
  const expected = await load(open(whole))
  const { DatabaseSync } = loadDriver()
  let crashes = 0
  for (let commit = 1; ; commit += 1) {
    const path = join(folder, `${commit}.db`)
    copyFileSync(old, path)
    const db = new DatabaseSync(path)
    let isDone = false
    try {
      migrateSchema(crashingAt(db, commit), { path, field: 'path' }, 1)
      isDone = true
    } catch (thrown) {
      expect((thrown as Error).message).toBe('crash')
      crashes += 1
      // The end of the process releases the lock.
      db.exec('rollback')
    }
    db.close()
    if (isDone) break
    const store = open(path)
    const loaded = await load(store)
    expect(loaded.rows).toEqual(expected.rows)
    expect(loaded.interrupted).toEqual(expected.interrupted)
    const tables = store.db.prepare("select name from sqlite_schema where name like '%old%'").all()
    expect(tables).toEqual([])
  }
  // Five schemas, three batches and the end.
  expect(crashes).toBeGreaterThanOrEqual(8)
})

it('a new file has the newest schema', () => {
  const store = open(join(temporaryFolder(), 'x.db'))
  const row = store.db.prepare("select value from hookswitch_meta where name = 'schema'").get()
  expect(row).toEqual({ value: SCHEMA_VERSION })
})
