import { createRequire } from 'node:module'
import type { PostgresQuery } from 'hookswitch/postgres'
import { SHARDS, type Webhook } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notificationStatements } from '../../../adapters/storage/postgres/sql/notifications.js'
import { readyStatements } from '../../../adapters/storage/postgres/sql/ready.js'
import { newDelivery, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { privatePostgres } from './pg-cluster.js'
import { openNode, type QueueNode } from './postgres-queue-harness.js'

const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils') as {
  prepareValue(value: unknown): string | null
}
// A private server: on a shared one, catalog changes of other tests can overflow the queue of cache invalidations. The
// session then discards its plans and plans again on filled tables that were never analyzed.
const server = await privatePostgres({ autovacuum: 'off' })
afterAll(() => server?.end())

/** State of the statistics when the plans are made. */
const STATISTICS = ['never analyzed', 'analyzed while they were empty'] as const
/** Tables that always have few rows. */
const SMALL = new Set(['shard', 'node', 'pending', 'nudge', 'inbox'])
/** More endpoints than a plan may read; there are many times more deliveries. */
const PAUSED = 5_000
const HEALTHY = 300

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/**
 * Runs every statement of the queue with the values that it had, under the generic plan that sessions keep: planned
 * while the tables were empty, and with current statistics. The tables also contain 20,000 deliveries of 5,000 paused
 * endpoints and 60,000 ended ones.
 */
