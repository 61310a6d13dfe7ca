import { afterAll, describe, expect, it } from 'vitest'
import { COUNTED_ATTEMPTS } from '../../../adapters/storage/sqlite/attempt-counts.js'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createEngine } from '../../../adapters/storage/sqlite/engine.js'
import { CANCELLED_SQL, PART_SQL } from '../../../adapters/storage/sqlite/queries.js'
import { REPLAYABLE_SQL } from '../../../adapters/storage/sqlite/replayable.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { commitGroup, engineStore, placed, settlementOf, temporaryDatabase } from './sqlite-engine-store.js'

/** A file with rows of every kind, without ANALYZE, and all statements that the engine prepares on it. */
function prepareStatements() {
  const file = temporaryDatabase()
  const store = engineStore(file.path, { now: () => 1 })
  afterAll(async () => {
    await store.close()
    file.remove()
  })
  store.inTransaction((engine) => {
    for (let index = 0; index < 20; index += 1) {
      const webhook = newWebhook()
      engine.webhooks.insert(webhook)
      for (let call = 0; call < 10; call += 1) {
        const event = newEvent({ callId: `call-${call % 3}` })
        const delivery = newDelivery(webhook, event)
        commitGroup(engine, { accepted: [placed([event], [delivery])] }, 1)
        if (call % 2 === 0) commitGroup(engine, { ended: [settlementOf(delivery, 0, 'delivered')] }, 1)
      }
    }
  })
  const statements: string[] = []
  const recorder: SqliteHandle = {
    exec: (sql) => store.db.exec(sql),
    close() {},
    prepare(sql) {
      statements.push(sql)
      return store.db.prepare(sql)
    },
  }
  createEngine(recorder)
  return { db: store.db, statements: [...new Set(statements)] }
}

/** The query plan of a statement, with a value bound to each parameter. */
function planOf(db: SqliteHandle, sql: string): string[] {
  const count = [...sql.matchAll(/\?/g)].length
  const rows = db.prepare(`explain query plan ${sql}`).all(...Array.from({ length: count }, () => 1))
  return (rows as { detail: string }[]).map(({ detail }) => detail)
}

