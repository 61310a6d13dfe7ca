import type { AcceptDeps } from '../delivery/accept.js'
import type { NodeClock } from '../delivery/node-clock.js'
import type { Log } from '../ports.js'
import { KEPT_MS } from '../stats/slots.js'
import type { Store } from '../store/contract.js'

/** Pause between two runs. */
const INTERVAL_MS = 600_000
/** Rows removed per statement: a larger batch would delay calls of the store that wait behind it. */
const BATCH = 500
const DAY_MS = 86_400_000

/** How much history the store keeps. */
export interface RetentionLimits {
  readonly attemptsPerWebhook: number
  readonly retentionDays: number
}

/**
 * Removes expired rows every 10 minutes, in small batches: old attempts, ended deliveries, expired tokens, old statistics, and
 * open legs that no source continues. Its timer does not keep the process alive.
 *
 * @param limits read at each run
 * @returns a function that stops it and waits for the batch in progress
 */
export function startRetention(
  deps: {
    readonly store: Store
    readonly clock: Pick<NodeClock, 'now' | 'machineNow' | 'sleep' | 'yield'>
    readonly log: Log
    readonly accept: Pick<AcceptDeps, 'storeNow'>
  },
  limits: RetentionLimits,
): () => Promise<void> {
  const { store, clock, log, accept } = deps
  const stopping = new AbortController()

  async function repeatWhileFull(prune: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted && (await prune()) >= BATCH) await clock.yield()
  }

  async function run(): Promise<void> {
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      if (stopping.signal.aborted) return
      // The earliest of all clocks: one that is days fast would otherwise remove recent rows of all nodes.
      const now = Math.min(clock.machineNow(), clock.now(), accept.storeNow())
      const { attemptsPerWebhook, retentionDays } = limits
      const beforeMs = now - retentionDays * DAY_MS
      try {
        await repeatWhileFull(() =>
          store.deliveries.prune({ attemptsPerWebhook, beforeMs, limit: BATCH }, now),
        )
        await repeatWhileFull(() => store.tokens.pruneTokens(now, BATCH))
        await repeatWhileFull(() => store.openLegs.prune(beforeMs, BATCH))
        const kept = { 60: now - KEPT_MS[60], 3600: now - KEPT_MS[3600] }
        await repeatWhileFull(() => store.stats.prune({ beforeMs: kept }, BATCH))
      } catch (thrown) {
        log.warn(
          { reason: thrown instanceof Error ? thrown.message : 'unknown' },
          'removing expired rows failed',
        )
      }
    }
  }

  const running = run()
  return () => {
    stopping.abort()
    return running
  }
}
