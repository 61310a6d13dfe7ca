import type { AcceptDoors } from './delivery/accept.js'
import type { Clock, Log } from './ports.js'
import type { Store } from './store/contract.js'

/** How often old rows are looked for. */
const EVERY_MS = 600_000
/** Rows removed at a time: a large batch would hold up the calls behind it. */
const BATCH = 500
const DAY_MS = 86_400_000

/**
 * Removes what nobody needs any more, in small batches: old attempts, ended deliveries, tokens that are over. One
 * sleeping timer, which holds no process open.
 *
 * @returns the way to stop it, which waits for the batch under way
 */
export function keepPruning(
  doors: {
    readonly store: Store
    readonly clock: Clock
    readonly log: Log
    readonly accept: Pick<AcceptDoors, 'storeNow'>
  },
  limits: { readonly attemptsPerWebhook: number; readonly retentionDays: number },
): () => Promise<void> {
  const { store, clock, log, accept } = doors
  const stopping = new AbortController()

  async function drain(prune: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted && (await prune()) >= BATCH) await clock.yield()
  }

  async function run(): Promise<void> {
    for (;;) {
      await clock.sleep(EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
      // Old by both clocks: a node whose own is days ahead would remove for all nodes what is still young.
      const now = Math.min(clock.now(), accept.storeNow())
      const beforeMs = now - limits.retentionDays * DAY_MS
      const { attemptsPerWebhook } = limits
      try {
        await drain(() => store.deliveries.prune({ attemptsPerWebhook, beforeMs, limit: BATCH }, now))
        await drain(() => store.tokens.pruneTokens(now, BATCH))
      } catch (thrown) {
        log.warn(
          { reason: thrown instanceof Error ? thrown.message : 'unknown' },
          'old rows could not be removed',
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
