import { postgresStore } from 'hookswitch/postgres'
import type { Log } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GroupToWrite, groupStatements } from '../../../adapters/storage/postgres/group-statement.js'
import { sessionSettings } from '../../../adapters/storage/postgres/session.js'
import { accountStatements } from '../../../adapters/storage/postgres/sql/accounts.js'
import { attemptStatement } from '../../../adapters/storage/postgres/sql/attempts.js'
import { callIndexStatements } from '../../../adapters/storage/postgres/sql/call-index.js'
import { commitStatements } from '../../../adapters/storage/postgres/sql/commit.js'
import { deliveryStatements } from '../../../adapters/storage/postgres/sql/deliveries.js'
import { eraseStatements } from '../../../adapters/storage/postgres/sql/erase.js'
import { historyStatement } from '../../../adapters/storage/postgres/sql/history-bytes.js'
import { legsStatement } from '../../../adapters/storage/postgres/sql/legs.js'
import { listPartStatements } from '../../../adapters/storage/postgres/sql/list-parts.js'
import { mentionStatements } from '../../../adapters/storage/postgres/sql/mentions.js'
import { pruneStatements } from '../../../adapters/storage/postgres/sql/prune.js'
import { replayableStatement } from '../../../adapters/storage/postgres/sql/replayable.js'
import { replayStatements } from '../../../adapters/storage/postgres/sql/replays.js'
import { tokenStatements } from '../../../adapters/storage/postgres/sql/tokens.js'
import { userStatements } from '../../../adapters/storage/postgres/sql/users.js'
import { webhookStatements } from '../../../adapters/storage/postgres/sql/webhooks.js'
import type { Statement } from '../../../adapters/storage/postgres/statement.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { privatePostgres } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
// A private server: on a shared one, catalog changes of other tests can overflow the queue of cache invalidations. The
// session then discards its plans and plans again on filled tables that were never analyzed.
const server = await privatePostgres({ autovacuum: 'off' })
const SCHEMA = 'hookswitch'

/**
 * Statements that may read a whole table: a list of everything, one that ends at the first row, a small table, a search
 * that merges the newest deliveries of all webhooks.
 */
const EXEMPT = new Set([
  'account_list',
  'account_child',
  'deliveries_search_webhooks',
  'deliveries_search_webhooks_undelivered',
  'deliveries_part_search',
  'erase_inbox',
  'mentions_inbox',
])
const SMALL = new Set(['inbox', 'incoming', 'node', 'shard', 'store_clock'])

/** Tables of the call index, in which a search examines as many rows as it returns. */
const INDEXED = new Set(['unwanted_event', 'call_number'])

/** Tables whose rows the lists return. */
const LISTED = new Set(['waiting', 'attempt'])

const sets: Record<string, Record<string, Statement>> = {
  accounts: accountStatements(SCHEMA),
  users: userStatements(SCHEMA),
  tokens: tokenStatements(SCHEMA),
  webhooks: webhookStatements(SCHEMA),
  deliveries: deliveryStatements(SCHEMA),
  attempts: Object.fromEntries(
    (['account', 'webhook', 'delivery', 'calls'] as const).flatMap((way) =>
      [true, false].flatMap((ascending) =>
        [true, false].map((onlyFailures) => [
          `${way} ${ascending} ${onlyFailures}`,
          attemptStatement(SCHEMA, way, { ascending, onlyFailures }),
        ]),
      ),
    ),
  ),
  parts: Object.fromEntries(
    Object.values(listPartStatements(SCHEMA))
      .flatMap((part) => ('text' in part ? [part] : [part.down, part.up]))
      .map((statement) => [statement.name, statement]),
  ),
  legs: { legs: legsStatement(SCHEMA) },
  prune: pruneStatements(SCHEMA),
  replayable: {
    index: replayableStatement(SCHEMA, false),
    detailed: replayableStatement(SCHEMA, true),
  },
  history: { bytes: historyStatement(SCHEMA) },
  replays: replayStatements(SCHEMA),
  erase: eraseStatements(SCHEMA),
  mentions: mentionStatements(SCHEMA),
  callIndex: Object.fromEntries(
    Object.values(callIndexStatements(SCHEMA))
      .flatMap((entry): Statement[] => ('text' in entry ? [entry] : Object.values(entry)))
      .map((statement) => [statement.name, statement]),
  ),
}
const statements = Object.values(sets)
  .flatMap((set) => Object.values(set))
  .filter(({ name }) => name !== '' && !EXEMPT.has(name))

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * Checks the generic plans, which are used for all values, without the planner settings that force row-by-row plans:
 * the statements must be efficient without them.
 */