/** Statements that read a whole table on purpose, or a few rows at its beginning, with the reason. */
const MAY_SCAN: readonly (readonly [RegExp, string])[] = [
  [
    /^select 1 from hookswitch_webhook\s+where health/,
    'runs once, after the clock was set back while nothing waits',
  ],
  [/from hookswitch_account order by id$/, 'the list of all accounts'],
  [/^select 1 from hookswitch_waiting limit 1$/, 'one row'],
  [/from hookswitch_attempt order by key limit \? \+ 0$/, 'the oldest records, up to the limit'],
  [/from hookswitch_inbox order by id limit \? \+ 0$/, 'the oldest entries, up to the limit'],
  [/from hookswitch_inbox\s+where account_id/, 'entries are short-lived: there are few'],
  [/delete from hookswitch_inbox where id in/, 'entries are short-lived: there are few'],
  [/^with firsts as materialized/, 'a CTE with one row per webhook of an account'],
  [/^with recursive below/, 'a CTE with one row per descendant account'],
  [/select max\(key\) as last from \(select/, 'a subquery of limited size'],
  [/^select count\(\*\) as count, group_concat/, 'a subquery of limited size'],
  [/^select at_ms as "atMs" from \(\s+select/, 'a subquery of limited size'],
  [/^select at_ms as "atMs", substr/, 'a subquery of limited size'],
  [/^select count\(\*\) as pending/, 'a subquery of limited size'],
  [/^select count\(\*\) as entries/, 'a subquery of limited size'],
  [/^select position, counted from \(/, 'a subquery of limited size'],
  [
    /^select case\s+when \(select max\(key\) from hookswitch_(unwanted|call_number)\)/,
    'counts an index, once per retention run and where there may be too many rows',
  ],
  [
    /^select key from hookswitch_(unwanted|call_number) order by key limit 1 offset/,
    'the rows that are removed next',
  ],
  [/from pragma_page_count/, 'one row each'],
  [/select key from \(select key, accepted_ms from/, 'a subquery of limited size'],
  [/indexed by hookswitch_replay_unfinished/, 'an index of what it returns'],
  [/from hookswitch_stat\s+where step = \? and slot in/, 'the slots of the query, which are given as JSON'],
  [/^delete from hookswitch_stat_writer/, 'one row per instance of the last 35 days'],
]

/** Statements that sort, with the reason. */
const MAY_SORT: readonly (readonly [RegExp, string])[] = [
  [/^with firsts as/, 'the newest record of each webhook of an account: as many rows as it has webhooks'],
  [/^select a\.key\s+from hookswitch_call c/, 'the records of one call'],
  [/on e\.call = c\.key\s+cross join hookswitch_(waiting|attempt) d/, 'the deliveries of one call'],
  [/from hookswitch_event e\s+cross join hookswitch_(waiting|attempt) d/, 'the deliveries of one event'],
  [/ union select webhook, position from/, 'the deliveries of one event'],
]

describe('the statements of the engine', () => {
  const { db, statements } = prepareStatements()

  it('are collected completely', () => {
    expect(statements.length).toBeGreaterThan(80)
  })

  for (const sql of statements) {
    it(`find their rows by key or index: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      const scans = planOf(db, sql).filter((step) => /^SCAN /.test(step) && step !== 'SCAN CONSTANT ROW')
      if (!MAY_SCAN.some(([pattern]) => pattern.test(sql))) expect(scans).toEqual([])
    })

    it(`need no sorting: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      const sorts = planOf(db, sql).filter((step) => /TEMP B-TREE|AUTOMATIC/.test(step))
      if (!MAY_SORT.some(([pattern]) => pattern.test(sql))) expect(sorts).toEqual([])
    })

    it(`are compiled once and can be bound by every driver: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      // SQLite 3.47 and newer use the value of a bare `limit ?` and recompile whenever it is bound: 20 µs.
      expect(sql).not.toMatch(/limit \?(?! \+ 0)/)
      // node:sqlite treats `?1` as a named parameter, up to Node 22.18 and 24.5.
      expect(sql).not.toMatch(/\?\d/)
    })
  }

  it.each([true, false])(
    'count what a replay would repeat in indexes alone (skipping recovered: %s)',
    (skips) => {
      const steps = planOf(db, REPLAYABLE_SQL('attempt', skips, false)).filter((step) => / USING /.test(step))
      expect(steps).toHaveLength(skips ? 3 : 1)
      for (const step of steps) expect(step).toMatch(/ USING COVERING INDEX /)
    },
  )

  it('find out in an index alone whether a delivery that waits is cancelled', () => {
    expect(planOf(db, CANCELLED_SQL)).toEqual([
      'SEARCH hookswitch_waiting USING COVERING INDEX hookswitch_waiting_webhook (webhook=? AND position>? AND position<?)',
    ])
  })

  it('find the end of a part of deliveries in an index alone', () => {
    for (const ascending of [true, false])
      for (const table of ['waiting', 'attempt'] as const)
        expect(planOf(db, PART_SQL(table, ascending))).toEqual([
          expect.stringMatching(/ USING COVERING INDEX hookswitch_(waiting_webhook|attempt_end) /),
        ])
  })

  it('count attempts in an index alone', () => {
    const counting = statements.filter((sql) => sql.includes(COUNTED_ATTEMPTS) && sql.startsWith('select'))
    expect(counting).toHaveLength(2)
    for (const sql of counting) {
      expect(planOf(db, sql)).toContainEqual(
        expect.stringMatching(/ USING COVERING INDEX hookswitch_attempt_end /),
      )
    }
  })
})
