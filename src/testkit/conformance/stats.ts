import assert from 'node:assert/strict'
import { newCounts } from '../../stats/columns.js'
import type { StatsStep } from '../../stats/slots.js'
import type { StatsRow, StatsSeriesKey } from '../../stats/stats-store.js'
import type { DefineRule, Fixture } from './fixture.js'

/** 2026-01-01T00:00:00Z: the start of an hour. */
const START_MS = 1_767_225_600_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

const WEBHOOK: StatsSeriesKey = { accountId: 'account', webhookId: 'webhook' }

/** Counts that differ in every column: `from`, `from + 1`, … */
const countsFrom = (from: number) => newCounts().map((_, index) => from + index)

const newRow = (overrides: Partial<StatsRow> = {}): StatsRow => ({
  ...WEBHOOK,
  step: 60,
  startMs: START_MS,
  counts: countsFrom(1),
  ...overrides,
})

const write = ({ store }: Fixture, number: number, rows: readonly StatsRow[], writer = 'writer') =>
  store.stats.add({ writer, number, rows })

/** The counts that are stored, by account, webhook, step and slot. */
async function stored(
  { store }: Fixture,
  series: readonly StatsSeriesKey[],
  step: StatsStep,
  slots: readonly number[],
): Promise<Readonly<Record<string, readonly number[]>>> {
  const rows = await store.stats.read({ series, step, slots })
  const byName = rows.map((row) => [
    `${row.accountId}/${row.webhookId}/${row.step}/${row.startMs - START_MS}`,
    [...row.counts],
  ])
  assert.equal(new Set(byName.map(([name]) => name)).size, rows.length, 'a slot of a series has one row')
  return Object.fromEntries(byName)
}

const oneOf = async (fixture: Fixture) =>
  (await stored(fixture, [WEBHOOK], 60, [START_MS]))['account/webhook/60/0']