describe.skipIf(!server)('query plans', () => {
  const direct = server!
  let client: pg.Client

  beforeAll(async () => {
    const store = postgresStore({ connectionString: direct.url })
    await store.open({ clock: systemClock(), log })
    await store.close()
    await direct.sql(FILL)
    client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    await client.query(sessionSettings({ answerWithinMs: 60_000, isHotPath: false }))
  }, 120_000)
  afterAll(async () => {
    await client.end()
    await direct.end()
  })

  async function planOf({ text }: Statement): Promise<PlanNode> {
    await client.query(`prepare checked as ${text}`)
    try {
      const found = await client.query(`select coalesce(array_length(parameter_types, 1), 0) as count
        from pg_prepared_statements where name = 'checked'`)
      const values = Array.from({ length: found.rows[0].count }, () => 'null').join(', ')
      const { rows } = await client.query(
        `explain (format json) execute checked${values === '' ? '' : `(${values})`}`,
      )
      return rows[0]['QUERY PLAN'][0].Plan
    } finally {
      await client.query('deallocate checked')
    }
  }
  /** Tables that are read by a sequential scan. */
  function scannedTables(node: PlanNode): string[] {
    const table = node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? '?'] : []
    return [...table.filter((name) => !SMALL.has(name)), ...(node.Plans ?? []).flatMap(scannedTables)]
  }

  const scansOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(scansOf)]

  /** Whether a LIMIT sorts all rows of a list first, not only the pages of several lists. */
  function sortsBeforeLimit(node: PlanNode): boolean {
    const below = node.Plans ?? []
    const here = node['Node Type'] === 'Limit' && below[0]?.['Node Type'].endsWith('Sort')
    return (here && readsWithoutLimit(below[0]!)) || below.some(sortsBeforeLimit)
  }
  function readsWithoutLimit(node: PlanNode): boolean {
    if (node['Node Type'] === 'Limit') return false
    return LISTED.has(node['Relation Name'] ?? '') || (node.Plans ?? []).some(readsWithoutLimit)
  }

  for (const when of ['without statistics', 'with statistics'] as const) {
    it(`scan no table sequentially, ${when}`, async () => {
      if (when === 'with statistics') await client.query('analyze')
      const scanned: Record<string, string[]> = {}
      for (const statement of statements) {
        const tables = scannedTables(await planOf(statement))
        if (tables.length > 0) scanned[statement.name] = tables
      }
      expect(scanned).toEqual({})
    }, 60_000)

    it(`read pages of lists in the order of an index, ${when}`, async () => {
      if (when === 'with statistics') await client.query('analyze')
      const paged = statements.filter(({ name }) =>
        /^(deliveries|attempts)(_(up|failed|undelivered|webhook|account))*$/.test(name),
      )
      expect(paged.length).toBe(12)
      const sorting: string[] = []
      for (const statement of paged)
        if (sortsBeforeLimit(await planOf(statement))) sorting.push(statement.name)
      expect(sorting).toEqual([])
    })
  }

  it('read what one webhook has by no index of all, where the statistics know nothing of a kind', async () => {
    await client.query('begin')
    try {
      await client.query('delete from hookswitch.attempt where state = 2 or replay_of is not null')
      await client.query('analyze hookswitch.attempt')
      const lists = deliveryStatements(SCHEMA)
      const { down, up, downUndelivered, upUndelivered } = lists
      for (const statement of [down, up, downUndelivered, upUndelivered, lists.one]) {
        const indexes = scansOf(await planOf(statement)).map((scan) => scan['Index Name'])
        expect(indexes, statement.name).toContain('attempt_of_original')
        for (const ofAll of ['attempt_at_delivered', 'attempt_at_ended', 'attempt_replay'])
          expect(indexes, statement.name).not.toContain(ofAll)
      }
    } finally {
      await client.query('rollback')
    }
  })

  it('look for the events of one call by no index of an account, where the statistics know of no events', async () => {
    const group: GroupToWrite = {
      now: 0,
      events: [],
      deliveries: [],
      inboxIds: [],
      ended: [],
      health: new Map(),
      fence: 1,
      finished: [],
      checks: {
        webhooks: new Map(),
        foreignWebhooks: new Set(),
        newCalls: [['account', 'call']],
        waiting: [],
      },
    }
    await client.query('begin')
    try {
      await client.query('truncate hookswitch.event')
      const [newCalls] = groupStatements(SCHEMA)(group)
      const { lastOfCalls, unusedAmong } = pruneStatements(SCHEMA)
      for (const statement of [newCalls, commitStatements(SCHEMA).numbers, lastOfCalls, unusedAmong]) {
        const indexes = scansOf(await planOf(statement)).map((scan) => scan['Index Name'])
        expect(indexes, statement.name).toContain('event_number')
        expect(indexes, statement.name).not.toContain('event_account')
      }
    } finally {
      await client.query('rollback')
    }
  })

  it('read the call index without sorting, filtering or skipping rows', async () => {
    await client.query('analyze')
    const reading = Object.values(sets.callIndex!).filter(({ name }) =>
      /^call_index_(event|events_of_.*|calls_of_.*)$/.test(name),
    )
    expect(reading).toHaveLength(6)
    for (const statement of reading) {
      const scans = scansOf(await planOf(statement)).filter((scan) =>
        INDEXED.has(scan['Relation Name'] ?? ''),
      )
      expect(scans, statement.name).not.toEqual([])
      for (const scan of scans) expect(scan['Node Type'], statement.name).toMatch(/^Index Scan/)
    }
  })

  it('search the deliveries of a webhook and an account in parts, and find the only one that matches', async () => {
    await client.query(MANY_DELIVERIES)
    const store = postgresStore({ connectionString: direct.url })
    await store.open({ clock: systemClock(), log })
    try {
      for (const selection of [{ webhookId: 'long' }, { accountId: 'long' }]) {
        const found: string[] = []
        let parts = 0
        for (let cursor: number | undefined; ; parts += 1) {
          const query = {
            ...selection,
            states: ['cancelled'] as const,
            limit: 3,
            ...(cursor !== undefined && { cursor }),
          }
          const page = await store.deliveries.search(query)
          found.push(...page.deliveries.map(({ id }) => id))
          cursor = page.cursor
          if (cursor === undefined || parts > 9) break
        }
        expect([found, parts]).toEqual([['l1'], 2])
      }
    } finally {
      await store.close()
    }
  })

  it('find every page of the attempts of an account with many webhooks, in whatever order they were made', async () => {
    await client.query('begin')
    try {
      await client.query(MANY_WEBHOOKS)
      for (const onlyFailures of [false, true]) {
        const { text } = attemptStatement(SCHEMA, 'account', { ascending: false, onlyFailures })
        const all = await client.query<{ position: string }>(
          `select a.position from hookswitch.attempt a join hookswitch.webhook w on w.key = a.webhook_key
            where w.account_id = 'many' and (not $1 or not starts_with(a.doc, '[1,')) order by a.position desc`,
          [onlyFailures],
        )
        const expected = all.rows.map(({ position }) => Number(position))
        for (const limit of [7, 900, 2_500]) {
          const found: number[] = []
          for (let cursor = Number.MAX_SAFE_INTEGER; ; ) {
            const range = [cursor, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
            const values = ['many', ...range, limit, 10, null, null, null, null, null, null, 0, null]
            const { rows } = await client.query<{ position: string }>(text, values)
            const page = rows.map(({ position }) => Number(position)).sort((a, b) => b - a)
            found.push(...page)
            if (page.length < limit || found.length > 60 * limit) break
            cursor = page.at(-1)!
          }
          expect(found).toEqual(expected.slice(0, found.length))
          if (limit > 7) expect(found).toHaveLength(expected.length)
        }
      }
    } finally {
      await client.query('rollback')
    }
  })
})

