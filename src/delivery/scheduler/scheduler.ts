/**
 * Decides which endpoints may send next, and how many requests each. It works with endpoints, due times and
 * counts; it knows nothing about deliveries, requests or stores, and does no I/O.
 *
 * Theory of operation
 *
 * - The registry holds every endpoint of this node with something waiting or in flight. An endpoint is in one
 *   place: in the queue of its account and class (due, waits for a slot), in the queue of its origin (due, the
 *   origin is at its cap), in that of its zone (due, the zone holds its share), or in none. Then it
 *   has an entry in the delay queue, unless it is at its own limit: the end of one of its requests queues it again.
 * - `next` moves the due endpoints from the delay queue to the fair queue and allocates slots to them.
 *   Allocated slots count against the caps only inside `next`. Then the dispatcher takes deliveries of the
 *   selected endpoints from the queue; each becomes a request in flight by `start` and stays one until `end`.
 *   Each selected endpoint must be updated then, whether anything was taken from it or not: it may be in no queue.
 * - The queue in memory decides what is due, and updates each endpoint whose due time changes.
 * - The dispatcher owns the scheduler: one instance per node, used from one thread. The caps hold for this
 *   node, not for all nodes of a store together.
 * - Whatever an endpoint does, some slots stay free for endpoints that answer: each class has a share of the
 *   slots, and each account and zone a share of those that are still free (`priority.ts`). What is known about an
 *   account and a zone decides about endpoints that were never tried (`reputation.ts`).
 * - While several accounts compete, an account that has used more slot time than its share in the last seconds goes after the
 *   others, and the last slots are for accounts that hold few (`slot-time.ts`).
 * - Nothing here is stored. After a crash the next owner rebuilds the scheduler from its queue; answers are
 *   lost, so all endpoints start in the class unknown, or silent where their stored health says that they fail.
 */
import { createLinkedQueue, dequeue, enqueue, unqueue } from '../../values/linked-queue.js'
import { charge, type RateLimit, refill, type TokenBucket } from '../../values/token-bucket.js'
import type { ReadyEndpoint } from '../delivery-store.js'
import { createDelayQueue } from './delay-queue.js'
import {
  createEndpointRegistry,
  IDLE,
  type ScheduledEndpoint,
  type SchedulerStats,
  statsOf,
} from './endpoint-registry.js'
import { type Caps, createFairQueue, type FairQueue } from './fair-queue.js'
import { type Answer, createInFlightRequests, FAST, type InFlightRequest } from './priority.js'

/** The scheduler of one node. */
export interface Scheduler {
  /** Updates an endpoint: its due time, account, origin, and whether it fails. */
  update(endpoint: ReadyEndpoint): void
  /**
   * Selects due endpoints with slots for each, at most `free` requests in total, and `prefetch` more, for slots that will be
   * free soon: to fast endpoints of accounts that have not used more than their share, if no slower endpoint waits. Default 0.
   * An `update` of each must follow.
   */
  next(now: number, free: number, prefetch?: number): readonly Selection[]
  /** Counts a request to an endpoint as in flight. */
  start(endpoint: Omit<ReadyEndpoint, 'dueMs'>, now: number): InFlightRequest<ScheduledEndpoint>
  /** Whether the endpoint of a started request still answers fast. */
  isFast(request: InFlightRequest<ScheduledEndpoint>, now: number): boolean
  /** A started request is sent: its time runs. */
  sent(request: InFlightRequest<ScheduledEndpoint>, now: number): void
  /** Records whether and how fast the receiver of a request answered. */
  recordAnswer(request: InFlightRequest<ScheduledEndpoint>, answer: Answer, now: number): void
  /** Frees the slot of a request. */
  end(request: InFlightRequest<ScheduledEndpoint>, now: number): void
  /**
   * When `next` may have something to select that it does not have now, if nothing happens before: an endpoint
   * becomes due, or a request becomes overdue for which others wait. `undefined`: never.
   */
  nextDueMs(): number | undefined
  /** The same for probes alone, or earlier. */
  nextProbeDueMs(): number | undefined
  /** Probes in flight. */
  readonly probes: number
  /** Ids of the endpoints of an origin that are paused because they fail, and for which something waits. */
  probedOf(origin: string): readonly string[]
  /** Requests in flight to an endpoint. */
  inFlight(webhookId: string): number
  /** The limit that an endpoint has reached; `undefined`: none. */
  limitReached(webhookId: string): ReturnType<FairQueue['limitReached']>
  stats(now: number): SchedulerStats
}

export interface Selection {
  readonly webhookId: string
  readonly slots: number
  /** Whether the request is a probe, which needs no slot. */
  readonly isProbe: boolean
}

/** Probes that may start per second and at once: each costs the processor 0.3 ms or more. */
const PROBE_STARTS: RateLimit = { burst: 50, refillPerSecond: 200 }