describe.skipIf(!server).each(STATISTICS)('query plans of the queue, tables %s', (statistics) => {
  const direct = server!
  const schema = `plans_${STATISTICS.indexOf(statistics)}`
  /** The queries of the store by name, each with its last values. */
  const queries = new Map<string, PostgresQuery>()
  /** Names of those that were prepared on the empty tables. */
  let prepared: readonly string[] = []
  let node: QueueNode
  let client: pg.Client

  /** Makes the store run every statement of the queue. */
  async function useQueue(): Promise<void> {
    const webhooks = await Promise.all(Array.from({ length: HEALTHY }, () => node.webhook()))
    const { deliveries, inbox } = node.store
    const some = webhooks.slice(0, 100)
    const accept = (callId: string) =>
      Promise.all(
        some.map((webhook, index) =>
          node.accept([webhook], {
            callId: `${callId}${index}`,
            otherLegCallId: 'other',
            idempotency: { key: `${webhook.id}${callId}`, bodyHash: 'hash', untilMs: node.now() + 9_000 },
          }),
        ),
      )
    await accept('a')
    await accept('a')
    const claims = await node.claim(some, 10)
    expect(claims).toHaveLength(100)
    await node.settle(claims.slice(0, 50))
    await node.settle(claims.slice(50), { state: 'waiting', dueMs: node.now() })
    const failed = await node.claim(some.slice(50), 10)
    const health = { failuresInRow: 1 }
    const settlements = failed.map((claim, index) => ({
      ...node.settlement(claim, { state: 'waiting', dueMs: node.now() }),
      endpoint: { epoch: 1, health, ...(index < 9 ? { disable: { reason: 'gone', atMs: 1 } } : {}) },
    }))
    await deliveries.settle(settlements, node.now())
    for (const row of await deliveries.stale(node.owner, 100)) {
      const { id: deliveryId, webhookId, fence } = row
      const next = { state: 'cancelled', attempts: row.attempts, tries: row.tries, interruptions: 0 } as const
      const expected = { state: 'waiting', fence } as const
      const end = { owner: node.owner, deliveryId, webhookId, expect: expected, next }
      await deliveries.settle([end], node.now())
    }
    expect(await deliveries.stale(node.owner, 100)).toEqual([])
    const replayed = newEvent({ callId: 'b' })
    const first = newDelivery(some[99]!, replayed)
    const acceptance = { events: [replayed], deliveries: [first], maxPending: 1_000_000 }
    await deliveries.accept(acceptance, node.now())
    const again = newDelivery(some[99]!, replayed, { replayOf: first.id, lane: 'replay' })
    await deliveries.accept({ events: [], deliveries: [again], maxPending: 1_000_000 }, node.now())
    const [{ accountId, settings }] = some as [Webhook]
    expect(await node.store.webhooks.candidates([accountId], settings.hook)).not.toEqual([])
    await deliveries.ready(node.owner)
    await deliveries.orphans(node.owner, 100)
    await inbox!.staged(node.owner, 100)
    await node.own()
  }

  /** As after the first start: empty tables with statistics. */
  async function emptyAndAnalyze(): Promise<void> {
    const tables = [
      'delivery',
      'event',
      'attempt',
      'lane',
      'call',
      'call_leg',
      'idempotency',
      'inbox',
      'nudge',
    ]
    const named = tables.map((table) => `${schema}.${table}`).join(', ')
    await client.query(`truncate ${named}; analyze ${named}`)
  }

  /** Statements on the path of an event. */
  const isHot = (name: string) =>
    /^(webhook_candidates|(accept|keys|claim|settle|lanes|ready|orphans|stale|lease|inbox)_)/.test(name)

  beforeAll(async () => {
    const before = (_text: string, query: PostgresQuery) => {
      if (query.name !== undefined && isHot(query.name)) queries.set(query.name, query)
    }
    node = await openNode(direct, { schema, hooks: { before } })
    await node.own()
    await useQueue()
    const { poll } = notificationStatements(`"${schema}"`)
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard)
    queries.set(poll.name, { ...poll, values: [shards] })
    // The store runs it only when the poll finds something.
    const { readyOf } = readyStatements(`"${schema}"`)
    const ids = (await direct.sql(`select id from "${schema}".webhook limit 100`)).map(({ id }) => id)
    queries.set(readyOf.name, { ...readyOf, values: [ids] })
    client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    await client.query(`set statement_timeout = 5000; set plan_cache_mode = force_generic_plan; set jit = off; set enable_seqscan = off;
      set enable_hashjoin = off; set enable_mergejoin = off`)
    // The store analyzes the tables itself when it creates them.
    if (statistics !== 'never analyzed') await emptyAndAnalyze()
    prepared = [...queries.keys()]
    for (const [name, { text }] of [...queries]) {
      await client.query(`prepare ${name} as ${text}`)
      await explained(name, 'explain (format json)')
    }
    await direct.sql(fill(schema))
    await useQueue()
  }, 120_000)
  afterAll(async () => {
    await client.end()
    await node.close()
  })

  async function explained(name: string, explain: string): Promise<PlanNode> {
    const { values = [] } = queries.get(name)!
    const literals = values.map((value) => {
      const read = Buffer.isBuffer(value) ? readArray(value) : value
      const text = prepareValue(name.startsWith('accept_write_') ? withNewIds(read) : read)
      return text === null || text === undefined ? 'null' : client.escapeLiteral(String(text))
    })
    await client.query('begin')
    try {
      const list = literals.length === 0 ? '' : `(${literals.join(', ')})`
      const { rows } = await client.query(`${explain} execute ${name}${list}`)
      return rows[0]['QUERY PLAN'][0].Plan
    } finally {
      await client.query('rollback')
    }
  }

  /** The largest number of rows that a node of the plan read. */
  function rowsRead(plan: PlanNode): number {
    const { 'Actual Rows': rows, 'Actual Loops': loops } = plan
    const left = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)
    return Math.max((rows + left) * loops, ...(plan.Plans ?? []).map(rowsRead))
  }
  function scannedTables(plan: PlanNode): string[] {
    const name = plan['Relation Name'] ?? ''
    const here = plan['Node Type'] === 'Seq Scan' && !SMALL.has(name) ? [name] : []
    return [...here, ...(plan.Plans ?? []).flatMap(scannedTables)]
  }

  for (const when of ['planned on empty tables', 'planned with current statistics'] as const) {
    it(`read no more rows than they need, ${when}`, async () => {
      if (when !== 'planned on empty tables') await client.query('analyze')
      const wrong: Record<string, unknown> = {}
      for (const name of prepared) {
        const plan = await explained(name, 'explain (analyze, timing off, format json)').catch((error) => {
          wrong[name] = error.message
        })
        if (!plan) continue
        const [scanned, rows] = [scannedTables(plan), rowsRead(plan)]
        // A hundred of each kind with a few rows each, or the 64 shards; `ready` reads all endpoints that are not idle.
        const most = /^ready_[0-9a-f]+$/.test(name) ? PAUSED + HEALTHY : 3_000
        if (scanned.length > 0 || rows > most) wrong[name] = { scanned, rows }
      }
      expect(prepared.length).toBeGreaterThan(25)
      expect(wrong).toEqual({})
    }, 60_000)
  }
})

