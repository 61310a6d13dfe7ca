/** The statistics of one running instance: counting, writing, reading. */
import type { AttemptRecord } from '../delivery/attempt-record.js'
import { HookswitchError, invalidInput } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { createStatsFlush } from './flush.js'
import { completeRange, completeToMs, type StatsRange, type StatsSeries, seriesOf } from './series.js'
import { STATS_STEPS, slotsOf } from './slots.js'
import type { StatsSeriesKey, StatsStore } from './stats-store.js'
import { createTally } from './tally.js'

interface StatisticsDeps {
  readonly stats: StatsStore
  readonly clock: Clock
  readonly log: Log
  readonly newId: () => string
}

/** Counts attempts and returns what was counted. Exported because declarations name it. */
export interface Statistics {
  /** Counts an attempt whose settlement is written (see `stats/tally`). Never throws. */
  count(record: AttemptRecord): void
  /**
   * The attempts of a webhook, of an account (empty `webhookId`) or of the service, by slot.
   *
   * @throws `InvalidInput` naming `toMs` for more than 900 slots, `fromMs` for a range that ends before it begins, `step`
   */
  read(key: StatsSeriesKey, range: StatsRange): Promise<StatsSeries>
  /** Writes what is counted, in one try; later counts are lost. */
  close(): Promise<void>
}

/** @param attemptTimeoutMs longest duration of an attempt, ms */
export function createStatistics(deps: StatisticsDeps, attemptTimeoutMs: number): Statistics {
  const { stats, clock, log, newId } = deps
  const tally = createTally()
  const flush = createStatsFlush({ store: stats, clock, log, tally }, newId())

  return {
    count(record) {
      tally.count(record)
      flush.counted()
    },
    async read(key, requested) {
      if (requested.step !== undefined && !STATS_STEPS.includes(requested.step)) {
        throw invalidInput([{ path: 'step', rule: 'enum', message: 'must be one of', target: STATS_STEPS }])
      }
      const nowMs = clock.now()
      const { step, fromMs, toMs, latestToMs, isTooLong } = completeRange(requested, nowMs)
      if (fromMs > toMs) throw outOfRange('fromMs', 'maximum', toMs, fromMs)
      if (isTooLong) throw outOfRange('toMs', 'maximum', latestToMs, toMs)
      const slots = slotsOf(step, fromMs, toMs, nowMs)
      // What a flush has begun to write is part of the result.
      await flush.idle()
      const completeMs = completeToMs(nowMs, attemptTimeoutMs, flush.oldestUnwrittenMs())
      const rows = slots.length === 0 ? [] : await stats.read({ series: [key], step, slots })
      return seriesOf(rows, step, slots, completeMs)
    },
    close: flush.close,
  }
}

function outOfRange(path: string, rule: 'maximum', target: number, value: number): HookswitchError {
  return invalidInput([{ path, rule, message: `must be at most ${target}`, target, value }])
}

/** The error of an instance with the option `statistics: false`. */
export const statisticsOff = (): HookswitchError =>
  new HookswitchError('Unsupported', 'this instance keeps no statistics', { field: 'statistics' })