export function createScheduler(caps: Caps): Scheduler {
  const registry = createEndpointRegistry()
  const requests = createInFlightRequests<ScheduledEndpoint>()
  const delayQueue = createDelayQueue(registry)
  const fairQueue = createFairQueue(caps, requests.oldestOverdueMs, requeue)
  /** Due endpoints that are probed. */
  const probed = createLinkedQueue<ScheduledEndpoint>()
  /** Probes in flight. */
  let probes = 0
  let probeStarts: TokenBucket | undefined
  /** When the next probe may start, if some had to wait for that; store time, ms. */
  let nextProbeMs: number | undefined
  /** Store time of the last `next`, ms. */
  let selectedMs = Number.NEGATIVE_INFINITY

  /** A due endpoint waits for a slot, or for a socket of the probes. */
  function queueDue(endpoint: ScheduledEndpoint, now: number): void {
    if (endpoint.isProbed) enqueue(probed, endpoint)
    else fairQueue.add(endpoint, now)
  }

  /** Due endpoints whose next probe may start. */
  function nextProbes(now: number): Selection[] {
    const selections: Selection[] = []
    nextProbeMs = undefined
    if (probed.length === 0) return selections
    probeStarts = refill(probeStarts && probeStarts.atMs <= now ? probeStarts : undefined, now, PROBE_STARTS)
    while (probed.length > 0 && probes + selections.length < caps.probes) {
      const tokens = probeStarts.tokens - selections.length
      if (tokens < 1) {
        nextProbeMs = now + Math.ceil(((1 - tokens) * 1_000) / PROBE_STARTS.refillPerSecond)
        break
      }
      const endpoint = dequeue(probed)!
      if (endpoint.dueMs > now || endpoint.inFlight > 0 || !endpoint.isProbed) requeue(endpoint)
      else selections.push({ webhookId: endpoint.id, slots: 1, isProbe: true })
    }
    return selections
  }

  /**
   * Puts an endpoint that is in no queue, or in one where it must not wait, where it belongs. One that is paused must not wait
   * for a slot. A full one stays out: the end of a request brings it back.
   */
  function requeue(endpoint: ScheduledEndpoint): void {
    const { queue, isProbed, dueMs } = endpoint
    if (queue && (queue === probed ? isProbed && dueMs !== IDLE : !isProbed)) return
    if (queue) unqueue(endpoint)
    if (endpoint.dueMs !== IDLE) {
      if (!fairQueue.isFull(endpoint)) delayQueue.add(endpoint)
    } else if (endpoint.inFlight === 0) registry.remove(endpoint)
  }

  function scanOverdue(now: number): void {
    requests.scanOverdue(now, (request) => {
      request.endpoint.overdueCount++
      fairQueue.countSilence(request, true, now)
    })
  }

  function update(input: ReadyEndpoint): void {
    const dueMs = input.dueMs ?? IDLE
    if (dueMs === IDLE && !registry.find(input.webhookId)) return
    const endpoint = registry.upsert(input)
    endpoint.dueMs = dueMs
    // Nothing that is not due may wait for a slot: nobody would look again when it is due.
    if (endpoint.queue && endpoint.queue !== probed && dueMs > selectedMs) unqueue(endpoint)
    requeue(endpoint)
  }

  function isAtOwnLimit(endpoint: ScheduledEndpoint): boolean {
    const limit = fairQueue.limitReached(endpoint)
    return limit === 'endpoint' || limit === 'account' || limit === 'origin'
  }

  return {
    update,
    next(now, free, prefetch = 0) {
      selectedMs = now
      scanOverdue(now)
      delayQueue.takeDue(now, (endpoint) => queueDue(endpoint, now))
      const selections = nextProbes(now)
      if (free + prefetch <= 0) return selections
      const served = fairQueue.allocate(now, free, prefetch)
      for (const endpoint of served) {
        selections.push({ webhookId: endpoint.id, slots: endpoint.allocated, isProbe: false })
      }
      fairQueue.clearAllocations(served)
      return selections
    },
    start(input, now) {
      const endpoint = registry.upsert(input)
      endpoint.inFlight++
      if (endpoint.isProbed) {
        probes++
        probeStarts = charge(refill(probeStarts, now, PROBE_STARTS), 1, now, PROBE_STARTS)
      } else fairQueue.countStart(endpoint, now)
      return requests.start(endpoint, endpoint.priority, endpoint.isProbed)
    },
    isFast({ endpoint }, now) {
      scanOverdue(now)
      return endpoint.priority === FAST
    },
    sent(request, now) {
      if (request.isProbe) return
      requests.sent(request, now)
      fairQueue.countSent(request.endpoint, now)
    },
    recordAnswer(request, answer, now) {
      const { endpoint } = request
      endpoint.lastAnswer = answer
      if (answer === 'fast') endpoint.lastFastMs = now
      if (request.isProbe) fairQueue.reclassify(endpoint, now)
      else if (answer === 'none') fairQueue.countSilence(request, !request.isOverdue, now)
      else fairQueue.countAnswer(request, answer === 'fast', now)
    },
    end(request, now) {
      const { endpoint } = request
      request.hasEnded = true
      if (request.isOverdue) endpoint.overdueCount--
      endpoint.inFlight--
      if (request.isProbe) probes--
      else fairQueue.countEnd(request, now)
      requeue(endpoint)
    },
    get probes() {
      return probes
    },
    nextDueMs() {
      const nextMs = Math.min(
        delayQueue.nextDueMs() ?? IDLE,
        fairQueue.nextStartMs() ?? IDLE,
        nextProbeMs ?? IDLE,
        (fairQueue.hasWaiting() ? requests.nextOverdueMs() : undefined) ?? IDLE,
      )
      return nextMs === IDLE ? undefined : nextMs
    },
    nextProbeDueMs() {
      const nextMs = Math.min(delayQueue.nextDueMs() ?? IDLE, nextProbeMs ?? IDLE)
      return nextMs === IDLE ? undefined : nextMs
    },
    probedOf: registry.probedOf,
    inFlight: (webhookId) => registry.find(webhookId)?.inFlight ?? 0,
    limitReached(webhookId) {
      const endpoint = registry.find(webhookId)
      return endpoint && fairQueue.limitReached(endpoint)
    },
    stats: (now) => statsOf(registry.all(), isAtOwnLimit, now),
  }
}
