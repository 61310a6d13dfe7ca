// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
/**
 * The delivery loop of one node: due → claim → attempt → outcome → settle.
 *
 * Theory of operation
 *
 * - The store is the queue and the only source of truth; the dispatcher holds only hints in memory. The
 *   scheduler selects the endpoints that may send, the store decides which deliveries are claimed, and the
 *   worker takes each claim from its attempt to its settlement.
 * - One `claim` call is in progress at a time, so that results reach the scheduler in order. Claiming never
 *   waits for an attempt; attempts and settlements run concurrently, limited by the caps.
 * - Nothing polls. Claiming runs when something may be due: an accepted event or a changed webhook
 *   (`subscribe`), an ended claim, the timer for the next due time, a renewed lease, or `wake`.
 * - Recovery scans the store for work that caused no wake-up: at the start, after shards were gained, on
 *   `wake`, and whenever the state of a claim is unknown because a store call failed or was fenced.
 * - A node starts attempts only while its lease allows it (`canStart`). Every claim has a fence, so a node
 *   that lost a shard cannot settle its deliveries any more.
 * - `close` claims nothing more, waits for the active claims up to its limit, then closes the sender:
 *   requests that are still open are recorded as interrupted and are due at once. At the end it releases the
 *   lease.
 * - After a crash, deliveries stay `in_flight` in the store. The next owner of the shard finds them as
 *   orphans, records an interrupted attempt and makes them due again: at most one duplicate per delivery in
 *   flight.
 */
import type { Log } from '../ports.js'
import type { ClaimResult } from './delivery-store.js'
import { createLease } from './lease.js'
import { startRecovery } from './recovery.js'
import { createScheduler, type Scheduler } from './scheduler/scheduler.js'
import type { Caps } from './scheduler/fair-queue.js'
import type { SchedulerStats } from './scheduler/endpoint-registry.js'
import { createTimer } from './timer.js'
import { createCoalescingTask } from './coalescing-task.js'
import { type WorkerDeps, type WorkerOptions, createWorker } from './worker/worker.js'
import { waitAtMost } from './worker/wait-group.js'

/** The dispatcher of one node. */
export interface Dispatcher {
  /** The name of this node in the store. */
  readonly owner: string
  /** Takes shards, recovers what former owners left, and starts sending. */
  start(): Promise<void>
  /** Scans the store for work now: for hosts that wrote to it in their own transaction. */
  wake(): void
  /** Cancels the requests of a disabled or deleted webhook of which no byte has been sent yet. */
  cancelUnsent(webhookId: string): void
  /** Store time as this node knows it, ms. */
  now(): number
  /** Requests of this node in flight to a webhook. */
  inFlight(webhookId: string): number
  /** The limit that holds an endpoint back; `undefined`: none. */
  limitReached(webhookId: string): ReturnType<Scheduler['limitReached']> | 'total'
  /** Counters for metrics. */
  stats(): SchedulerStats & { readonly inFlight: number }
  /** Stops claiming, waits up to `drainMs` milliseconds for what is in flight, then aborts the rest. */
  close(drainMs: number): Promise<void>
}

export interface DispatcherDeps extends WorkerDeps {
  readonly log: Log
}

export interface DispatcherOptions
  extends Pick<WorkerOptions, 'attemptDeadlineMs' | 'healthRules' | 'recordSuccesses'> {
  readonly caps: Caps
  /** Whether other nodes may use the store at the same time. */
  readonly isShared: boolean
}

/** Consecutive empty claims (nothing was due in the store) after which claiming pauses for `PAUSE_MS`. */
const MAX_EMPTY_CLAIMS = 3
const PAUSE_MS = 250

