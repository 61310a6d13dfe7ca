/**
 * Writes counts of attempts to the store: 10 s after the first one, and at close. Nothing runs while nothing is counted.
 *
 * Theory of operation
 *
 * - Counts are taken from memory batch by batch, up to 500 rows and one transaction each. A batch has a number; the store
 *   ignores a number that it has stored. So a batch with an unknown outcome is repeated unchanged, and counts once.
 * - A batch that fails is kept and repeated at the next flush, every 10 s; everything else waits in the tally, which is
 *   bounded. Above its bound, new counts are dropped and logged: the attempts themselves remain the source of truth.
 * - What a crash leaves out: up to 10 s of counts, and attempts whose settlement was written by a commit whose result the
 *   node did not live to read. Nothing is counted twice.
 */
import { errorCode, reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import type { StatsBatch, StatsStore } from './stats-store.js'
import type { Tally } from './tally.js'

/** Time from the first count to the flush, and between tries, ms. */
export const FLUSH_INTERVAL_MS = 10_000
/** Rows of one transaction. @internal */
export const MAX_BATCH_ROWS = 500
/** Failures are logged at most once in this period, ms. */
const LOG_INTERVAL_MS = 60_000

/** Writes what is counted. */
interface StatsFlush {
  /** Something was counted: sets the timer, unless it runs. */
  counted(): void
  /** Writes everything that is counted now. Never rejects: what cannot be written is kept. */
  flush(): Promise<void>
  /** Resolves when the flush in progress has ended, if there is one. */
  idle(): Promise<void>
  /** Start of the oldest minute that is not written yet, Unix ms; `undefined`: everything is written. */
  oldestUnwrittenMs(): number | undefined
  /** Stops the timer, and writes everything that is counted now, in one try. Counts after it are lost. */
  close(): Promise<void>
}

/** @param writer id of this instance, unique in the store */
export function createStatsFlush(
  deps: {
    readonly store: Pick<StatsStore, 'add'>
    readonly clock: Clock
    readonly log: Log
    readonly tally: Tally
  },
  writer: string,
): StatsFlush {
  const { store, clock, log, tally } = deps
  const stopping = new AbortController()
  let number = 0
  /** The batch with an unknown outcome. */
  let unwritten: StatsBatch | undefined
  let isTimerSet = false
  let flushing: Promise<void> | undefined
  let nextLogMs = Number.NEGATIVE_INFINITY

  function nextBatch(): StatsBatch | undefined {
    if (unwritten) return unwritten
    const rows = tally.take(MAX_BATCH_ROWS)
    if (rows.length === 0) return undefined
    number += 1
    unwritten = { writer, number, rows }
    return unwritten
  }

  function warn(fields: Readonly<Record<string, unknown>>, message: string): void {
    if (clock.monotonic() < nextLogMs) return
    nextLogMs = clock.monotonic() + LOG_INTERVAL_MS
    log.warn(fields, message)
  }

  /** Writes what is counted now. What is counted meanwhile waits for the next flush: there may be some after each batch. */
  async function writeAll(): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const isRepeated = unwritten !== undefined
      const batch = nextBatch()
      if (!batch) break
      isLast = tally.isEmpty && !isRepeated
      try {
        await store.add(batch)
      } catch (thrown) {
        const reason = reasonOf(thrown)
        if (errorCode(thrown) === 'StoreUnavailable') {
          warn({ reason }, 'statistics could not be written, retrying')
          return
        }
        // Another try would fail too.
        warn({ reason, rows: batch.rows.length }, 'statistics were refused by the store and are lost')
      }
      unwritten = undefined
    }
    const dropped = tally.takeDropped()
    if (dropped > 0)
      log.warn({ attempts: dropped }, 'attempts are missing in the statistics: too many waited to be written')
  }

  function flush(): Promise<void> {
    flushing ??= writeAll().finally(() => {
      flushing = undefined
      if (unwritten || !tally.isEmpty) setTimer()
    })
    return flushing
  }

  function setTimer(): void {
    if (isTimerSet || stopping.signal.aborted) return
    isTimerSet = true
    void clock.sleep(FLUSH_INTERVAL_MS, stopping.signal).then(() => {
      isTimerSet = false
      if (!stopping.signal.aborted) void flush()
    })
  }

  return {
    counted: setTimer,
    flush,
    idle: async () => flushing,
    oldestUnwrittenMs() {
      const inBatch = unwritten?.rows.filter(({ step }) => step === 60).map(({ startMs }) => startMs) ?? []
      const all = [...inBatch, tally.oldestMs() ?? Number.POSITIVE_INFINITY]
      const oldest = Math.min(...all)
      return oldest === Number.POSITIVE_INFINITY ? undefined : oldest
    },
    async close() {
      stopping.abort()
      // A flush that is running may have taken its last batch before the last counts.
      await flushing
      await flush()
    },
  }
}
