import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { createStatsFlush, FLUSH_INTERVAL_MS, MAX_BATCH_ROWS } from '../../src/stats/flush.js'
import type { StatsBatch } from '../../src/stats/stats-store.js'
import { createTally } from '../../src/stats/tally.js'
import { manualClock } from '../../src/testkit/clock.js'
import { HOUR, newRecord } from './records.js'

const unavailable = () => new HookswitchError('StoreUnavailable', 'out', { retryAfterSeconds: 1 })

function start(options: { readonly maxCells?: number } = {}) {
  const clock = manualClock({ nowMs: HOUR })
  const tally = createTally(options.maxCells)
  const written: StatsBatch[] = []
  const lines: string[] = []
  const faults: unknown[] = []
  let added = () => {}
  const log = { debug() {}, info() {}, warn: (_: object, message: string) => lines.push(message), error() {} }
  const store = {
    async add(batch: StatsBatch) {
      const fault = faults.shift()
      if (fault === 'lost') {
        written.push(batch)
        throw unavailable()
      }
      if (fault) throw fault
      written.push(batch)
      added()
    },
  }
  const flush = createStatsFlush({ store, clock, log, tally }, 'writer')
  const count = (webhookId = 'webhook') => {
    tally.count(newRecord({ webhookId }))
    flush.counted()
  }
  const onAdd = (listener: () => void) => {
    added = listener
  }
  return { clock, tally, written, lines, faults, flush, count, onAdd }
}

describe('the flush of statistics', () => {
  it('writes 10 s after the first count, and rests while nothing is counted', async () => {
    const { clock, written, count } = start()
    await clock.advance(60_000)
    count()
    await clock.advance(FLUSH_INTERVAL_MS - 1)
    expect(written).toEqual([])
    count()
    await clock.advance(1)
    expect(written).toHaveLength(1)
    expect(written[0]).toMatchObject({ writer: 'writer', number: 1 })
    expect(written[0]!.rows[0]!.counts[0]).toBe(2)
    await clock.advance(600_000)
    expect(written).toHaveLength(1)
    count()
    await clock.advance(FLUSH_INTERVAL_MS)
    expect(written.map(({ number }) => number)).toEqual([1, 2])
  })

  it('writes at most 500 rows in one transaction', async () => {
    const { flush, written, count } = start()
    for (let index = 0; index < 600; index += 1) count(`webhook-${index}`)
    await flush.flush()
    expect(written.length).toBeGreaterThan(1)
    for (const { rows } of written) expect(rows.length).toBeLessThanOrEqual(MAX_BATCH_ROWS)
    const total = written.flatMap(({ rows }) =>
      rows.filter(({ step, accountId }) => step === 60 && accountId === ''),
    )
    expect(total.reduce((sum, { counts }) => sum + counts[0]!, 0)).toBe(600)
  })

  it('ends although something is counted during each batch', async () => {
    const { clock, flush, written, count, onAdd } = start()
    onAdd(() => {
      if (written.length < 5) count()
    })
    count()
    await flush.flush()
    expect(written).toHaveLength(1)
    await clock.advance(FLUSH_INTERVAL_MS)
    expect(written).toHaveLength(2)
    await flush.close()
    expect(written).toHaveLength(3)
  })

  it('keeps a batch that failed and repeats it as it was, with the same number', async () => {
    const { clock, flush, written, lines, faults, count } = start()
    faults.push(unavailable(), 'lost')
    count('one')
    await clock.advance(FLUSH_INTERVAL_MS)
    count('two')
    expect(flush.oldestUnwrittenMs()).toBe(HOUR)
    await clock.advance(FLUSH_INTERVAL_MS)
    await clock.advance(FLUSH_INTERVAL_MS)
    expect(written.map(({ number, rows }) => [number, rows[0]!.webhookId])).toEqual([
      [1, 'one'],
      [1, 'one'],
      [2, 'two'],
    ])
    expect(written[1]).toEqual(written[0])
    expect(flush.oldestUnwrittenMs()).toBeUndefined()
    expect(lines).toEqual(['statistics could not be written, retrying'])
  })

  it('gives up a batch that the store refuses, and goes on with the next', async () => {
    const { flush, written, lines, faults, count } = start()
    faults.push(new Error('a fault'))
    count()
    await flush.flush()
    expect(written).toEqual([])
    expect(lines).toEqual(['statistics were refused by the store and are lost'])
    count()
    await flush.flush()
    expect(written.map(({ number }) => number)).toEqual([2])
  })

  it('says how many attempts it could not count while the store was out', async () => {
    const { flush, written, lines, count } = start({ maxCells: 1 })
    count('one')
    count('two')
    await flush.flush()
    expect(written).toHaveLength(1)
    expect(lines).toEqual(['attempts are missing in the statistics: too many waited to be written'])
  })

  it('at close writes what is counted in one try, and stops its timer', async () => {
    const { clock, flush, written, faults, count } = start()
    count()
    await flush.close()
    expect(written).toHaveLength(1)
    count()
    faults.push(unavailable())
    await flush.close()
    await clock.advance(600_000)
    expect(written).toHaveLength(1)
    expect(clock.sleepers().count).toBe(0)
  })
})