/** Rules of statistics. */
export function statsRules(rule: DefineRule): void {
  rule('counts are read as they were written, by series, step and slot', async (fixture) => {
    const account = { accountId: 'account', webhookId: '' }
    const service = { accountId: '', webhookId: '' }
    const other = { accountId: 'other', webhookId: 'webhook' }
    await write(fixture, 1, [
      newRow({ counts: countsFrom(1) }),
      newRow({ counts: countsFrom(100), startMs: START_MS + MINUTE_MS }),
      newRow({ counts: countsFrom(200), step: 3600 }),
      newRow({ counts: countsFrom(300), ...account }),
      newRow({ counts: countsFrom(400), ...service }),
      newRow({ counts: countsFrom(500), ...other }),
    ])
    const slots = [START_MS - MINUTE_MS, START_MS, START_MS + MINUTE_MS]
    assert.deepEqual(await stored(fixture, [WEBHOOK], 60, slots), {
      'account/webhook/60/0': countsFrom(1),
      'account/webhook/60/60000': countsFrom(100),
    })
    assert.deepEqual(await stored(fixture, [WEBHOOK], 3600, [START_MS]), {
      'account/webhook/3600/0': countsFrom(200),
    })
    assert.deepEqual(await stored(fixture, [account, service, other], 60, [START_MS]), {
      'account//60/0': countsFrom(300),
      '//60/0': countsFrom(400),
      'other/webhook/60/0': countsFrom(500),
    })
    assert.deepEqual(await stored(fixture, [{ ...WEBHOOK, webhookId: 'unknown' }], 60, slots), {})
    assert.deepEqual(await stored(fixture, [], 60, slots), {})
    assert.deepEqual(await stored(fixture, [WEBHOOK], 60, []), {})
  })

  rule('totals are the sums of the outcomes, in the order of the series and slots', async (fixture) => {
    const later = START_MS + MINUTE_MS
    const other = { ...WEBHOOK, webhookId: 'other' }
    await write(fixture, 1, [
      newRow({ counts: countsFrom(1) }),
      newRow({ counts: countsFrom(100), startMs: later }),
      newRow({ counts: countsFrom(1_000), ...other }),
      newRow({ counts: countsFrom(7), step: 3600 }),
    ])
    const unknown = { ...WEBHOOK, accountId: 'other' }
    const query = { series: [other, unknown, WEBHOOK], step: 60, slots: [later, START_MS] } as const
    // 2 + 3 + … + 12 = 77.
    assert.deepEqual(await fixture.store.stats.totals(query), [
      { ok: [0, 1_000], failed: [0, 11 * 999 + 77] },
      { ok: [0, 0], failed: [0, 0] },
      { ok: [100, 1], failed: [11 * 99 + 77, 77] },
    ])
    assert.deepEqual(await fixture.store.stats.totals({ ...query, series: [] }), [])
    assert.deepEqual(await fixture.store.stats.totals({ ...query, series: [other], slots: [] }), [
      { ok: [], failed: [] },
    ])
  })

  rule('causes are read as they were written, and added up cause by cause', async (fixture) => {
    const later = START_MS + MINUTE_MS
    const read = async () => {
      const slots = [START_MS, later]
      const rows = await fixture.store.stats.read({ series: [WEBHOOK], step: 60, slots })
      return Object.fromEntries(rows.map(({ startMs, causes }) => [startMs - START_MS, causes]))
    }
    await write(fixture, 1, [newRow({ causes: { 503: 2, refused: 1 } }), newRow({ startMs: later })], 'one')
    assert.deepEqual(await read(), { 0: { 503: 2, refused: 1 }, [MINUTE_MS]: undefined })
    await write(fixture, 2, [newRow(), newRow({ startMs: later, causes: { 404: 1 } })], 'one')
    await write(fixture, 1, [newRow({ causes: { refused: 4, other: 3_000_000_000 } })], 'two')
    await write(fixture, 1, [newRow({ causes: { refused: 4 } })], 'two')
    await write(fixture, 2, [newRow({ causes: { other: 3_000_000_000 } })], 'two')
    assert.deepEqual(await read(), {
      0: { 503: 2, refused: 5, other: 6_000_000_000 },
      [MINUTE_MS]: { 404: 1 },
    })
  })

  rule('counts of several writers and batches are added up', async (fixture) => {
    await write(fixture, 1, [newRow()], 'one')
    await write(fixture, 1, [newRow({ counts: countsFrom(10) })], 'two')
    await write(fixture, 2, [newRow({ counts: countsFrom(100) })], 'one')
    assert.deepEqual(
      await oneOf(fixture),
      countsFrom(0).map((column) => 111 + 3 * column),
    )
  })

  rule('a batch that was written before changes nothing, also after later ones', async (fixture) => {
    await write(fixture, 1, [newRow()], 'one')
    await write(fixture, 1, [newRow()], 'one')
    assert.deepEqual(await oneOf(fixture), countsFrom(1))
    await write(fixture, 2, [newRow()], 'one')
    await write(fixture, 1, [newRow()], 'one')
    await write(fixture, 1, [newRow()], 'two')
    assert.deepEqual(
      await oneOf(fixture),
      countsFrom(1).map((count) => 3 * count),
    )
  })

  rule('batches that are written at the same time are all added, a repeated one once', async (fixture) => {
    const rows = Array.from({ length: 50 }, (_, index) => newRow({ webhookId: `webhook-${index}` }))
    const writers = ['one', 'two', 'three', 'four', 'four']
    await Promise.all(
      writers.map((writer, index) => write(fixture, 1, index % 2 === 0 ? rows : rows.toReversed(), writer)),
    )
    const found = await stored(fixture, rows, 60, [START_MS])
    assert.equal(Object.keys(found).length, 50)
    for (const counts of Object.values(found))
      assert.deepEqual(
        counts,
        countsFrom(1).map((count) => 4 * count),
      )
  })

  rule('a batch has 500 rows, and a query 200 series of 24 slots or one of 900', async (fixture) => {
    const rows = Array.from({ length: 500 }, (_, index) =>
      newRow({
        webhookId: `webhook-${index % 200}`,
        startMs: START_MS + Math.floor(index / 200) * HOUR_MS,
        step: 3600,
      }),
    )
    await write(fixture, 1, rows)
    const slots = Array.from({ length: 24 }, (_, index) => START_MS + (index - 3) * HOUR_MS)
    assert.equal(Object.keys(await stored(fixture, rows.slice(0, 200), 3600, slots)).length, 500)
    const many = Array.from({ length: 900 }, (_, index) => START_MS + index * HOUR_MS)
    assert.equal(Object.keys(await stored(fixture, [rows[0]!], 3600, many)).length, 3)
  })

  rule('the sum of durations may exceed 32 bits', async (fixture) => {
    const counts = newCounts()
    counts[counts.length - 1] = 3_000_000_000
    await write(fixture, 1, [newRow({ counts })])
    await write(fixture, 2, [newRow({ counts })])
    assert.equal((await oneOf(fixture))?.at(-1), 6_000_000_000)
  })

  rule('prune removes slots of each step that begin before a time, up to the limit', async (fixture) => {
    const at = (minutes: number, step: StatsStep) => newRow({ startMs: START_MS + minutes * MINUTE_MS, step })
    await write(fixture, 1, [at(0, 60), at(1, 60), at(2, 60), at(60, 60), at(0, 3600), at(60, 3600)])
    const beforeMs = { 60: START_MS + 2 * MINUTE_MS, 3600: START_MS }
    const { stats } = fixture.store
    assert.equal(await stats.prune({ beforeMs }, 1), 1)
    assert.equal(await stats.prune({ beforeMs }, 9), 1)
    assert.equal(await stats.prune({ beforeMs }, 9), 0)
    const minutes = [0, 1, 2, 60].map((minute) => START_MS + minute * MINUTE_MS)
    assert.deepEqual(Object.keys(await stored(fixture, [WEBHOOK], 60, minutes)).toSorted(), [
      'account/webhook/60/120000',
      'account/webhook/60/3600000',
    ])
    const hours = [START_MS, START_MS + HOUR_MS]
    assert.equal(Object.keys(await stored(fixture, [WEBHOOK], 3600, hours)).length, 2)
    assert.equal(await stats.prune({ beforeMs: { 60: START_MS, 3600: START_MS + HOUR_MS } }, 9), 1)
    assert.deepEqual(Object.keys(await stored(fixture, [WEBHOOK], 3600, hours)), [
      'account/webhook/3600/3600000',
    ])
  })

  rule('prune does not forget a writer that wrote a slot that is kept', async (fixture) => {
    await write(fixture, 1, [newRow()])
    await fixture.store.stats.prune({ beforeMs: { 60: START_MS, 3600: START_MS } }, 9)
    await write(fixture, 1, [newRow()])
    assert.deepEqual(await oneOf(fixture), countsFrom(1))
  })
}