export function createDispatcher(deps: DispatcherDeps, options: DispatcherOptions): Dispatcher {
  const { store, clock, log, sender } = deps
  const { caps } = options
  const owner = deps.newId()
  const scheduler = createScheduler(caps)
  const lease = createLease({ store, clock, log, owner }, options.isShared, () => scan())
  const timer = createTimer(clock, lease.now, () => wake())
  /** Aborts when `close` begins: nothing new is started. */
  const stopping = new AbortController()
  /** Aborts when `drainMs` of `close` have passed. */
  const drainDeadline = new AbortController()
  const worker = createWorker(
    deps,
    { ...options, owner, now: lease.now, drainDeadline: drainDeadline.signal },
    scheduler,
    (isUnknown) => (isUnknown ? scan() : wake()),
  )
  let unsubscribe = () => {}
  let started: Promise<void> | undefined

  const freeSlots = () => caps.total - worker.activeCount

  /**
   * Claims due deliveries of these endpoints and starts them; returns their number. Errors of the store
   * propagate.
   */
  async function claim(
    endpoints: ReturnType<Scheduler['next']>,
    limit: number,
    now: number,
  ): Promise<number> {
    const since = scheduler.version()
    worker.beginClaim()
    let result: ClaimResult | undefined
    try {
      result = await store.claim({ owner, endpoints, limit, now })
      worker.startClaims(result)
      return result.claims.length
    } finally {
      scheduler.completeClaim(endpoints, result?.endpoints, since)
    }
  }

  /** Claims until nothing is due or no slot is free. */
  async function claimAll(): Promise<void> {
    let emptyClaims = 0
    while (!stopping.signal.aborted && lease.canStart()) {
      const now = lease.now()
      const free = freeSlots()
      const endpoints = free > 0 ? scheduler.next(now, free) : []
      if (endpoints.length === 0) break
      try {
        emptyClaims = (await claim(endpoints, free, now)) > 0 ? 0 : emptyClaims + 1
      } catch (thrown) {
        log.warn(
          { reason: thrown instanceof Error ? thrown.message : 'unknown' },
          'claiming failed, retrying',
        )
        emptyClaims = MAX_EMPTY_CLAIMS
        // The claim may have committed: then its deliveries are orphans.
        scan()
      }
      if (emptyClaims >= MAX_EMPTY_CLAIMS) await clock.sleep(PAUSE_MS, stopping.signal)
    }
    setTimer()
  }

  // Once per turn of the event loop: one claim for all ready endpoints costs less than one claim for each.
  const claiming = createCoalescingTask(claimAll, (begin) => void clock.yield().then(begin))

  function wake(): void {
    if (!stopping.signal.aborted) claiming.trigger()
  }

  /**
   * Sets the timer to the next due time. Without a free slot or a lease it stops the timer: an ended claim or a
   * renewed lease then calls `wake`.
   */
  function setTimer(): void {
    const canStart = !stopping.signal.aborted && lease.canStart() && freeSlots() > 0
    timer.set(canStart ? scheduler.nextDueMs() : undefined)
  }

  const recovery = startRecovery(
    {
      store,
      owner,
      settleContext: worker.settleContext,
      writeSettlements: worker.writeSettlements,
      cancelUnsent: worker.cancelUnsent,
      clock,
      log,
      stopping: stopping.signal,
    },
    (endpoints) => {
      for (const endpoint of endpoints) scheduler.update(endpoint)
      wake()
    },
  )
  const scan = () => void recovery.scan()

  async function begin(): Promise<void> {
    await lease.start()
    unsubscribe = store.subscribe((ready) => {
      if (ready === undefined) return scan()
      for (const endpoint of ready) scheduler.update(endpoint)
      wake()
    })
    await recovery.scan()
  }

  return {
    owner,
    start() {
      started = begin()
      return started
    },
    wake: scan,
    cancelUnsent: worker.cancelUnsent,
    now: lease.now,
    inFlight: scheduler.inFlight,
    limitReached: (webhookId) => scheduler.limitReached(webhookId) ?? (freeSlots() > 0 ? undefined : 'total'),
    stats: () => ({ inFlight: worker.activeCount, ...scheduler.stats(lease.now()) }),
    async close(drainMs) {
      stopping.abort()
      // Wait for a `start` in progress to end.
      await started?.catch(() => {})
      unsubscribe()
      timer.set(undefined)
      // A store that does not answer a claim must not delay the close beyond `drainMs`.
      await waitAtMost(drainMs, clock, claiming.idle().then(worker.idle))
      drainDeadline.abort()
      if (worker.activeCount > 0) {
        log.info(
          { requests: worker.activeCount },
          'closing interrupts requests in flight: they are sent again',
        )
      }
      try {
        await sender.close()
      } catch (thrown) {
        // The lease must be released, and the store closed, anyway.
        log.warn({ reason: String(thrown) }, 'closing the sender failed')
      }
      await worker.idle()
      await recovery.idle()
      await lease.stop()
    },
  }
}
