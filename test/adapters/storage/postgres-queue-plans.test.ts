import { createRequire } from 'node:module'
import type { PostgresQuery } from 'hookswitch/postgres'
import { SHARDS, type Webhook } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readyStatements } from '../../../adapters/storage/postgres/sql/ready.js'
import { wakeStatements } from '../../../adapters/storage/postgres/sql/wake.js'
import { newDelivery, newEvent } from '../../../src/store/conformance/fixtures.js'
import { privatePostgres } from './pg-cluster.js'
import { openNode, type QueueNode } from './postgres-queue-world.js'

const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils') as {
  prepareValue(value: unknown): string | null
}
const server = await privatePostgres({ autovacuum: 'off' })
afterAll(() => server?.end())

/** What the server has been told of the tables when the plans are made. */
const KNOWN = ['never analyzed', 'analyzed while they were empty'] as const
/** Tables of a few rows, whatever happens. */
const SMALL = new Set(['shard', 'node', 'pending', 'nudge', 'inbox'])
/** More endpoints than a plan may look at; so are the deliveries of either kind, many times over. */
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
 * Every statement that the queue runs, with the values it ran with, under the one plan that sessions keep: made when the
 * tables were empty, and made when the server knows them. 20,000 deliveries of 5,000 paused endpoints lie in the way, and
 * 60,000 that have ended.
 */
describe.skipIf(!server).each(KNOWN)('plans of the queue, its tables %s', (known) => {
  const direct = server!
  const schema = `plans_${KNOWN.indexOf(known)}`
  const seen = new Map<string, PostgresQuery>()
  /** Those of them that were prepared on the empty tables. */
  let prepared: readonly string[] = []
  let node: QueueNode
  let client: pg.Client

  async function work(): Promise<void> {
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

  /** As after the first start: nothing in them, and the server knows it. */
  async function emptied(): Promise<void> {
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

  /** Statements with parameters that the store runs again and again. */
  const isHot = (name: string) =>
    /^(webhook_candidates|(accept|keys|claim|settle|lanes|ready|orphans|stale|lease|inbox)_)/.test(name)

  beforeAll(async () => {
    const before = (_text: string, query: PostgresQuery) => {
      if (query.name !== undefined && isHot(query.name)) seen.set(query.name, query)
    }
    node = await openNode(direct, { schema, interference: { before } })
    await node.own()
    await work()
    const { poll } = wakeStatements(`"${schema}"`)
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard)
    seen.set(poll.name, { ...poll, values: [shards] })
    // What the poll finds is asked for when it is found: here, or never.
    const { readyOf } = readyStatements(`"${schema}"`)
    const anybody = (await direct.sql(`select id from "${schema}".webhook limit 100`)).map(({ id }) => id)
    seen.set(readyOf.name, { ...readyOf, values: [anybody] })
    client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    await client.query(`set statement_timeout = 5000; set plan_cache_mode = force_generic_plan; set jit = off; set enable_seqscan = off;
      set enable_hashjoin = off; set enable_mergejoin = off`)
    // The store did so itself, when it made them.
    if (known !== 'never analyzed') await emptied()
    prepared = [...seen.keys()]
    for (const [name, { text }] of [...seen]) {
      await client.query(`prepare ${name} as ${text}`)
      await explained(name, 'explain (format json)')
    }
    await direct.sql(fill(schema))
    await work()
  }, 120_000)
  afterAll(async () => {
    await client.end()
    await node.close()
  })

  async function explained(name: string, explain: string): Promise<PlanNode> {
    const { values = [] } = seen.get(name)!
    const literals = values.map((value) => {
      const read = Buffer.isBuffer(value) ? readArray(value) : value
      const text = prepareValue(name.startsWith('accept_write_') ? anew(read) : read)
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

  /** Rows that a plan looked at, wherever it did. */
  function looked(plan: PlanNode): number {
    const { 'Actual Rows': rows, 'Actual Loops': loops } = plan
    const left = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)
    return Math.max((rows + left) * loops, ...(plan.Plans ?? []).map(looked))
  }
  function wholeTables(plan: PlanNode): string[] {
    const name = plan['Relation Name'] ?? ''
    const here = plan['Node Type'] === 'Seq Scan' && !SMALL.has(name) ? [name] : []
    return [...here, ...(plan.Plans ?? []).flatMap(wholeTables)]
  }

  for (const when of ['made on empty tables', 'made when the server knows the tables'] as const) {
    it(`look at no more than what they are asked for, ${when}`, async () => {
      if (when !== 'made on empty tables') await client.query('analyze')
      const wrong: Record<string, unknown> = {}
      for (const name of prepared) {
        const plan = await explained(name, 'explain (analyze, timing off, format json)').catch((error) => {
          wrong[name] = error.message
        })
        if (!plan) continue
        const [whole, rows] = [wholeTables(plan), looked(plan)]
        // A hundred of each kind, of each a few rows, or the 64 shards; all endpoints that are not idle where those are
        // asked for.
        const most = /^ready_[0-9a-f]+$/.test(name) ? PAUSED + HEALTHY : 3_000
        if (whole.length > 0 || rows > most) wrong[name] = { whole, rows }
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

/** An array as it is sent in binary. */
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

/** Ids of deliveries can be written once. */
function anew(value: unknown): unknown {
  const another = (one: unknown) => (/^delivery-\d+$/.test(String(one)) ? `${one}-again` : one)
  return Array.isArray(value) ? value.map(another) : value
}

/**
 * Of every endpoint that works, 200 deliveries that have ended, with their records; and endpoints that are paused for an
 * hour, each with 4 deliveries of 2 calls.
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
