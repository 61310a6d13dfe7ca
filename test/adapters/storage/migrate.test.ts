import { join } from 'node:path'
import { migrateToPostgres, postgresStore } from 'hookswitch/postgres'
import { sqliteExportSource, sqliteStore } from 'hookswitch/sqlite'
import { type ExportedCounts, type InboxEntry, inboxShard, type Store, shardOf } from 'hookswitch/store'
import { type ScriptedReceiver, scriptedReceiver, status } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { channelCreate } from '../../service/service-fixture.js'
import {
  createFilledFile,
  type FilledFile,
  KEYED_OPTIONS,
  log,
  type RunningService,
  readEverything,
  STAGED_CALLS,
  startService,
} from './migrate-harness.js'
import { postgresForTests } from './pg-cluster.js'
import { temporaryFolder } from './sqlite-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const HOUR_MS = 3_600_000

/** Rows of SQLite tables, and the rows of PostgreSQL tables that correspond to them. */
const TABLES: Readonly<Record<string, string>> = {
  account: 'account',
  gone_account: 'gone_account',
  gone_user: 'gone_user',
  api_key: 'api_key',
  user: 'account_user',
  credential: 'credential',
  token: 'token',
  webhook: 'webhook',
  call: '(select distinct account_id, call_id from {}.event where call_id is not null) calls',
  'event where variants > 0': 'event where position > 0',
  body: 'body',
  waiting: 'waiting',
  attempt: 'attempt',
  start: 'start',
  idempotency: 'idempotency',
  inbox: 'inbox',
  open_leg: 'open_leg',
  encryption: 'encryption',
}

