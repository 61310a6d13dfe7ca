/**
 * The lease of one node on its shards.
 *
 * Theory of operation
 *
 * - The store divides the webhooks into shards and grants each shard to one node at a time, until
 *   `aliveUntilMs` in store time. Only the owner of a shard claims and settles its deliveries; the store
 *   enforces this with fences.
 * - The node renews after each third of the granted time. In the last third it starts no attempt
 *   (`canStart`), so that an attempt is normally settled while the lease still holds. An attempt that
 *   outlives the lease is fenced: the new owner records it as interrupted, and the receiver may get a
 *   duplicate.
 * - `canStart` uses the monotonic clock, counted from before the store call: a slow answer makes the lease
 *   shorter, never longer, and a wall clock that jumps has no effect. Whether the previous lease had ended is
 *   decided in store time: the monotonic clock stops while a machine is suspended.
 * - A lease that ended is granted again, often with the same shards. Then, and when shards were gained,
 *   `onGain` starts a scan: deliveries in flight under the old lease are orphans, and deliveries that became
 *   due in between caused no wake-up.
 * - A node that crashes leaves its lease behind. Other nodes take its shards when the lease ends in store
 *   time; until then its deliveries wait. `stop` releases the shards at once.
 * - Where the store is not shared, one node owns all shards forever and renews nothing.
 */
import type { Clock, Log } from '../ports.js'
import type { DeliveryStore } from './delivery-store.js'
import { createStoreClock } from './store-clock.js'

/** The lease of one node. */
export interface Lease {
  /** Store time, ms. */
  now(): number
  /** False when the lease may end before an attempt does: start nothing. */
  canStart(): boolean
  /** Takes shards, and renews the lease from then on where the store is shared. */
  start(): Promise<void>
  /** Stops renewing and releases the shards. Does not reject. */
  stop(): Promise<void>
}

/** The requested duration of a lease, ms. */
export const LEASE_MS = 30_000
/** A lease is renewed in thirds of the granted time; in the last third nothing is started. */
const RENEWALS = 3
/** Interval in which a node without a shard requests one, and the shortest interval of renewals, ms. */
const MIN_RENEWAL_MS = 1000

/**
 * @param isShared whether other nodes may use the store: otherwise one node owns all shards and renews
 *   nothing
 * @param onGain called when shards were gained after the start, and when a node that could not renew may
 *   start again
 */
export function createLease(
  deps: { readonly store: DeliveryStore; readonly clock: Clock; readonly log: Log; readonly owner: string },
  isShared: boolean,
  onGain: () => void,
): Lease {
  const { store, clock, log, owner } = deps
  const storeClock = createStoreClock(clock)
  const stopping = new AbortController()
  /** Monotonic, ms. */
  let canStartUntilMs = Number.NEGATIVE_INFINITY
  /** Store time until which other nodes respect the last grant, ms. */
  let aliveUntilMs = Number.POSITIVE_INFINITY
  let shards = new Set<number>()
  /** A scan is needed as soon as attempts may start. */
  let needsScan = false
  let renewEveryMs = LEASE_MS / RENEWALS
  let renewing: Promise<void> | undefined
  const canStart = () => clock.monotonic() < canStartUntilMs
  const warn = (thrown: unknown, message: string) =>
    log.warn({ reason: thrown instanceof Error ? thrown.message : 'unknown' }, message)

  /** Takes or renews shards; returns whether a scan is needed now. */
  async function request(call: typeof store.own): Promise<boolean> {
    const requestedMs = clock.monotonic()
    const ownership = await call(owner, LEASE_MS)
    // Evaluated after the call: the previous lease may have ended while the answer was on its way.
    const wasPaused = !canStart()
    storeClock.sync(ownership.storeMs)
    const grantedMs = ownership.aliveUntilMs - ownership.storeMs
    renewEveryMs = Math.max(MIN_RENEWAL_MS, grantedMs / RENEWALS)
    canStartUntilMs = isShared ? requestedMs + grantedMs - renewEveryMs : Number.POSITIVE_INFINITY
    // The lease ended in between and was granted again, perhaps with the same shards: what was in flight is an
    // orphan.
    const hasLapsed = ownership.storeMs >= aliveUntilMs
    aliveUntilMs = ownership.aliveUntilMs
    needsScan ||= wasPaused || hasLapsed || ownership.shards.some((shard) => !shards.has(shard))
    shards = new Set(ownership.shards)
    if (!needsScan || !canStart()) return false
    needsScan = false
    return true
  }

  async function keepRenewing(): Promise<void> {
    let isLate = false
    for (;;) {
      if (!isLate) await clock.sleep(shards.size > 0 ? renewEveryMs : MIN_RENEWAL_MS, stopping.signal)
      if (stopping.signal.aborted) return
      const requestedMs = clock.monotonic()
      try {
        if (await request(store.renew)) onGain()
        // The answer, or this process, was delayed for longer than the lease lasts: renew again at once.
        isLate = !canStart() && clock.monotonic() - requestedMs >= MIN_RENEWAL_MS
      } catch (thrown) {
        isLate = false
        warn(thrown, 'renewing the shard lease failed')
      }
    }
  }

  return {
    now: storeClock.now,
    canStart,
    async start() {
      await request(store.own)
      if (isShared) renewing = keepRenewing()
    },
    async stop() {
      stopping.abort()
      await renewing
      // A lease that is not released ends by itself: a failure here must not fail the close.
      await store.release(owner).catch((thrown: unknown) => warn(thrown, 'releasing the shards failed'))
    },
  }
}