/** Elements by their type's OID: `int2`, `int4`, `int8`, `float8`, `bool`, `tid`; the others are text. */
const READERS: Readonly<Record<number, (bytes: Buffer) => unknown>> = {
  21: (bytes) => bytes.readInt16BE(),
  23: (bytes) => bytes.readInt32BE(),
  20: (bytes) => bytes.readBigInt64BE(),
  701: (bytes) => bytes.readDoubleBE(),
  16: (bytes) => bytes[0] === 1,
  27: (bytes) => `(${bytes.readUInt32BE()},${bytes.readUInt16BE(4)})`,
}

/** Decodes a binary array. */
function readArray(bytes: Buffer): unknown[] {
  const read = READERS[bytes.readInt32BE(8)] ?? String
  const values: unknown[] = []
  for (let at = 20; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    at += 4 + Math.max(0, length)
    values.push(length < 0 ? null : read(bytes.subarray(at - length, at)))
  }
  return values
}

/** The id of a delivery can be inserted only once. */
function withNewIds(value: unknown): unknown {
  const renamed = (one: unknown) => (/^delivery-\d+$/.test(String(one)) ? `${one}-again` : one)
  return Array.isArray(value) ? value.map(renamed) : value
}

/**
 * Adds 200 ended deliveries with attempts to each working endpoint, and paused endpoints with 4 deliveries of 2 calls
 * each.
 */
const fill = (schema: string) => `
insert into ${schema}.event (position, variant, timestamp_ms, id, account_id, call_id, hook, body)
  select -(1e9 + w.key * 1000 + n), 0, 0, w.id || '-past' || n, w.account_id, w.id || '-past' || n / 2, 'all', '{}'
  from ${schema}.webhook w, generate_series(0, 199) n;
insert into ${schema}.delivery
    (event, accepted_ms, ended_ms, state, webhook_key, shard, variant, epoch, id, lane, encoding, http_verb)
  select -(1e9 + w.key * 1000 + n), 0, n, 2, w.key, w.shard, 0, 1, w.id || '-past' || n, w.id || '-past' || n / 2,
    'json', 'post'
  from ${schema}.webhook w, generate_series(0, 199) n;
insert into ${schema}.attempt (at_ms, webhook_key, account_id, delivery_id, call_id, doc)
  select 0, w.key, w.account_id, w.id || '-past' || n, w.id || '-past' || n / 2, '{}'
  from ${schema}.webhook w, generate_series(0, 199) n;
insert into ${schema}.webhook
    (id, account_id, hook, revision, epoch, shard, origin, paused_ms, failing, probed, doc, health)
  select 'dead' || i, 'dead' || i % 1000, 'all', 1, 1, i % 64, 'http://dead' || i, 9e15, true, true, '{}', '{}'
  from generate_series(1, ${PAUSED}) i;
insert into ${schema}.event (position, variant, timestamp_ms, id, account_id, call_id, hook, body)
  select -(w.key * 100 + n), 0, 0, w.id || '-' || n, w.account_id, w.id || '-' || n / 2, 'all', '{}'
  from ${schema}.webhook w, generate_series(0, 3) n where w.id like 'dead%';
insert into ${schema}.delivery
    (event, accepted_ms, due_ms, webhook_key, shard, variant, epoch, id, lane, encoding, http_verb)
  select -(w.key * 100 + n), 0, case when n % 2 = 0 then n end, w.key, w.shard, 0, 1, w.id || '-' || n,
    w.id || '-' || n / 2, 'json', 'post'
  from ${schema}.webhook w, generate_series(0, 3) n where w.id like 'dead%';
insert into ${schema}.lane (webhook_key, lane, open)
  select webhook_key, lane, count(*) from ${schema}.delivery where id like 'dead%' group by 1, 2;
insert into ${schema}.attempt (at_ms, webhook_key, account_id, delivery_id, call_id, doc)
  select 0, w.key, w.account_id, w.id || '-' || n, w.id || '-' || n / 2, '{}'
  from ${schema}.webhook w, generate_series(0, 3) n where w.id like 'dead%';
insert into ${schema}.call (last_ms, sequence, account_id, call_id)
  select 0, 1, account_id, id from ${schema}.event where id like 'dead%';
insert into ${schema}.idempotency (until_ms, sequence, account_id, key, event_id, body_hash)
  select 0, 1, account_id, id, id, '' from ${schema}.event where id like 'dead%';
`
