import { afterAll, describe, expect, it } from 'vitest'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createEngine } from '../../../adapters/storage/sqlite/engine.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { engineStore, freshDatabase } from './sqlite-engine-store.js'

/** A file with rows of every kind, never analysed, and all statements that the engine prepares on it. */
function filled() {
  const file = freshDatabase()
  const store = engineStore(file.path, { now: () => 1 })
  afterAll(async () => {
    await store.close()
    file.remove()
  })
  store.together(({ webhooks, deliveries }) => {
    deliveries.own('node', 1, 1)
    for (let index = 0; index < 20; index += 1) {
      const webhook = newWebhook()
      webhooks.insert(webhook)
      for (let call = 0; call < 10; call += 1) {
        const event = newEvent({ callId: `call-${call % 3}` })
        deliveries.accept(
          { events: [event], deliveries: [newDelivery(webhook, event)], maxPending: 9_999 },
          1,
        )
      }
      const endpoints = [{ webhookId: webhook.id, room: 9 }]
      const { claims } = deliveries.claim({ owner: 'node', endpoints, limit: 2, now: 1 })
      for (const { delivery } of claims.slice(1)) {
        deliveries.settle(
          [
            {
              owner: 'node',
              deliveryId: delivery.id,
              webhookId: webhook.id,
              expect: { state: 'in_flight', fence: 1 },
              next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
              record: newRecord(delivery),
            },
          ],
          1,
        )
      }
    }
  })
  const statements: string[] = []
  const noting: SqliteHandle = {
    exec: (sql) => store.db.exec(sql),
    close() {},
    prepare(sql) {
      statements.push(sql)
      return store.db.prepare(sql)
    },
  }
  createEngine(noting, () => {})
  return { db: store.db, statements: [...new Set(statements)] }
}

/** The plan of a statement, with something bound to each of its parameters. */
function planOf(db: SqliteHandle, sql: string): string[] {
  const count = [...sql.matchAll(/\?/g)].length
  const rows = db.prepare(`explain query plan ${sql}`).all(...Array.from({ length: count }, () => 1))
  return (rows as { detail: string }[]).map(({ detail }) => detail)
}

/** Reads that are of everything by nature, or of a few rows at the beginning of a table, and say why. */
const MAY_SCAN: readonly (readonly [RegExp, string])[] = [
  [/from hookswitch_account order by id$/, 'the list of all accounts'],
  [/count\(\*\) from hookswitch_delivery indexed by hookswitch_delivery_queue/, 'once, when it is opened'],
  [/from hookswitch_event where id = \? order by key desc limit 1$/, 'a replay of what is gone'],
  [/from hookswitch_attempt order by position limit \? \+ 0$/, 'the oldest records, as many as may go'],
  [/from hookswitch_inbox order by id limit \? \+ 0$/, 'the oldest entries, as many as are asked for'],
  [/from hookswitch_inbox\s+where account_id/, 'entries wait for moments: there are few'],
  [/delete from hookswitch_inbox where id in/, 'entries wait for moments: there are few'],
  [/^with firsts as materialized/, 'its own rows, one for each webhook of an account'],
  [/^with recursive waiting/, 'its own rows, one for each endpoint that is not idle'],
  [/^with recursive below/, 'its own rows, one for each account below'],
  [/select max\(key\) as last from \(select/, 'its own slice'],
]

describe('every statement of the engine', () => {
  const { db, statements } = filled()

  it('is found', () => {
    expect(statements.length).toBeGreaterThan(80)
  })

  for (const sql of statements) {
    it(`finds its rows by key or index: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      const scans = planOf(db, sql).filter((step) => /^SCAN /.test(step) && step !== 'SCAN CONSTANT ROW')
      if (!MAY_SCAN.some(([pattern]) => pattern.test(sql))) expect(scans).toEqual([])
    })

    it(`sorts nothing: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      const sorts = planOf(db, sql).filter((step) => /TEMP B-TREE|AUTOMATIC/.test(step))
      // The newest record of each webhook of an account: as many rows as it has webhooks.
      if (!sql.startsWith('with firsts as')) expect(sorts).toEqual([])
    })

    it(`is compiled once, and bound by every driver: ${sql.replaceAll(/\s+/g, ' ').slice(0, 150)}`, () => {
      // SQLite 3.47 and newer look at the value of a bare `limit ?`, and compile anew whenever it is bound: 20 µs.
      expect(sql).not.toMatch(/limit \?(?! \+ 0)/)
      // Node's own driver takes `?1` for a name, up to 22.18 and 24.5.
      expect(sql).not.toMatch(/\?\d/)
    })
  }
})