/** A webhook with 45,000 deliveries that failed, and an older one that was cancelled. */
const MANY_DELIVERIES = `
insert into hookswitch.webhook (id, account_id, hook, revision, epoch, shard, doc) values ('long', 'long', 'all', 1, 1, 0, '{}');
insert into hookswitch.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, hook)
  select 1000000 + i, i, i, null, 'l' || i, 'long', 'channel_create' from generate_series(1, 45001) i;
insert into hookswitch.attempt (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, attempts, tries,
    interruptions, variant, form, state, id)
  select 1000000 + i, 1000000 + i, 0, i, i, i, w.key, 1, 1, 1, 0, 0, 2, case when i = 1 then 5 else 3 end, '!l' || i
  from generate_series(1, 45001) i cross join hookswitch.webhook w where w.id = 'long';
`

/** An account with 120 webhooks and 3,000 attempts, the times of which are not quite in the order of their positions. */
const MANY_WEBHOOKS = `
insert into hookswitch.webhook (id, account_id, hook, revision, epoch, shard, doc)
  select 'm' || i, 'many', 'all', 1, 1, i % 64, '{}' from generate_series(1, 120) i;
insert into hookswitch.attempt (event, delivery, lane, at_ms, accepted_ms, webhook_key, epoch, n, attempts, tries, interruptions,
    variant, form, state, id, doc)
  select i, 500000 + i, 1, 1000000 + i + i * 7919 % 200, i, w.key, 1, 1, 1, 1, 0, 0, 2, 2, '!m' || i,
    case when i % 3 = 0 then '[0,' else '[1,' end
  from generate_series(1, 3000) i join hookswitch.webhook w on w.id = 'm' || (i % 120 + 1) order by i;
`

