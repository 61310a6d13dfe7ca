import type { AcceptDeps } from '../delivery/accept.js'
import { MAX_ROWS } from '../delivery/call-index.js'
import type { NodeClock } from '../delivery/node-clock.js'
import { reasonOf } from '../errors.js'
import type { Log } from '../ports.js'
import { KEPT_MS } from '../stats/slots.js'
import type { Store } from '../store/contract.js'

/** Pause between two runs. */
const INTERVAL_MS = 600_000
/** Pause between two looks at the size of the history, where it is limited. */
const SIZE_INTERVAL_MS = 60_000
/** Rows removed per statement: a larger batch would delay calls of the store that wait behind it. */
const BATCH = 500
/** Most deliveries that are removed for the size of the history until it is measured again. */
const MOST_AT_ONCE = 20 * BATCH
/** Parts of `maxHistoryBytes`: above the first a warning is logged, once until it is below the second. */
const WARNING_PART = 0.8
const QUIET_PART = 0.75
const DAY_MS = 86_400_000

/** How much history the store keeps. */
export interface RetentionLimits {
  readonly attemptsPerWebhook: number
  readonly retentionDays: number
  readonly unwantedRetentionSeconds: number
  readonly maxHistoryBytes?: number | undefined
}

/**
 * Removes expired rows every 10 minutes, in small batches: old attempts, ended deliveries, replay jobs, expired tokens, the
 * oldest of the call index, old statistics, and open legs that no source continues; every minute what is above `maxHistoryBytes`. Its timers do not keep
 * the process alive.
 *
 * @param deps `history.bytes` is set to the size of the history whenever it is measured
 * @param limits read at each run
 * @returns a function that stops it and waits for the batch in progress
 */
export function startRetention(
  deps: {
    readonly store: Store
    readonly clock: Pick<NodeClock, 'now' | 'machineNow' | 'sleep' | 'yield'>
    readonly log: Log
    readonly accept: Pick<AcceptDeps, 'storeNow'>
    readonly history: { bytes: number }
  },
  limits: RetentionLimits,
): () => Promise<void> {
  const { store, clock, log, accept, history } = deps
  const stopping = new AbortController()
  let isWarned = false

  async function repeatWhileFull(prune: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted && (await prune()) >= BATCH) await clock.yield()
  }

  async function prune(): Promise<void> {
    // The earliest of all clocks: one that is days fast would otherwise remove recent rows of all nodes.
    const now = Math.min(clock.machineNow(), clock.now(), accept.storeNow())
    const { attemptsPerWebhook, retentionDays } = limits
    const beforeMs = now - retentionDays * DAY_MS
    await repeatWhileFull(() => store.deliveries.prune({ attemptsPerWebhook, beforeMs, limit: BATCH }, now))
    await repeatWhileFull(() => store.replays.prune(beforeMs, BATCH))
    await repeatWhileFull(() => store.tokens.pruneTokens(now, BATCH))
    await repeatWhileFull(() => store.openLegs.prune(beforeMs, BATCH))
    const { unwantedRetentionSeconds } = limits
    const index = {
      events: {
        beforeMs: now - unwantedRetentionSeconds * 1_000,
        upTo: await store.callIndex.excess('events', MAX_ROWS.events),
      },
      numbers: { beforeMs, upTo: await store.callIndex.excess('numbers', MAX_ROWS.numbers) },
    }
    await repeatWhileFull(() => store.callIndex.prune(index, BATCH))
    const kept = { 60: now - KEPT_MS[60], 3600: now - KEPT_MS[3600] }
    await repeatWhileFull(() => store.stats.prune({ beforeMs: kept }, BATCH))
  }

  function warn(maxHistoryBytes: number): void {
    const part = history.bytes / maxHistoryBytes
    if (part < QUIET_PART) isWarned = false
    if (part < WARNING_PART || isWarned) return
    isWarned = true
    log.warn(
      { historyBytes: history.bytes, maxHistoryBytes },
      'the history is near its limit: above maxHistoryBytes the oldest deliveries are removed, delivered ones first',
    )
  }

  function warnOfUnknown(maxHistoryBytes: number | undefined): void {
    if (maxHistoryBytes === undefined || isWarned) return
    isWarned = true
    log.warn(
      { maxHistoryBytes },
      'maxHistoryBytes has no effect: this store cannot tell how much the history takes',
    )
  }

  /** Removes about so many of the oldest deliveries. Resolves to their number. */
  async function removeOldest(wanted: number): Promise<number> {
    let removed = 0
    for (let count = 1; count > 0 && removed < wanted && !stopping.signal.aborted; removed += count) {
      count = await store.deliveries.pruneOldest(BATCH)
      await clock.yield()
    }
    return removed
  }

  /** Resolves to the number of deliveries that were removed. */
  async function shrinkTo(maxHistoryBytes: number): Promise<number> {
    let removed = 0
    for (let wanted = BATCH; history.bytes > maxHistoryBytes && !stopping.signal.aborted; ) {
      const before = history.bytes
      const count = await removeOldest(wanted)
      removed += count
      history.bytes = (await store.deliveries.historyBytes()) ?? 0
      const freed = before - history.bytes
      // An estimate may follow late.
      if (count === 0 || (freed <= 0 && removed >= MOST_AT_ONCE)) break
      const needed = freed > 0 ? ((history.bytes - maxHistoryBytes) * count) / freed : BATCH
      wanted = Math.min(Math.max(needed, BATCH), MOST_AT_ONCE)
    }
    return removed
  }

  async function measure(): Promise<void> {
    const bytes = await store.deliveries.historyBytes()
    const { maxHistoryBytes } = limits
    if (bytes === undefined) return warnOfUnknown(maxHistoryBytes)
    history.bytes = bytes
    if (maxHistoryBytes === undefined) return
    warn(maxHistoryBytes)
    const removed = await shrinkTo(maxHistoryBytes)
    if (removed === 0) return
    log.warn(
      { removed, historyBytes: history.bytes, maxHistoryBytes },
      'the history was above maxHistoryBytes: the oldest deliveries were removed',
    )
  }

  async function attempt(task: () => Promise<void>, failure: string): Promise<void> {
    try {
      await task()
    } catch (thrown) {
      log.warn({ reason: reasonOf(thrown) }, failure)
    }
  }

  async function run(): Promise<void> {
    const looks = limits.maxHistoryBytes === undefined ? 1 : INTERVAL_MS / SIZE_INTERVAL_MS
    for (let look = 1; ; look = (look % looks) + 1) {
      await clock.sleep(INTERVAL_MS / looks, stopping.signal)
      if (stopping.signal.aborted) return
      if (look === looks) await attempt(prune, 'removing expired rows failed')
      await attempt(measure, 'measuring the history failed')
    }
  }

  const running = run()
  return () => {
    stopping.abort()
    return running
  }
}
