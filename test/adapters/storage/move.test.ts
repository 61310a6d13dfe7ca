import { join } from 'node:path'
import { moveToPostgres, postgresStore } from 'hookswitch/postgres'
import { sqliteSource, sqliteStore } from 'hookswitch/sqlite'
import { type InboxEntry, inboxShard, type MovedCounts, type Store } from 'hookswitch/store'
import { type ScriptedReceiver, scriptedReceiver, status } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/clock.js'
import { created } from '../../service/running.js'
import { type Filled, filledFile, KEYED, log, readOut, type Served, STAGED, served } from './move-world.js'
import { postgresForTests } from './pg-cluster.js'
import { freshFolder } from './sqlite-bench.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const HOUR_MS = 3_600_000

/** The tables of both, where they are not called the same. */
const TABLES: Readonly<Record<string, string>> = {
  account: 'account',
  gone_account: 'gone_account',
  api_key: 'api_key',
  user: 'account_user',
  credential: 'credential',
  token: 'token',
  webhook: 'webhook',
  call: 'call',
  event: 'event where variant = 0',
  body: 'event where variant > 0',
  delivery: 'delivery',
  attempt: 'attempt',
  idempotency: 'idempotency',
  inbox: 'inbox',
}

describe.skipIf(!server)('a file moved to PostgreSQL', () => {
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
    for (const one of open.splice(0)) await one.close()
  })

  const file = () => join(freshFolder(), 'x.db')
  const store = (aheadMs = 0) => {
    const { now } = systemClock()
    const clock = { ...systemClock(), now: () => now() + aheadMs }
    return postgresStore({ connectionString: server!.url, schema, clock })
  }
  async function moved(path: string, told?: (counts: MovedCounts) => void): Promise<MovedCounts> {
    const source = sqliteSource({ path })
    try {
      return await moveToPostgres(source, { connectionString: server!.url, schema }, told)
    } finally {
      source.close()
    }
  }
  async function looked(at: Store, filled: Filled): Promise<unknown> {
    await at.open({ clock: systemClock(), log })
    return readOut(at, filled).finally(() => at.close())
  }
  async function running(filled: Filled): Promise<Served> {
    const one = await served(store(2 * HOUR_MS), filled.secret, 2 * HOUR_MS)
    open.push(one)
    return one
  }

  it('reads as before, door by door, and has as many rows in every table', async () => {
    const filled = await filledFile(file(), receiver)
    const before = await looked(sqliteStore({ path: filled.path, inThread: true }), filled)
    const counts = rowsOf(filled.path)
    await moved(filled.path)
    for (const [name, table] of Object.entries(TABLES)) {
      const [row] = await server!.sql(`select count(*)::int as rows from "${schema}".${table}`)
      expect([name, row!.rows]).toEqual([name, counts[name]])
    }
    expect(await oddRows()).toEqual([])
    expect(await looked(store(), filled)).toEqual(before)
  })

  /** What the store would have written otherwise. */
  async function oddRows(): Promise<unknown[]> {
    const s = `"${schema}"`
    const inbox = await server!.sql(
      `select shard, account_id as "accountId", call_id as "callId" from ${s}.inbox`,
    )
    const deliveries =
      await server!.sql(`select d.* from ${s}.delivery d join ${s}.webhook w on w.key = d.webhook_key
      where d.retry <> (d.attempts > 0) or d.shard <> w.shard or (d.state = 0 and d.epoch < w.epoch and not w.stale)`)
    const isOdd = (row: object) => inboxShard(row as InboxEntry) !== (row as { shard: number }).shard
    return [...inbox.filter(isOdd), ...deliveries]
  }

  it('goes on as the same service: tokens, answers, numbers, keys, and every delivery once and in order', async () => {
    const filled = await filledFile(file(), receiver)
    const pending = await pendingOf(filled)
    await moved(filled.path)
    const first = receiver.requests.length
    for (const path of ['/failing', '/hangs', '/doomed']) receiver.on(path, [status(200)])
    const { hs, get } = await running(filled)

    for (const token of filled.tokens) {
      for (const [path, answer] of filled.answers) expect((await get(path, token)).json.data).toEqual(answer)
    }
    await expect
      .poll(() => hs.webhooks.attempts('parent', undefined, { callIds: ['call-staged'] }))
      .toHaveLength(6)
    // Three rounds, and what the host had staged.
    expect(await hs.publish(created('call-a'))).toMatchObject({ sequence: 5, duplicate: false })
    expect(await hs.publish(created('call-b'))).toMatchObject({ sequence: 4, duplicate: false })
    expect(await hs.publish(created('keyed'), KEYED)).toMatchObject({ sequence: 1, duplicate: true })

    const states = ['waiting', 'in_flight'] as const
    const left = async () => {
      const lists = Object.values(filled.webhooks).map((id) =>
        hs.webhooks.deliveries('parent', id, { states }),
      )
      return (await Promise.all(lists)).flat().length
    }
    await expect.poll(left).toBe(0)
    // What had been tried before it was disabled, and its cancellation; of what waited behind that, the latter alone.
    await expect.poll(() => hs.webhooks.attempts('parent', filled.webhooks.doomed)).toHaveLength(4 + 10)
    const arrived = receiver.requests.slice(first).map(({ headers }) => headers['webhook-id']!)
    expect(pending.size).toBeGreaterThan(2)
    for (const lane of pending.values()) expect(arrived.filter((id) => lane.includes(id))).toEqual(lane)
    expect(new Set(arrived).size).toBe(arrived.length)
    // Three webhooks listen to what was staged, and published here.
    expect(arrived).toHaveLength([...pending.values()].flat().length + 3 * (STAGED.length + 2))
  })

  /** Ids of what waits or is in flight, and not for a webhook that was disabled: by lane, in order. */
  async function pendingOf({ path, webhooks }: Filled): Promise<Map<string, string[]>> {
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

  it('is told of while it is written', async () => {
    const { path } = await filledFile(file(), receiver)
    const told: MovedCounts[] = []
    const counts = await moved(path, (sofar) => told.push({ ...sofar }))
    expect(told.at(-1)).toEqual(counts)
    expect(counts).toMatchObject({
      accounts: 3,
      removedAccounts: 1,
      webhooks: 6,
      inboxEntries: STAGED.length,
    })
    expect(Object.keys(counts)).toHaveLength(12)
  })
})

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