/** 5,000 accounts, 2,000 webhooks, 100,000 events with a delivery and an attempt each; a tenth of the deliveries wait. */
const FILL = `
insert into hookswitch.account (id, realm_key, name_key, parent_id, doc)
  select 'a' || i, 'r' || i, 'n' || i % 50, 'a' || i % 20, '{}' from generate_series(1, 5000) i;
insert into hookswitch.webhook_change select 'x' || i, gen_random_uuid() from generate_series(1, 5000) i;
insert into hookswitch.api_key select 'a' || i, 'h' || i, '{}' from generate_series(1, 5000) i;
insert into hookswitch.account_user select 'a' || i % 200, 'u' || i, 'u' || i, '{}' from generate_series(1, 20000) i;
insert into hookswitch.credential select 'a' || i % 200, 'k' || i, 'u' || i from generate_series(1, 20000) i;
insert into hookswitch.gone_account select 'g' || i from generate_series(1, 5000) i;
insert into hookswitch.gone_user select 'a' || i % 200, 'g' || i from generate_series(1, 5000) i;
insert into hookswitch.token select 'h' || i, 'a' || i % 200, 'u' || i % 20000, i, '{}' from generate_series(1, 20000) i;
insert into hookswitch.webhook (id, account_id, hook, revision, epoch, shard, doc, deleted_ms)
  select 'w' || i, 'a' || i % 200, 'all', 1, 1, i % 64, '{}', case when i % 10 = 0 then i end
  from generate_series(1, 2000) i;
insert into hookswitch.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, other_leg, hook, body)
  select i, i, i, i % 3 + 1, 'e' || i, 'a' || i / 3 % 200, 'c' || i / 3, case when i % 3 = 0 then 'o' || i / 3 end,
    'channel_create', repeat('x', 500)
  from generate_series(1, 100000) i;
insert into hookswitch.body (event, variant, body)
  select i, 1, repeat('x', 500) from generate_series(1, 100000, 10) i;
insert into hookswitch.waiting (position, event, lane, accepted_ms, due_ms, webhook_key, sequence, epoch, variant, form, id)
  select i, i, i / 40, i, case when i % 20 = 0 then i end, i / 10 % 2000 + 1, i % 3 + 1, 1, 0, 2, '!d' || i
  from generate_series(10, 100000, 10) i;
insert into hookswitch.attempt (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, n, attempts, tries,
    interruptions, variant, form, state, id, doc)
  select i, i, i / 40, i, i, case when i % 10 > 0 then i end, i % 2000 + 1, 1, 1, 1, 1, 0, 0, 2,
    case when i % 10 > 0 then 2 + i % 5 else 0 end, '!d' || i, repeat('x', 500)
  from generate_series(1, 100000) i;
insert into hookswitch.attempt (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, n, attempts, tries,
    interruptions, variant, form, state, id, replay_of, doc)
  select i, 200000 + i, 0, i, i, i, i % 2000 + 1, 1, 1, 1, 1, 0, 0, 34, 2 + i % 5, '!r' || i, 'd' || i, '[1,'
  from generate_series(1, 50000) i;
insert into hookswitch.waiting (position, event, lane, accepted_ms, webhook_key, sequence, epoch, variant, form, id, replay_of)
  select 300000 + i, i, i / 40, i, i % 2000 + 1, 0, 1, 0, 34, '!q' || i, 'd' || i from generate_series(1, 10000) i;
insert into hookswitch.replay (id, account_id, state, created_ms, ended_ms, revision, doc)
  select 'r' || i, 'a' || i % 200, case when i % 50 = 0 then 'running' else 'completed' end, i,
    case when i % 50 > 0 then i end, 1, '{}' from generate_series(1, 5000) i;
insert into hookswitch.unwanted_event (accepted_ms, timestamp_ms, sequence, is_internal, id, account_id, call_id, hook, source)
  select i, i, 1, false, 'u' || i, 'a' || i % 200, 'c' || i / 3, 'channel_create', 'x' from generate_series(1, 50000) i;
insert into hookswitch.call_number (number, accepted_ms, account_id, call_id, source)
  select i / 7, i, 'a' || i % 200, 'c' || i / 3, 'x' from generate_series(1, 50000) i;
insert into hookswitch.change (fence, n, webhook_id) select i % 20, i, 'w' || i % 2000 from generate_series(1, 5000) i;
insert into hookswitch.idempotency (until_ms, sequence, account_id, key, event_id, body_hash, call_id)
  select i, 1, 'a' || i % 200, 'k' || i, 'e' || i, 'x', 'c' || i / 3 from generate_series(1, 50000) i;
`
