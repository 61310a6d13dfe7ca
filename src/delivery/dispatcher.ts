// biome-ignore-all assist/source/organizeImports: dependencies, then the steps in the order in which they happen
/**
 * The delivery loop of one node: accept → queue → commit → send → outcome.
 *
 * Theory of operation
 *
 * - The memory of the node that owns a shard is the queue of its deliveries; the store is the log of that queue
 *   (`queue-store`). The node alone decides what is sent next, and the store knows of it before it is sent.
 * - `accept` commits events with their deliveries; then the deliveries enter the queue. The scheduler selects the
 *   endpoints that may send, the queue gives their due deliveries, the commit loop stores that they start, and the
 *   worker sends them. When an attempt has ended, its outcome is decided, the queue is changed, and the next group
 *   stores both the settlement and what it made due.
 * - A group is formed when something was accepted, ended or became due: a timer for the next due time, a slot, a
 *   change of the store (`subscribe`), a renewed lease, or `wake`. Each renewal of the lease polls the store, so that
 *   a lost notification delays a delivery by a third of the lease at most; an idle node without renewals does nothing.
 * - A node starts attempts only while its lease allows it (`canStart`).
 * - `close` starts nothing more, waits for the requests in flight up to its limit, then closes the sender:
 *   requests that are still open are recorded as interrupted and are due at once. At the end it releases the
 *   lease.
 * - After a crash, the next owner of a shard loads its waiting deliveries. Those whose start is stored were in
 *   flight: they get an interrupted attempt and are sent again, at most one duplicate each.
 */
import { HookswitchError, reasonOf } from '../errors.js'
import type { Log } from '../ports.js'
import { createFifoQueue } from '../values/fifo-queue.js'
import { isPaused, isProbed, isProbedRarely } from '../webhooks/health.js'
import type { Acceptance, AcceptedEvent } from './delivery-store.js'
import { createDisplacementPace } from './displacement-pace.js'
import { eventIndexOf } from './event-index.js'
import type { StoredDelivery } from './delivery-queries.js'
import type { AcceptanceResult, QueueStore } from './queue-store.js'
import type { NodeState } from './node-state.js'
import { createPositions, MAX_NODES } from './positions.js'
import { createLeaseKeeper } from './lease.js'
import type { NodeClock } from './node-clock.js'
import { createQueueSync, toQueued } from './queue-sync.js'
import { fillIn } from './body-variants.js'
import { type AcceptingEvents, createUncommittedStarts, NO_DELIVERIES } from './uncommitted-starts.js'
import { createPendingQueue, type QueueRoom, type QueueSummary } from './queue/pending-queue.js'
import type { QueueEndpoint } from './queue/queue-endpoint.js'
import { QueuedDelivery } from './queue/queued-delivery.js'
import type { QueueLimits } from './queue/shares.js'
import { createBacklogPace } from './backlog-pace.js'
import { Pace } from './pace.js'
import type { PauseChange } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import { createScheduler, type Scheduler, type Selection } from './scheduler/scheduler.js'
import type { Caps } from './scheduler/fair-queue.js'
import type { SchedulerStats } from './scheduler/endpoint-registry.js'
import { createTimer } from './timer.js'
import { createCommitLoop, type FinishedAttempt, lineOf, type Picked } from './commit-loop.js'
import { createStartKeys } from './start-keys.js'
import { createWorker, type WorkerDeps } from './worker/worker.js'
import {
  createSettlementDecider,
  type DecidedSettlement,
  type SettlementDeciderDeps,
  type SettlementDeciderOptions,
} from './worker/settlement-decider.js'
import type { Outage } from './worker/outage-detector.js'
import { isExpired, OWN_FAULT_PAUSE_MS, type SkipReason } from './retry.js'
import { type Delivery, isTerminal } from './lifecycle.js'
import { type NotificationDeps, notifySettlement } from './worker/delivery-notifications.js'
import { createBacklogNotices } from './worker/backlog-notices.js'
import { createWaitGroup, waitAtMost } from './worker/wait-group.js'

