import type { Clock, Log } from '../ports.js'
import type { DeliveryStore } from './delivery-store.js'
import { storeTime } from './store-time.js'

/** This node's hold on its shards. */
export interface Lease {
  /** Store time, ms. */
  now(): number
  /** False when the lease may be over before an attempt is: nothing new is started then. */
  mayStart(): boolean
  /** Takes shards, and keeps them where the store is shared. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** How long a lease shall last. */
export const LEASE_MS = 30_000
/** A lease is renewed in thirds of what the store granted; in its last third nothing is started. */
const RENEWALS = 3
/** How often a node without a shard asks for one: a former owner's lease may end at any moment. */
const ASK_EVERY_MS = 1000

/**
 * @param shared whether other nodes may work on the store: else one node owns all and nothing is renewed
 * @param onGain called when shards were gained after the start (their orphans are ours now), and when a node that
 *   could not renew for a while may start again: what became due meanwhile woke nobody
 */
export function nodeLease(
  doors: { readonly store: DeliveryStore; readonly clock: Clock; readonly log: Log; readonly owner: string },
  shared: boolean,
  onGain: () => void,
): Lease {
  const { store, clock, log, owner } = doors
  const time = storeTime(clock)
  const stopping = new AbortController()
  /** Monotonic: counted from before the store was asked, so that a slow answer makes a lease shorter, not longer. */
  let startUntilMs = Number.NEGATIVE_INFINITY
  /** Store time: until when the last grant holds for others. */
  let aliveUntilMs = Number.POSITIVE_INFINITY
  let shards = new Set<number>()
  /** Something is to be looked for, as soon as anything may be started. */
  let hasNews = false
  let renewEveryMs = LEASE_MS / RENEWALS
  let renewing: Promise<void> | undefined
  const mayStart = () => clock.monotonic() < startUntilMs
  const warn = (thrown: unknown, message: string) =>
    log.warn({ reason: thrown instanceof Error ? thrown.message : 'unknown' }, message)

  /** Whether to look now: for what is of shards that were gained, or became due while nothing was started. */
  async function refresh(take: typeof store.own): Promise<boolean> {
    const askedMs = clock.monotonic()
    const owned = await take(owner, LEASE_MS)
    // Of now, not of when it was asked: the lease before may have come to its end while the answer was on its way.
    const wasPaused = !mayStart()
    time.seen(owned.storeMs)
    const grantedMs = owned.aliveUntilMs - owned.storeMs
    renewEveryMs = Math.max(ASK_EVERY_MS, grantedMs / RENEWALS)
    startUntilMs = shared ? askedMs + grantedMs - renewEveryMs : Number.POSITIVE_INFINITY
    // One that ended in between was taken anew: the same shards, yet what was in flight is an orphan. A suspended machine
    // notices it by the store's time alone, since its own stood still.
    const hasLapsed = owned.storeMs >= aliveUntilMs
    aliveUntilMs = owned.aliveUntilMs
    hasNews ||= wasPaused || hasLapsed || owned.shards.some((shard) => !shards.has(shard))
    shards = new Set(owned.shards)
    if (!hasNews || !mayStart()) return false
    hasNews = false
    return true
  }

  async function keepRenewing(): Promise<void> {
    let isLate = false
    for (;;) {
      if (!isLate) await clock.sleep(shards.size > 0 ? renewEveryMs : ASK_EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
      const askedMs = clock.monotonic()
      try {
        if (await refresh(store.renew)) onGain()
        // The answer, or this process, was stopped for longer than the lease lasts: asked again, at once.
        isLate = !mayStart() && clock.monotonic() - askedMs >= ASK_EVERY_MS
      } catch (thrown) {
        isLate = false
        warn(thrown, 'the shard lease could not be renewed')
      }
    }
  }

  return {
    now: time.now,
    mayStart,
    async start() {
      await refresh(store.own)
      if (shared) renewing = keepRenewing()
    },
    async stop() {
      stopping.abort()
      await renewing
      // A lease that is not given back ends by itself: closing must not fail for it.
      await store
        .release(owner)
        .catch((thrown: unknown) => warn(thrown, 'the shards could not be given back'))
    },
  }
}
