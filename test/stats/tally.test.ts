import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import { addCounts, countAttempt, newCounts } from '../../src/stats/columns.js'
import { STATS_STEPS, slotOf } from '../../src/stats/slots.js'
import type { StatsRow } from '../../src/stats/stats-store.js'
import { createTally, type Tally } from '../../src/stats/tally.js'
import { HOUR, newRecord } from './records.js'

const nameOf = ({ step, startMs, accountId, webhookId }: StatsRow) =>
  `${step}/${startMs}/${accountId}/${webhookId}`

/** All rows, added up by name; each batch within its limit. */
function takeAll(tally: Tally, limit: number): ReadonlyMap<string, readonly number[]> {
  const sums = new Map<string, number[]>()
  for (;;) {
    const rows = tally.take(limit)
    expect(rows.length).toBeLessThanOrEqual(limit)
    expect(new Set(rows.map(nameOf)).size).toBe(rows.length)
    if (rows.length === 0) return sums
    for (const row of rows) {
      const sum = sums.get(nameOf(row)) ?? newCounts()
      addCounts(sum, row.counts)
      sums.set(nameOf(row), sum)
    }
  }
}

/** What the rows must be, counted row by row. */
function expectedOf(records: readonly AttemptRecord[]): ReadonlyMap<string, readonly number[]> {
  const sums = new Map<string, number[]>()
  for (const record of records) {
    const { accountId, webhookId, atMs } = record
    for (const step of STATS_STEPS) {
      for (const series of [`${accountId}/${webhookId}`, `${accountId}/`, '/']) {
        const name = `${step}/${slotOf(step, atMs)}/${series}`
        const sum = sums.get(name) ?? newCounts()
        countAttempt(sum, record)
        sums.set(name, sum)
      }
    }
  }
  return sums
}

describe('a tally', () => {
  it('returns rows of the webhook, its account and the service, for minutes and hours', () => {
    const tally = createTally()
    expect(tally.isEmpty).toBe(true)
    tally.count(newRecord({ atMs: HOUR + 61_000 }))
    expect(tally.isEmpty).toBe(false)
    expect(tally.oldestMs()).toBe(HOUR + 60_000)
    expect(tally.take(500).map(nameOf)).toEqual([
      `60/${HOUR + 60_000}/account/webhook`,
      `60/${HOUR + 60_000}/account/`,
      `60/${HOUR + 60_000}//`,
      `3600/${HOUR}/account/webhook`,
      `3600/${HOUR}/account/`,
      `3600/${HOUR}//`,
    ])
    expect(tally.isEmpty).toBe(true)
    expect(tally.oldestMs()).toBeUndefined()
    expect(tally.take(500)).toEqual([])
  })

  it('returns each attempt once, whatever the limit and the order of the times', () => {
    const record = fc
      .record({
        webhook: fc.nat(9),
        atMs: fc.integer({ min: HOUR - 200_000, max: HOUR + 200_000 }),
        isFailure: fc.boolean(),
        durationMs: fc.nat(20_000),
      })
      .map(({ webhook, atMs, isFailure, durationMs }) =>
        newRecord({
          webhookId: `w${webhook}`,
          accountId: `a${webhook % 3}`,
          atMs,
          durationMs,
          ...(isFailure && { result: 'failure', status: 503 }),
        }),
      )
    fc.assert(
      fc.property(fc.array(record, { maxLength: 60 }), fc.integer({ min: 6, max: 40 }), (records, limit) => {
        const tally = createTally()
        for (const record of records) tally.count(record)
        expect(takeAll(tally, limit)).toEqual(expectedOf(records))
        expect(tally.isEmpty).toBe(true)
      }),
    )
  })

  it('counts failed attempts by cause, and above 20 causes of a minute as other', () => {
    const tally = createTally()
    for (let status = 400; status < 425; status += 1)
      tally.count(newRecord({ result: 'failure', status, webhookId: 'hostile' }))
    tally.count(newRecord({ result: 'failure', status: 503 }))
    tally.count(newRecord({ result: 'failure', status: 503 }))
    tally.count(newRecord())
    const rows = new Map(tally.take(500).map((row) => [nameOf(row), row.causes]))
    const hostile = rows.get(`60/${HOUR}/account/hostile`)!
    expect(Object.keys(hostile)).toHaveLength(21)
    expect([hostile[419], hostile[420], hostile.other]).toEqual([1, undefined, 5])
    expect(rows.get(`3600/${HOUR}/account/webhook`)).toEqual({ 503: 2 })
    expect(rows.get(`60/${HOUR}//`)).toEqual({ ...hostile, 503: 2 })
    tally.count(newRecord())
    expect(tally.take(500).every((row) => row.causes === undefined)).toBe(true)
  })

  it('above its bound counts only what it has a row for, and says how many attempts are missing', () => {
    const tally = createTally(2)
    for (const webhookId of ['one', 'two', 'three', 'one', 'four']) tally.count(newRecord({ webhookId }))
    expect(tally.takeDropped()).toBe(2)
    expect(tally.takeDropped()).toBe(0)
    const sums = takeAll(tally, 500)
    expect(sums.get(`60/${HOUR}//`)![0]).toBe(3)
    tally.count(newRecord({ webhookId: 'four' }))
    expect(tally.takeDropped()).toBe(0)
  })
})
