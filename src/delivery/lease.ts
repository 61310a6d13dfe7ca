/**
 * The lease of one node on its shards.
 *
 * Theory of operation
 *
 * - The store divides the webhooks into shards and grants each shard to one node at a time, until
 *   `aliveUntilMs` in store time. Only the owner of a shard sends and settles its deliveries; the store
 *   enforces this with the fence of the lease.
 * - The node renews after each third of the granted time. In the last third it starts no attempt
 *   (`canStart`), so that an attempt is normally settled while the lease still holds. An attempt that
 *   outlives the lease is fenced: the new owner records it as interrupted, and the receiver may get a
 *   duplicate.
 * - `canStart` uses the monotonic clock, counted from before the store call: a slow answer makes the lease
 *   shorter, never longer, and a wall clock that jumps has no effect.
 * - Each grant is passed on. A grant with another fence means that the lease had ended: everything that the
 *   node knows about its shards is out of date.
 * - A node that crashes leaves its lease behind. Other nodes take its shards when the lease ends in store
 *   time, or when the store has found that its process is gone; until then its deliveries wait. `stop` releases the
 *   shards at once.
 * - Where the store is not shared, one node owns all shards forever and renews nothing.
 */
import { reasonOf } from '../errors.js'
import type { Log } from '../ports.js'
import type { NodeClock } from './node-clock.js'
import type { NodeLease, QueueStore } from './queue-store.js'
import { createStoreClock } from './store-clock.js'

/** The lease of one node. */
interface LeaseKeeper {
  /** Store time, ms. */
  now(): number
  /** False when the lease may end before an attempt does: start nothing. */
  canStart(): boolean
  /** Takes shards, and renews the lease from then on where the store is shared. */
  start(): Promise<void>
  /** Requests a new grant, at most once a second: a group was refused because the lease has ended. */
  renew(): void
  /** Requests a new grant at once and passes it on. Rejects if the store does not grant it. */
  renewNow(): Promise<void>
  /**
   * Stops renewing and, if `mayRelease`, releases the shards: nothing is in flight. Otherwise the lease ends by itself.
   * Does not reject.
   */
  stop(mayRelease: boolean): Promise<void>
}

/** The requested duration of a lease, ms. @internal */
export const LEASE_MS = 30_000
/** A lease is renewed in thirds of the granted time; in the last third nothing is started. */
const RENEWALS = 3
/** Interval in which a node without a shard requests one, and the shortest interval of renewals, ms. */
const MIN_RENEWAL_MS = 1000

/**
 * @param isShared whether other nodes may use the store: otherwise one node owns all shards and renews
 *   nothing
 * @param onGrant called with every grant
 */
export function createLeaseKeeper(
  deps: {
    readonly store: Pick<QueueStore, 'own' | 'renew' | 'release'>
    /** Gets the time of day that each grant states. */
    readonly clock: NodeClock
    readonly log: Log
    readonly owner: string
  },
  isShared: boolean,
  onGrant: (grant: NodeLease) => void,
): LeaseKeeper {
  const { store, clock, log, owner } = deps
  const storeClock = createStoreClock(clock)
  const stopping = new AbortController()
  /**
   * Aborts the wait for the next renewal. Replaced only after it was aborted, because to create one for each renewal costs more than
   * the renewal. A request for a renewal while one is under way is dropped.
   */
  let waiting = new AbortController()
  /** Monotonic, ms. */
  let canStartUntilMs = Number.NEGATIVE_INFINITY
  let hasShards = false
  /** Monotonic, ms, of the latest request. */
  let lastRequestMs = Number.NEGATIVE_INFINITY
  let renewEveryMs = LEASE_MS / RENEWALS
  let renewing: Promise<void> | undefined
  const canStart = () => clock.monotonic() < canStartUntilMs
  const warn = (thrown: unknown, message: string) => log.warn({ reason: reasonOf(thrown) }, message)

  async function request(call: QueueStore['own']): Promise<void> {
    const requestedMs = clock.monotonic()
    const sync = clock.beginSync()
    lastRequestMs = requestedMs
    const grant = await call(owner, LEASE_MS)
    storeClock.sync(grant.storeMs, requestedMs)
    if (grant.clockMs !== undefined) sync(grant.clockMs)
    const grantedMs = grant.aliveUntilMs - grant.storeMs
    renewEveryMs = Math.max(MIN_RENEWAL_MS, grantedMs / RENEWALS)
    canStartUntilMs = isShared ? requestedMs + grantedMs - renewEveryMs : Number.POSITIVE_INFINITY
    hasShards = grant.shards.length > 0
    onGrant(grant)
  }

  async function keepRenewing(): Promise<void> {
    let isLate = false
    while (!stopping.signal.aborted) {
      if (!isLate) {
        if (waiting.signal.aborted) waiting = new AbortController()
        await clock.sleep(hasShards ? renewEveryMs : MIN_RENEWAL_MS, waiting.signal)
        // A store that refuses groups under a lease that it grants again must not be asked in a loop.
        const pauseMs = lastRequestMs + MIN_RENEWAL_MS - clock.monotonic()
        if (pauseMs > 0) await clock.sleep(pauseMs, stopping.signal)
      }
      if (stopping.signal.aborted) return
      const requestedMs = clock.monotonic()
      try {
        await request(store.renew)
        // The answer, or this process, was delayed for longer than the lease lasts: renew again at once.
        isLate = !canStart() && clock.monotonic() - requestedMs >= MIN_RENEWAL_MS
      } catch (thrown) {
        isLate = false
        hasShards = false
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
    renew: () => waiting.abort(),
    renewNow: () => request(store.renew),
    async stop(mayRelease) {
      stopping.abort()
      waiting.abort()
      await renewing
      if (!mayRelease) return
      // A lease that is not released ends by itself: a failure here must not fail the close.
      await store.release(owner).catch((thrown: unknown) => warn(thrown, 'releasing the shards failed'))
    },
  }
}