/** The dispatcher of one node. */
export interface Dispatcher {
  /** The name of this node in the store. */
  readonly owner: string
  /** Takes shards, recovers what former owners left, and starts sending. */
  start(): Promise<void>
  /**
   * Commits events with their deliveries. Rejects with `QueueFull` while the store, or the queues of the account, cannot take
   * more, with what the store refuses them with, with `StoreUnavailable`, and with `Closing`.
   *
   * @param isContinued whether the beginning of their list is accepted: then `QueueFull`, which says that nothing is, would be wrong
   */
  accept(acceptance: Acceptance, isContinued?: boolean): Promise<readonly AcceptedEvent[]>
  /** Events and deliveries of a long list that are to be accepted at once. `sinceMs`: when its first part was, monotonic. */
  partSize(sinceMs: number): number
  /** Looks for work in the store now: for hosts that wrote to it in their own transaction. */
  wake(): void
  /** Cancels the unsent requests of a disabled or deleted webhook. */
  cancelUnsent(webhookId: string): void
  /** Store time as this node knows it, ms. */
  now(): number
  /** Whether `close` was called. */
  isClosing(): boolean
  /** Deliveries that wait or are in flight, on all nodes. */
  pending(): number
  /** A delivery of the store with what this node knows of it: in flight, due time, earlier deliveries of its lane. */
  withQueueState(delivery: StoredDelivery): StoredDelivery
  /** Whether this node owns the shard of a webhook, or of another id, and has loaded it. */
  ownsShardOf(id: string): boolean
  /** How many replays a webhook of this node may get. */
  roomFor(webhookId: string, accountId: string): QueueRoom
  /** Requests of this node to a webhook that are in flight, or start as soon as there is a slot. */
  inFlight(webhookId: string): number
  /** What this node is sending. */
  inFlightDeliveries(): Iterable<Delivery>
  /** Accounts are held or released. What is in flight ends. */
  holdsChanged(): void
  /** The caps or limits have changed: endpoints that were full may have free slots now, others have too many deliveries. */
  limitsChanged(): void
  /** The limit that holds an endpoint back; `undefined`: none. */
  limitReached(webhookId: string): ReturnType<Scheduler['limitReached']> | 'hold' | 'rate' | 'total'
  /** The networks from which nothing answers this node. */
  outages(): readonly Outage[]
  /** Whether this node may send: its lease on its shards holds. */
  hasLease(): boolean
  /** When this node read last what others have changed, monotonic, ms; now, where it shares the store with nobody. */
  readMs(): number
  /** Counters for metrics. */
  stats(): SchedulerStats & { readonly inFlight: number; readonly queue: QueueSummary }
  /** Starts nothing more, waits up to `drainMs` milliseconds for what is in flight, then aborts the rest. */
  close(drainMs: number): Promise<void>
}

/** @internal */
export interface DispatcherDeps extends WorkerDeps, SettlementDeciderDeps, NotificationDeps {
  readonly store: QueueStore
  readonly clock: NodeClock
  readonly log: Log
  /** The shard of a webhook, 0–63. */
  shardOf(webhookId: string): number
}

interface DispatcherOptions
  extends Pick<SettlementDeciderOptions, 'healthRules' | 'recordSuccesses' | 'rateLimitOf'> {
  readonly caps: Caps
  /** How many deliveries may wait; read at each use. `limitsChanged` follows a change. */
  readonly limits: QueueLimits
  /** Limit for one attempt, in milliseconds. */
  readonly attemptDeadlineMs: number
  /** How old deliveries of a webhook may become, ms. */
  maxAgeMsOf(webhook: Webhook): number
  /** How long a call waits for an event that fails while others are taken, from its first failure, ms. */
  readonly patienceMs: number
  /** Whether other nodes may use the store at the same time. */
  readonly isShared: boolean
  /** Whether nothing may be sent for the webhooks of an account; `holdsChanged` follows a change. Default: none is held. */
  readonly isAccountHeld?: (accountId: string) => boolean
  /** Called with every renewal of the lease, from time to time: other nodes may have changed what this one has read. */
  readonly onRenewed?: () => void
  /** Begins the name of this node in the store, which is another one in each run. Default: none. */
  readonly nodeName?: string | undefined
}

/** How long `close` waits for the store after `drainMs`, once for the last groups and once for the release, ms. */
const LAST_WRITES_MS = 2_000
/** Number of shards (`DispatcherDeps.shardOf`). */
const SHARDS = 64
/** Deliveries of each kind, cancelled or displaced, and expired, that one group ends without sending them. */
const MAX_SKIPPED = 100
/** Displaced deliveries above which accounts with displaced ones wait until their publishes are accepted. */
const MAX_DISPLACED = 2_000
/** The same for all publishes. */
const MAX_DISPLACED_IN_ALL = 20_000
/** Events and deliveries of one account that may wait while `DisplacementPace` holds them. */
const MAX_PACED = 5_000
/** Events and deliveries of one account that may wait for the store. */
const MAX_ACCEPTING = 100_000
/** Deliveries of one acceptance that enter the queue between two turns of the event loop. */
const MAX_ENTERED_AT_ONCE = 2_000
/** How long probes, and endpoints that have answered late, are waited for, ms. */
const LATE_WAIT_MS = 30_000
/** Time within which the paused webhooks of an origin are probed once it has answered another one, ms. */
const ORIGIN_NEWS_MS = 5_000
/** The same for all paused webhooks once this node reaches its networks again, ms. */
const OUTAGE_NEWS_MS = 15_000
/** Contents of waiting deliveries in memory, per slot. */
const CONTENTS_PER_SLOT = 4

const queueFull = (reason: string) => new HookswitchError('QueueFull', reason, { retryAfterSeconds: 1 })
const STORE_IS_LATE = `the store cannot take more now: more than ${MAX_ACCEPTING} events and deliveries of this account wait for it`
const QUEUE_IS_FULL = `the queues of this account's webhooks are full: more than ${MAX_PACED} of its events and deliveries wait until older ones have made room`
const changesHealth = ({ settlement }: DecidedSettlement) => settlement.endpoint?.health !== undefined