describe.skipIf(!server)('a migration from SQLite to PostgreSQL', () => {
  let receiver: ScriptedReceiver
  let schema: string
  const open: { close(): Promise<void> }[] = []
  beforeEach(async () => {
    receiver = scriptedReceiver()
    await receiver.start()
    schema = server!.freshSchema()
  })
  afterEach(async () => {
    await receiver.close()
    for (const opened of open.splice(0)) await opened.close()
  })

  const file = () => join(temporaryFolder(), 'x.db')
  const store = (aheadMs = 0) => {
    const { now } = systemClock()
    const clock = { ...systemClock(), now: () => now() + aheadMs }
    return postgresStore({ connectionString: server!.url, schema, clock })
  }
  async function migrate(path: string, reports?: (counts: ExportedCounts) => void): Promise<ExportedCounts> {
    const source = sqliteExportSource({ path })
    try {
      return await migrateToPostgres(source, { connectionString: server!.url, schema }, reports)
    } finally {
      source.close()
    }
  }
  async function readStore(at: Store, filled: FilledFile): Promise<unknown> {
    await at.open({ clock: systemClock(), log })
    return readEverything(at, filled).finally(() => at.close())
  }
  async function startMigrated(filled: FilledFile): Promise<RunningService> {
    const service = await startService(store(2 * HOUR_MS), filled.secret, 2 * HOUR_MS)
    open.push(service)
    return service
  }

  it('keeps everything that the store returns, and the number of rows in every table', async () => {
    const filled = await createFilledFile(file(), receiver)
    const before = await readStore(sqliteStore({ path: filled.path, inThread: true }), filled)
    for (const state of ['waiting', 'delivered', 'cancelled'])
      expect(JSON.stringify(before)).toMatch(new RegExp(`"state":"${state}"[^{}]*"failedMs":`))
    const counts = rowsOf(filled.path)
    await migrate(filled.path)
    for (const [name, table] of Object.entries(TABLES)) {
      const from = table.startsWith('(') ? table.replace('{}', `"${schema}"`) : `"${schema}".${table}`
      const [row] = await server!.sql(`select count(*)::int as rows from ${from}`)
      expect([name, row!.rows]).toEqual([name, counts[name]])
    }
    expect(await inconsistentRows()).toEqual([])
    expect(await readStore(store(), filled)).toEqual(before)
  })

  it('keeps store time where the clock of the source was ahead: nothing is due later', async () => {
    const filled = await createFilledFile(file(), receiver)
    // Rows are half an hour older than the clock of their writer, which has gone back since.
    const AHEAD_MS = HOUR_MS / 2
    const db = new (loadDriver().DatabaseSync)(filled.path)
    db.exec(`insert or replace into hookswitch_meta (name, value) values ('store_time_offset', ${AHEAD_MS})`)
    db.close()
    const earliestMs = Date.now() + AHEAD_MS
    await migrate(filled.path)
    const migrated = postgresStore({ connectionString: server!.url, schema })
    await migrated.open({ clock: systemClock(), log })
    open.push(migrated)
    const { storeMs } = await migrated.deliveries.own('node', 30_000)
    expect(storeMs).toBeGreaterThanOrEqual(earliestMs - 1)
    expect(storeMs).toBeLessThanOrEqual(Date.now() + AHEAD_MS + 1)
  })

  it('leaves the clock of a source behind on which nothing waits', async () => {
    const path = file()
    const empty = sqliteStore({ path, inThread: true })
    await empty.open({ clock: systemClock(), log })
    await empty.close()
    const db = new (loadDriver().DatabaseSync)(path)
    db.exec(`insert or replace into hookswitch_meta (name, value) values ('store_time_offset', ${HOUR_MS})`)
    db.close()
    await migrate(path)
    const migrated = postgresStore({ connectionString: server!.url, schema })
    await migrated.open({ clock: systemClock(), log })
    open.push(migrated)
    expect((await migrated.deliveries.own('node', 30_000)).storeMs).toBeLessThanOrEqual(Date.now() + 1)
  })

  /** Rows with derived columns that differ from what the store would have written. */
  async function inconsistentRows(): Promise<unknown[]> {
    const s = `"${schema}"`
    const inbox = await server!.sql(
      `select shard, account_id as "accountId", call_id as "callId" from ${s}.inbox`,
    )
    const body = `exists (select from ${s}.event e where e.position = d.event and case d.variant when 0 then e.body is not null
      else exists (select from ${s}.body b where b.event = d.event and b.variant = d.variant) end)`
    const waiting = await server!.sql(
      `select * from ${s}.waiting d where d.due_ms is not null and d.attempts = 0 or not ${body}`,
    )
    const attempts =
      await server!.sql(`select * from ${s}.attempt d where (d.state >= 2) <> (d.ended_ms is not null)
      or d.doc is null and d.state < 2 or not ${body}`)
    const webhooks = await server!.sql(`select id, shard from ${s}.webhook`)
    const hasWrongShard = (row: object) => inboxShard(row as InboxEntry) !== (row as { shard: number }).shard
    return [
      ...inbox.filter(hasWrongShard),
      ...waiting,
      ...attempts,
      ...webhooks.filter(({ id, shard }) => shardOf(id as string) !== shard),
    ]
  }

  it('continues the service: tokens, responses, sequence numbers, keys, and each delivery once and in order', async () => {
    const filled = await createFilledFile(file(), receiver)
    const pending = await pendingOf(filled)
    await migrate(filled.path)
    const first = receiver.requests.length
    for (const path of ['/failing', '/hangs', '/doomed']) receiver.on(path, [status(200)])
    const { hs, get } = await startMigrated(filled)

    for (const token of filled.tokens) {
      for (const [path, answer] of filled.answers) {
        expect(withoutLastSuccess((await get(path, token)).json.data)).toEqual(withoutLastSuccess(answer))
      }
    }
    await expect
      .poll(() => hs.webhooks.attempts('parent', undefined, { callIds: ['call-staged'] }))
      .toHaveLength(6)
    // Three rounds and the staged event.
    expect(await hs.publish(channelCreate('call-a'))).toMatchObject({ sequence: 5, duplicate: false })
    expect(await hs.publish(channelCreate('call-b'))).toMatchObject({ sequence: 4, duplicate: false })
    expect(await hs.publish(channelCreate('keyed'), KEYED_OPTIONS)).toMatchObject({
      sequence: 1,
      duplicate: true,
    })

    const states = ['waiting', 'in_flight'] as const
    const left = async () => {
      const lists = Object.values(filled.webhooks).map((id) =>
        hs.webhooks.deliveries('parent', id, { states }),
      )
      return (await Promise.all(lists)).flat().length
    }
    await expect.poll(left).toBe(0)
    // Four attempts made before the webhook was disabled, and ten cancellations.
    await expect.poll(() => hs.webhooks.attempts('parent', filled.webhooks.doomed)).toHaveLength(4 + 10)
    const arrived = receiver.requests.slice(first).map(({ headers }) => headers['webhook-id']!)
    expect(pending.size).toBeGreaterThan(2)
    for (const lane of pending.values()) expect(arrived.filter((id) => lane.includes(id))).toEqual(lane)
    expect(new Set(arrived).size).toBe(arrived.length)
    // Three webhooks receive the staged events and those published here.
    expect(arrived).toHaveLength([...pending.values()].flat().length + 3 * (STAGED_CALLS.length + 2))
  })

  /** Ids of waiting and in-flight deliveries by lane, in order, without those of disabled webhooks. */
  async function pendingOf({ path, webhooks }: FilledFile): Promise<Map<string, string[]>> {
    const from = sqliteStore({ path, inThread: true })
    await from.open({ clock: systemClock(), log })
    const lanes = new Map<string, string[]>()
    for (const webhookId of Object.values(webhooks)) {
      const states = ['waiting', 'in_flight'] as const
      const query = { accountId: 'parent', webhookId, states, ascending: true, limit: 500 }
      for (const { id, lane } of await from.deliveries.deliveries(query)) {
        const name = `${webhookId} ${lane}`
        lanes.set(name, [...(lanes.get(name) ?? []), id])
      }
    }
    await from.close()
    return lanes
  }

  it('reports its progress', async () => {
    const { path } = await createFilledFile(file(), receiver)
    const reports: ExportedCounts[] = []
    const counts = await migrate(path, (sofar) => reports.push({ ...sofar }))
    expect(reports.at(-1)).toEqual(counts)
    expect(counts).toMatchObject({
      accounts: 3,
      removedAccounts: 1,
      webhooks: 6,
      inboxEntries: STAGED_CALLS.length,
      encryptionRecords: 1,
    })
    expect(Object.keys(counts)).toHaveLength(15)
  })
})

/** A response without the time of the last success, which changes as soon as the service delivers again. */
function withoutLastSuccess(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data), (key, value) => (key === 'last_success_at' ? undefined : value))
}

function rowsOf(path: string): Readonly<Record<string, unknown>> {
  const { DatabaseSync } = loadDriver()
  const db = new DatabaseSync(path)
  const counts = Object.keys(TABLES).map((name) => {
    const { rows } = db.prepare(`select count(*) as rows from hookswitch_${name}`).get() as { rows: number }
    return [name, rows]
  })
  db.close()
  return Object.fromEntries(counts)
}