export function createDispatcher(deps: DispatcherDeps, options: DispatcherOptions): Dispatcher {
  const { store, clock, log, sender, shardOf } = deps
  const { caps, limits, isShared } = options
  const run = deps.newId()
  const owner = options.nodeName === undefined ? run : `${options.nodeName}.${run}`
  const maxContents = CONTENTS_PER_SLOT * caps.total
  const queue = createPendingQueue({
    maxContents,
    shardOf,
    hashSeed: Math.floor(randomFraction() * 0x1_0000_0000),
    limits,
    patienceMs: options.patienceMs,
    rateLimitOf: options.rateLimitOf,
    isHeld: options.isAccountHeld,
  })
  const backlog = createBacklogPace()
  const displacement = createDisplacementPace()
  const scheduler = createScheduler(caps)
  const startKeys = createStartKeys()
  const state: NodeState = {
    lease: undefined,
    version: 0,
    // Without a lease the node has no number that is its own.
    positions: createPositions(Math.floor(randomFraction() * MAX_NODES)),
    loaded: new Set(),
    pendingElsewhere: 0,
    readMs: clock.monotonic(),
  }
  /** Aborts when `close` begins: nothing new is started. */
  const stopping = new AbortController()
  /** Aborts when `drainMs` of `close` have passed. */
  const drainDeadline = new AbortController()
  /** The deliveries that are started: in flight, or in `prefetched`. No set, see `unanswered` in `commit-loop`. */
  const active: QueuedDelivery[] = []
  /** Started deliveries that wait for a slot. Those that are no longer `isPrefetched` were put back. */
  const prefetched = createFifoQueue<QueuedDelivery>()
  /** Requests in flight. */
  let inFlight = 0
  /** Whether the next delivery may not be prefetched. */
  let isPrefetchBlocked = false
  let isSendingPrefetched = false
  const activeCount = createWaitGroup()
  const notices = createBacklogNotices(deps, limits, stopping.signal)
  const lease = createLeaseKeeper({ store, clock, log, owner }, isShared, (grant) => {
    sync.granted(grant)
    options.onRenewed?.()
  })
  const decider = createSettlementDecider(
    deps,
    {
      ...options,
      now: lease.now,
      drainDeadline: drainDeadline.signal,
      onPauseChange,
      onOutageEnded: () => advanceProbes(OUTAGE_NEWS_MS, queue.endpoints()),
    },
    scheduler,
  )
  const worker = createWorker(deps, options.attemptDeadlineMs, (finished) => {
    if (!isProbe(finished.delivery)) inFlight--
    loop.finish(finished)
    sendPrefetched()
  })
  const timer = createTimer(clock, lease.now, () => loop.trigger())
  const loop = createCommitLoop(
    {
      store,
      clock,
      log,
      now: lease.now,
      canStart,
      pending: () => queue.size,
      drainDeadline: drainDeadline.signal,
    },
    state,
    startKeys,
    {
      settle,
      readAhead,
      pick,
      isHeld,
      accepted,
      withdraw: (deliveries) => uncommitted.withdraw(deliveries, lease.now()),
      ended,
      report,
      start(delivery) {
        if (inFlight < caps.total || isProbe(delivery)) return send(delivery)
        delivery.isPrefetched = true
        prefetched.push(delivery)
      },
      notStarted,
      abandon: release,
      mayStart: (delivery) => isOfCurrentEpoch(delivery) && !isAccountHeld(delivery),
      putBack(delivery) {
        if (!delivery.isUncommitted) return putBack(delivery, lease.now() + OWN_FAULT_PAUSE_MS)
        uncommitted.withdraw([delivery], lease.now())
        release(delivery)
      },
      onFenced: () => sync.onFenced(),
      applyChanges: () => sync.applyChanges(),
      onRecovered: () => {
        if (isShared) sync.reload()
      },
      onIdle: setTimer,
    },
  )
  const sync = createQueueSync(
    {
      store,
      clock,
      log,
      queue,
      scheduler,
      loop,
      now: lease.now,
      inFlight: () => active,
      forgetStarts: startKeys.clear,
      interrupt: decider.interrupt,
      cancelUnsent,
      resume(endpoint, wasPaused) {
        resume(endpoint, lease.now()).endWait(lease.now())
        const { id: webhookId, accountId } = endpoint.webhook
        if (wasPaused) deps.emit('webhook_resumed', { webhookId, accountId })
      },
      putBackPrefetched: () => putBackPrefetched(() => true),
      renew: lease.renew,
      renewNow: lease.renewNow,
      onLost: (deliveries) => deps.metrics?.count('hookswitch_deliveries_lost_total', deliveries, undefined),
      shardOf,
      stopping: drainDeadline.signal,
    },
    state,
    maxContents,
  )
  const uncommitted = createUncommittedStarts({
    queue,
    isLoaded: (shard) => state.loaded.has(shard),
    update,
  })
  let unsubscribe = () => {}
  let started: Promise<void> | undefined

  function randomFraction(): number {
    try {
      return deps.random.fraction()
    } catch {
      return 0.5
    }
  }

  const isProbe = ({ slot }: QueuedDelivery) => slot?.isProbe === true

  function send(delivery: QueuedDelivery): void {
    if (!isProbe(delivery)) inFlight++
    delivery.isSent = true
    scheduler.sent(delivery.slot!, lease.now())
    worker.start(delivery, waitMsOf(delivery), queue.isOutOfOrder(delivery))
  }

  /**
   * How long an answer is waited for. A probe that waits long delays the next one, so the first minutes have none; and while
   * many endpoints are probed, their sockets must become free soon.
   */
  function waitMsOf(delivery: QueuedDelivery): number {
    const { health } = delivery.endpoint.webhook
    const isPatient = isProbe(delivery)
      ? isProbedRarely(health, lease.now()) && scheduler.probes <= caps.probes / 2
      : health?.lateMs !== undefined
    return isPatient ? Math.max(LATE_WAIT_MS, options.attemptDeadlineMs) : options.attemptDeadlineMs
  }

  /** Begins a pause: its retries become due at the probes. Ends a pause: heads are due in order of acceptance, one request first. */
  function onPauseChange(endpoint: QueueEndpoint, { kind }: PauseChange, hasSucceeded: boolean): void {
    const now = lease.now()
    if (kind === 'opened') {
      if (endpoint.webhook.health?.pause?.kind === 'rejected') endpoint.forgetAccepted()
      queue.makeRetriesDue(endpoint, now)
      return
    }
    resume(endpoint, now)
    backlog.pauseEnded(now)
    if (hasSucceeded && backlog.isNews(endpoint.origin, now))
      advanceProbes(
        ORIGIN_NEWS_MS,
        scheduler.probedOf(endpoint.origin).map((id) => queue.endpoint(id)),
      )
  }

  function resume(endpoint: QueueEndpoint, now: number): Pace {
    endpoint.pace ??= new Pace(options.rateLimitOf(endpoint.webhook))
    endpoint.pace.restart()
    queue.resume(endpoint, now)
    return endpoint.pace
  }

  /** Spreads the next probes of paused endpoints over a time from now. */
  function advanceProbes(withinMs: number, endpoints: Iterable<QueueEndpoint | undefined>): void {
    const now = lease.now()
    for (const endpoint of endpoints) {
      const health = endpoint?.webhook.health
      if (!endpoint || !health?.pause) continue
      const dueMs = now + Math.round(withinMs * randomFraction())
      if ((health.pausedUntilMs ?? 0) <= dueMs) continue
      endpoint.webhook = { ...endpoint.webhook, health: { ...health, pausedUntilMs: dueMs } }
      update(endpoint)
    }
    loop.trigger()
  }

  function canStart(): boolean {
    return !stopping.signal.aborted && lease.canStart() && !sync.hasNewLease
  }

  /** Sends prefetched deliveries while slots are free. */
  function sendPrefetched(): void {
    // A request that ends at once calls this again: the loop goes on.
    if (isSendingPrefetched) return
    isSendingPrefetched = true
    while (inFlight < caps.total) {
      const delivery = prefetched.shift()
      if (!delivery) break
      if (!delivery.isPrefetched) continue
      delivery.isPrefetched = false
      if (delivery.isAbandoned) release(delivery)
      else if (mayBeSent(delivery)) send(delivery)
      else putBack(delivery)
    }
    isSendingPrefetched = false
  }

  /** Whether a prefetched delivery may still be sent: its lease, epoch, health or speed may have changed while it waited for a slot. */
  function mayBeSent(delivery: QueuedDelivery): boolean {
    const { health } = delivery.endpoint.webhook
    const now = lease.now()
    return (
      canStart() &&
      isOfCurrentEpoch(delivery) &&
      !isAccountHeld(delivery) &&
      !isLeaving(delivery) &&
      !isProbed(health) &&
      !isPaused(health, now) &&
      scheduler.isFast(delivery.slot!, now)
    )
  }

  /** Puts prefetched deliveries back into the queue. */
  function putBackPrefetched(isConcerned: (delivery: QueuedDelivery) => boolean): void {
    for (const delivery of active.filter((started) => started.isPrefetched && isConcerned(started)))
      putBack(delivery)
  }

  function isAccountHeld({ endpoint }: QueuedDelivery): boolean {
    return options.isAccountHeld?.(endpoint.webhook.accountId) ?? false
  }

  function isOfCurrentEpoch({ epoch, endpoint }: QueuedDelivery): boolean {
    return epoch >= endpoint.webhook.epoch
  }

  /** Sends committed deliveries first: otherwise they would be sent after the cancellation. */
  function cancelUnsent(webhookId: string): void {
    loop.flush()
    putBackPrefetched((delivery) => delivery.webhookId === webhookId)
    worker.cancelUnsent(webhookId)
  }

  function update(endpoint: QueueEndpoint): void {
    scheduler.update(queue.ready(endpoint))
  }

  /** The delivery is gone from the store. Its endpoint may be another object since its shard was loaded again. */
  function remove(delivery: QueuedDelivery, now: number): void {
    queue.remove(delivery, now)
    const endpoint = queue.endpoint(delivery.webhookId)
    if (endpoint) update(endpoint)
  }

  /** Frees the slot of a delivery that is no longer in flight. */
  function release(delivery: QueuedDelivery): void {
    startKeys.end(delivery)
    delivery.isPrefetched = delivery.isSent = false
    if (delivery.activeIndex < 0) return
    const last = active.pop()!
    if (last !== delivery) {
      active[delivery.activeIndex] = last
      last.activeIndex = delivery.activeIndex
    }
    delivery.activeIndex = -1
    activeCount.add(-1)
    if (delivery.slot) scheduler.end(delivery.slot, lease.now())
    delivery.slot = undefined
    sync.handOverIdle()
  }

  /** Its shard is to be given up: the delivery waits for the next owner. */
  const isLeaving = ({ endpoint }: QueuedDelivery) => !state.loaded.has(endpoint.shard)

  /** A delivery that was taken and is not sent waits again. @param dueMs store time, ms; absent: as before */
  function putBack(delivery: QueuedDelivery, dueMs?: number): void {
    release(delivery)
    if (delivery.isAbandoned) return
    if (isLeaving(delivery)) queue.end(delivery, lease.now())
    else queue.putBack(delivery, dueMs)
    update(delivery.endpoint)
  }

  /** Changes the queue as a settlement says. */
  function applyNext({ delivery, settlement: { next } }: DecidedSettlement, now: number): void {
    if (isTerminal(next.state) || isLeaving(delivery)) queue.end(delivery, now)
    else queue.retry(delivery, next)
    update(delivery.endpoint)
  }

  /** Decides without throwing. `undefined`: nothing can be decided. */
  function decide({ delivery, webhook, result }: FinishedAttempt): DecidedSettlement | undefined {
    try {
      return decider.decide(delivery, webhook, result)
    } catch (thrown) {
      log.error(
        { reason: reasonOf(thrown), deliveryId: delivery.id },
        'deciding the outcome of an attempt failed',
      )
    }
    try {
      return decider.decide(delivery, webhook, undefined)
    } catch {
      return undefined
    }
  }

  function settle(finished: FinishedAttempt, now: number): DecidedSettlement | undefined {
    const { delivery, result } = finished
    if (delivery.isAbandoned) {
      release(delivery)
      return undefined
    }
    // Nothing was sent: the delivery waits again, or is cancelled if its webhook is disabled or deleted.
    const isCancelled = result?.observation.kind === 'cancelled'
    const decided = isCancelled ? undefined : decide(finished)
    if (!decided) {
      putBack(delivery, now + OWN_FAULT_PAUSE_MS)
      return undefined
    }
    if (changesHealth(decided)) delivery.endpoint.unstoredHealth++
    applyNext(decided, now)
    release(delivery)
    return decided
  }

  function isTooOld({ endpoint, acceptedMs }: QueuedDelivery): boolean {
    return isExpired(acceptedMs, options.maxAgeMsOf(endpoint.webhook), lease.now())
  }

  /** Ends a delivery that was taken, without sending it. False: this cannot be decided now, and it waits again. */
  function skip(
    delivery: QueuedDelivery,
    why: SkipReason,
    now: number,
    skipped: DecidedSettlement[],
  ): boolean {
    try {
      const decided = decider.skip(delivery, why)
      applyNext(decided, now)
      skipped.push(decided)
      return true
    } catch (thrown) {
      log.error({ reason: reasonOf(thrown), deliveryId: delivery.id }, 'ending a delivery failed')
      putBack(delivery, now + OWN_FAULT_PAUSE_MS)
      return false
    }
  }

  /** The deliveries that may wait on this node: its part of `maxPending`, or more if the other nodes leave more. */
  function maxWaiting(): number {
    if (!isShared) return limits.maxPending
    const part = Math.ceil((limits.maxPending * state.loaded.size) / SHARDS)
    return Math.max(part, limits.maxPending - state.pendingElsewhere)
  }

  /** Those who displace too fast wait, and while displaced deliveries have not ended, those who displace more: the store must keep up. */
  function isHeld(): ((acceptance: Acceptance) => boolean) | undefined {
    const isPaced = displacement.holdsAny(lease.now())
    const isLate = queue.displaced > MAX_DISPLACED
    if (!isPaced && !isLate) return undefined
    if (queue.displaced > MAX_DISPLACED_IN_ALL) return () => true
    return (acceptance) =>
      (isPaced && isTooFast(acceptance)) ||
      (isLate &&
        acceptance.deliveries.some(({ webhookId }) => (queue.endpoint(webhookId)?.displaced ?? 0) > 0))
  }

  function isTooFast({ deliveries, inboxIds }: Acceptance): boolean {
    // Events of host transactions are relayed in one line: those of other accounts would wait behind it.
    if (inboxIds) return false
    const now = lease.now()
    let last = ''
    return deliveries.some(({ accountId }) => {
      if (accountId === last) return false
      last = accountId
      return displacement.isHeld(accountId, now)
    })
  }

  /** Ends deliveries that are cancelled or displaced. */
  function skipStale(now: number, skipped: DecidedSettlement[]): void {
    for (let isDone = !queue.hasStale; !isDone && skipped.length < MAX_SKIPPED; ) {
      isDone = true
      // Those that are put back are found again: they wait for another group.
      for (const delivery of queue.takeStale(MAX_SKIPPED - skipped.length))
        if (skip(delivery, isOfCurrentEpoch(delivery) ? 'displaced' : 'cancelled', now, skipped))
          isDone = !queue.hasStale
    }
  }

  const freeSlots = () => caps.total - (active.length - scheduler.probes)

  /** Takes what may be sent of a selected endpoint. */
  function take(endpoint: QueueEndpoint, selection: Selection, now: number): readonly QueuedDelivery[] {
    if (selection.isProbe) {
      const probes = queue.takeProbe(endpoint, now)
      backlog.sent(probes, now)
      return probes
    }
    const slots = Math.min(selection.slots, endpoint.pace?.allowed(now) ?? selection.slots)
    const maxOld = backlog.useTurn(endpoint, now)
    const taken = queue.take(endpoint, slots, now, maxOld)
    backlog.sent(taken, now)
    if (taken.length === 0 && maxOld === 0) backlog.wait(endpoint)
    return taken
  }

  /** Endpoints whose older deliveries have waited for the pace of the backlog may get slots. */
  function giveTurns(now: number, slots: number): void {
    for (const endpoint of backlog.takeTurns(now, slots))
      if (queue.endpoint(endpoint.id) === endpoint) update(endpoint)
  }

  function pick(now: number, maxPrefetch: number, accepting: readonly AcceptingEvents[]): Picked {
    const skipped: DecidedSettlement[] = []
    skipStale(now, skipped)
    const starts: QueuedDelivery[] = []
    // A backlog of stale deliveries must not delay the others.
    const maxSkipped = skipped.length + MAX_SKIPPED
    if (freeSlots() > 0) isPrefetchBlocked = false
    uncommitted.enqueue(accepting, freeSlots() + maxPrefetch, now)
    while (skipped.length < maxSkipped) {
      const free = freeSlots()
      if (free > 0) giveTurns(now, free)
      const prefetch = isPrefetchBlocked ? 0 : Math.min(maxPrefetch, caps.total)
      const selections = scheduler.next(
        now,
        Math.max(free, 0),
        Math.max(0, Math.min(prefetch, free + prefetch)),
      )
      if (selections.length === 0) {
        if (free <= 0 || !backlog.hasTurns(now)) break
        // Those that have their turn wait for something else: the next.
        backlog.endTurns()
        continue
      }
      const before = starts.length + skipped.length
      /** Endpoints whose due contents are not in memory, or that wait for their turn: what ends this updates the scheduler. */
      let idle: Set<QueueEndpoint> | undefined
      for (const selection of selections) {
        const endpoint = queue.endpoint(selection.webhookId)
        if (!endpoint) continue
        const ready = queue.ready(endpoint)
        const taken = take(endpoint, selection, now)
        if (taken.length === 0) {
          idle ??= new Set()
          idle.add(endpoint)
        }
        for (const delivery of taken) {
          if (!delivery.isUncommitted && isTooOld(delivery)) {
            skip(delivery, 'expired', now, skipped)
            continue
          }
          // A start that is not followed by a request counts as interrupted after a crash, and three of them are the limit.
          if (!selection.isProbe && freeSlots() <= 0 && delivery.interruptions > 0) {
            isPrefetchBlocked = true
            putBack(delivery)
            continue
          }
          delivery.slot = scheduler.start(ready, now)
          endpoint.pace?.sent(now)
          delivery.activeIndex = active.push(delivery) - 1
          activeCount.add(1)
          starts.push(delivery)
        }
      }
      sync.fetchContents()
      for (const { webhookId } of selections) {
        const endpoint = queue.endpoint(webhookId)
        if (!endpoint) continue
        const ready = queue.ready(endpoint)
        const isDue = ready.dueMs !== undefined && ready.dueMs <= now
        scheduler.update(isDue && idle?.has(endpoint) ? { ...ready, dueMs: undefined } : ready)
      }
      if (starts.length + skipped.length === before && !idle) break
    }
    backlog.endTurns()
    uncommitted.dropUntaken(accepting, now)
    // After the starts: what can be sent at once does not wait.
    queue.trim(maxWaiting(), now, (endpoint, count, limit) => {
      update(endpoint)
      // Above `maxPending` it pays for others.
      if (limit !== 'maxPending') displacement.displaced(endpoint.webhook.accountId, count, now)
      notices.add(endpoint.webhook, count, limit)
    })
    skipStale(now, skipped)
    sync.fetchContents()
    return { starts, skipped }
  }

  /** The committed deliveries of loaded shards enter the queue. Those of other shards have a handoff for their owner. */
  function accepted(
    accepting: AcceptingEvents,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    mayHaveGap: boolean,
    now: number,
  ): void | Promise<void> {
    if (result.mayHaveGap) sync.poll()
    const { acceptance } = accepting
    const starting =
      accepting.uncommitted.length > 0
        ? uncommitted.confirm(accepting, result, mayHaveGap, now)
        : NO_DELIVERIES
    let unknown: Set<string> | undefined
    let hasReplays = false
    for (const { webhookId, replayOf } of acceptance.deliveries) {
      const isKnown = queue.endpoint(webhookId) !== undefined
      if (isKnown && replayOf === undefined) continue
      if (!state.loaded.has(shardOf(webhookId))) continue
      hasReplays ||= replayOf !== undefined
      if (isKnown) continue
      unknown ??= new Set()
      unknown.add(webhookId)
    }
    if (!unknown && !hasReplays) return enter(acceptance, result, starting, now)
    return enterAfterReading(acceptance, result, starting, unknown ? [...unknown] : [], now)
  }

  function enter(
    acceptance: Acceptance,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    starting: readonly QueuedDelivery[],
    now: number,
  ): void | Promise<void> {
    const { length } = acceptance.deliveries
    if (starting.length === length) return
    if (length > MAX_ENTERED_AT_ONCE) return enterInParts(acceptance, result, starting, now)
    enterPart(acceptance, result, starting, now, { from: 0, next: 0, hint: 0 })
  }

  /** The loop writes nothing meanwhile, but the host and receivers get their turns. */
  async function enterInParts(
    acceptance: Acceptance,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    starting: readonly QueuedDelivery[],
    now: number,
  ): Promise<void> {
    const progress = { from: 0, next: 0, hint: 0 }
    while (progress.from < acceptance.deliveries.length) {
      // No other long work is waited for: everybody's deliveries wait for this.
      await clock.yield()
      enterPart(acceptance, result, starting, now, progress)
    }
  }

  /** At most `MAX_ENTERED_AT_ONCE`, and moves the progress behind them. */
  function enterPart(
    { events, deliveries }: Acceptance,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    starting: readonly QueuedDelivery[],
    now: number,
    progress: { from: number; next: number; hint: number },
  ): void {
    // The deliveries of one event are for different endpoints.
    const touched = events.length > 1 ? new Set<QueueEndpoint>() : undefined
    let { from, next, hint } = progress
    const end = Math.min(from + MAX_ENTERED_AT_ONCE, deliveries.length)
    for (; from < end; from++) {
      const delivery = deliveries[from]!
      if (starting[next]?.id === delivery.id) {
        next++
        continue
      }
      const endpoint = queue.endpoint(delivery.webhookId)
      if (!endpoint || !state.loaded.has(endpoint.shard)) continue
      const index = eventIndexOf(events, delivery.eventId, hint)
      if (index < 0) continue
      hint = index
      const { duplicate, sequence } = result.events[index]!
      if (duplicate) continue
      const { bodies, traceparent } = events[index]!
      const { position = 0, variant } = delivery
      const body = fillIn(bodies[variant]!, sequence)
      queue.add(new QueuedDelivery(delivery, endpoint, position, sequence, now, body, traceparent), now)
      if (touched) touched.add(endpoint)
      else update(endpoint)
    }
    if (touched) for (const endpoint of touched) update(endpoint)
    progress.from = from
    progress.next = next
    progress.hint = hint
  }

  function readAhead(accepting: readonly AcceptingEvents[]): void {
    let unknown: Set<string> | undefined
    for (const { acceptance } of accepting) {
      for (const { webhookId } of acceptance.deliveries) {
        if (queue.endpoint(webhookId) || !state.loaded.has(shardOf(webhookId))) continue
        unknown ??= new Set()
        unknown.add(webhookId)
      }
    }
    sync.readAhead(unknown)
  }

  /** Reads what is not in memory: the rows of idle endpoints, and the bodies of replayed events. */
  async function enterAfterReading(
    acceptance: Acceptance,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    starting: readonly QueuedDelivery[],
    unknown: readonly string[],
    now: number,
  ): Promise<void> {
    await sync.addEndpoints(unknown)
    await enter(acceptance, result, starting, now)
    const { events, deliveries } = acceptance
    let hint = 0
    const keys = deliveries
      .filter(({ eventId, webhookId }) => {
        const index = eventIndexOf(events, eventId, hint)
        if (index >= 0) hint = index
        return index < 0 && state.loaded.has(shardOf(webhookId))
      })
      .map(({ webhookId, position = 0 }) => ({ webhookId, position }))
    if (keys.length === 0) return
    try {
      const contents = await store.bodies(keys)
      keys.forEach((key, index) => {
        const content = contents[index]
        const endpoint = queue.endpoint(key.webhookId)
        if (!content || !endpoint) return
        queue.add(toQueued(content, endpoint, key.position, 0), now)
        update(endpoint)
      })
    } catch (thrown) {
      // They are committed: the load finds them.
      const reason = reasonOf(thrown)
      log.warn({ reason, deliveries: keys.length }, 'reading replayed deliveries failed, retrying')
      sync.reload()
    }
  }

  function ended(
    decided: DecidedSettlement,
    result: Parameters<typeof notifySettlement>[2],
    now: number,
  ): void {
    const { delivery } = decided
    if (changesHealth(decided)) delivery.endpoint.unstoredHealth--
    if (result.kind === 'fenced') {
      if (!state.lease) sync.abandonSettlement(decided)
      // Erased, or settled before: either way the delivery is not in the store any more as this node knows it.
      if (delivery.isAbandoned) return
      remove(delivery, now)
      if (state.lease) sync.onSettlementFenced()
      return
    }
    if (result.disabled) sync.setWebhook(result.disabled)
  }

  function report(
    decided: DecidedSettlement,
    result: Parameters<typeof notifySettlement>[2],
    now: number,
  ): void {
    try {
      notifySettlement(deps, decided, result, now)
    } catch (thrown) {
      // The settlement is written: a notification may fail, the processing of its result may not.
      const { id: deliveryId } = decided.delivery
      log.error({ reason: reasonOf(thrown), deliveryId }, 'a delivery notification failed')
    }
  }

  /** The store refused to start these: they are gone, of an older epoch, or have other counters than the queue. */
  async function notStarted(deliveries: readonly QueuedDelivery[]): Promise<void> {
    const now = lease.now()
    const contents = await store.bodies(deliveries).catch(() => undefined)
    deliveries.forEach((delivery, index) => {
      const stored = contents?.[index]?.delivery
      if (contents && !stored) {
        release(delivery)
        remove(delivery, now)
        return
      }
      if (stored) {
        delivery.attempts = stored.attempts
        delivery.tries = stored.tries
        delivery.interruptions = stored.interruptions
        delivery.failedMs = stored.failedMs
      }
      putBack(delivery, Math.max(stored?.dueMs ?? 0, now + OWN_FAULT_PAUSE_MS))
    })
  }

  /**
   * Sets the timer to the next due time. Without a free slot or a lease it stops the timer: an ended attempt or a
   * renewed lease then goes on.
   */
  function setTimer(): void {
    if (!canStart() || !state.lease) {
      timer.set(undefined)
      return
    }
    // Without a free slot only probes can start: the end of a request goes on with the rest.
    const hasSlots = freeSlots() > 0
    const dueMs = Math.min(
      (hasSlots ? scheduler.nextDueMs() : scheduler.nextProbeDueMs()) ?? Number.POSITIVE_INFINITY,
      (hasSlots ? backlog.nextTurnMs(lease.now()) : undefined) ?? Number.POSITIVE_INFINITY,
      sync.nextFetchMs() ?? Number.POSITIVE_INFINITY,
      (loop.accepting.size > 0 ? displacement.nextMs(lease.now()) : undefined) ?? Number.POSITIVE_INFINITY,
    )
    timer.set(dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs)
  }

  /** Why no more of this account can be taken now. What comes alone is always taken. */
  function refusal(acceptance: Acceptance): string | undefined {
    const { accepting } = loop
    const size = acceptance.events.length + acceptance.deliveries.length
    if (accepting.size + size <= MAX_PACED) return undefined
    const waiting = accepting.sizeOf(lineOf(acceptance))
    if (waiting === 0 || waiting + size <= MAX_PACED) return undefined
    if (isTooFast(acceptance)) return QUEUE_IS_FULL
    return waiting + size > MAX_ACCEPTING ? STORE_IS_LATE : undefined
  }

  const pending = () => queue.size + loop.queuedDeliveries + state.pendingElsewhere

  async function begin(): Promise<void> {
    await lease.start()
    if (stopping.signal.aborted) return
    unsubscribe = store.subscribe(() => sync.poll())
    await sync.ready()
    loop.trigger()
  }

  return {
    owner,
    start() {
      started = begin()
      return started
    },
    accept(acceptance, isContinued = false) {
      const reason = isContinued ? undefined : refusal(acceptance)
      return reason === undefined ? loop.accept(acceptance) : Promise.reject(queueFull(reason))
    },
    partSize: loop.partSize,
    wake() {
      sync.poll()
      loop.trigger()
    },
    cancelUnsent,
    now: lease.now,
    isClosing: () => stopping.signal.aborted,
    pending,
    withQueueState(delivery) {
      const found = delivery.endedMs === undefined ? queue.position(delivery) : undefined
      if (!found) return delivery
      const { dueMs: _, ...row } = delivery
      const { isTaken, dueMs, ahead } = found
      if (isTaken) {
        if (row.state === 'waiting') return { ...row, state: 'in_flight', ahead: 0 }
        // Its webhook was disabled or deleted: its request still ends, possibly as delivered.
        const { reason: _cancelled, ...sent } = row
        return { ...sent, state: 'in_flight', ahead: 0 }
      }
      if (row.state !== 'waiting') return delivery
      return dueMs === undefined ? { ...row, ahead } : { ...row, ahead, dueMs }
    },
    ownsShardOf: (id) => state.loaded.has(shardOf(id)),
    roomFor: (webhookId, accountId) => queue.room(webhookId, accountId, maxWaiting()),
    inFlight: scheduler.inFlight,
    inFlightDeliveries: () =>
      active.filter(({ isPrefetched, isUncommitted }) => !isPrefetched && !isUncommitted),
    holdsChanged() {
      putBackPrefetched(isAccountHeld)
      for (const endpoint of queue.endpoints()) update(endpoint)
      loop.trigger()
    },
    limitsChanged() {
      queue.limitsChanged()
      for (const endpoint of queue.endpoints()) update(endpoint)
      sendPrefetched()
      loop.trigger()
    },
    limitReached(webhookId) {
      const accountId = queue.endpoint(webhookId)?.webhook.accountId
      if (accountId !== undefined && options.isAccountHeld?.(accountId)) return 'hold'
      if ((queue.endpoint(webhookId)?.pace?.dueMs ?? 0) > lease.now()) return 'rate'
      return scheduler.limitReached(webhookId) ?? (caps.total > inFlight ? undefined : 'total')
    },
    outages: decider.outages,
    hasLease: lease.canStart,
    readMs: () => (isShared ? state.readMs : clock.monotonic()),
    stats() {
      const now = lease.now()
      return { inFlight: inFlight + scheduler.probes, queue: queue.summary(now), ...scheduler.stats(now) }
    },
    async close(drainMs) {
      stopping.abort()
      putBackPrefetched(() => true)
      unsubscribe()
      timer.set(undefined)
      const isStarted = started?.catch(() => {})
      const ended = async () => {
        await isStarted
        await activeCount.wait()
        await loop.idle()
      }
      await waitAtMost(drainMs, clock, ended())
      drainDeadline.abort()
      loop.stop()
      if (active.length > 0) {
        log.info({ requests: active.length }, 'closing interrupts requests in flight: they are sent again')
      }
      try {
        await sender.close()
      } catch (thrown) {
        // The lease must be released, and the store closed, anyway.
        log.warn({ reason: reasonOf(thrown) }, 'closing the sender failed')
      }
      // A store that does not answer must not delay the close for long.
      await waitAtMost(LAST_WRITES_MS, clock, ended())
      loop.abandon()
      // Without a release, the next owner finds the starts of what could not be written.
      const mayRelease = state.lease !== undefined && active.length === 0 && !loop.hasLost
      await waitAtMost(LAST_WRITES_MS, clock, lease.stop(mayRelease))
    },
  }
}
