import { createFifoQueue, type FifoQueue } from '../../values/fifo-queue.js'
import type { ReadyEndpoint } from '../delivery-store.js'
import {
  createSlotCounts,
  type EndpointLatency,
  type PriorityClass,
  type SlotCounts,
  UNKNOWN,
} from './priority.js'

/**
 * The endpoints of this node that have something waiting or in flight, with their accounts and origins, and
 * the counters that caps and fairness need. Memory is proportional to that, not to the number of webhooks; of
 * idle endpoints only the latency is remembered, for at most `MAX_IDLE_LATENCIES` of them.
 */
export interface EndpointRegistry {
  readonly size: number
  find(webhookId: string): ScheduledEndpoint | undefined
  /** Adds an endpoint or updates it: a changed origin moves it with its requests in flight. */
  upsert(input: Omit<ReadyEndpoint, 'dueMs'>): ScheduledEndpoint
  /** Removes an endpoint without requests in flight. */
  remove(endpoint: ScheduledEndpoint): void
  all(): Iterable<ScheduledEndpoint>
}

export interface ScheduledEndpoint extends EndpointLatency {
  readonly id: string
  readonly account: ScheduledAccount
  origin: ScheduledOrigin
  /** Store time of its earliest due delivery, ms; `IDLE`: nothing waits. */
  dueMs: number
  inFlight: number
  /** Slots allocated by the selection in progress. */
  allocated: number
  /** The class that its slots are counted in, and whose queue it waits in. */
  priority: PriorityClass
  /** Whether a retry gets the odd slot of its next allocation. */
  retriesFirst: boolean
  /** Its breaker has opened: one request at a time. */
  isProbed: boolean
  /** The scheduler's version when this endpoint was last updated. */
  updatedVersion: number
  /**
   * Which queue it is in: its account's, its origin's, or neither (then it waits for its due time or a free
   * slot).
   */
  queuedIn: 'account' | 'origin' | 'none'
  /** The due time of its entry in the delay queue, ms; NaN: no entry. */
  queuedDueMs: number
}

export interface ScheduledAccount {
  readonly id: string
  readonly slots: SlotCounts
  /** Due endpoints by priority class, in round-robin order. */
  readonly due: readonly [
    FifoQueue<ScheduledEndpoint>,
    FifoQueue<ScheduledEndpoint>,
    FifoQueue<ScheduledEndpoint>,
  ]
  /** Whether the account is in the fair queue of a class. */
  readonly isQueued: [boolean, boolean, boolean]
  endpoints: number
}

export interface ScheduledOrigin {
  readonly id: string
  inFlight: number
  allocated: number
  /** Due endpoints that wait for a slot of this origin, in order of arrival; entries may be stale. */
  readonly waiting: FifoQueue<ScheduledEndpoint>
  endpoints: number
}

/** The latency of an idle endpoint; it holds for the origin where it was measured. */
interface IdleLatency extends Pick<EndpointLatency, 'lastFastMs' | 'isSlow'> {
  readonly originId: string
}

/** The due time of an endpoint for which nothing waits. */
export const IDLE = Number.POSITIVE_INFINITY
/** Idle endpoints whose latency is remembered. */
const MAX_IDLE_LATENCIES = 20_000

export function createEndpointRegistry(): EndpointRegistry {
  const endpoints = new Map<string, ScheduledEndpoint>()
  const accounts = new Map<string, ScheduledAccount>()
  const origins = new Map<string, ScheduledOrigin>()
  /** Least recently used first. */
  const idleLatencies = new Map<string, IdleLatency>()

  function accountOf(id: string): ScheduledAccount {
    const found = accounts.get(id)
    if (found) return found
    const due = [
      createFifoQueue<ScheduledEndpoint>(),
      createFifoQueue<ScheduledEndpoint>(),
      createFifoQueue<ScheduledEndpoint>(),
    ] as const
    const account: ScheduledAccount = {
      id,
      slots: createSlotCounts(),
      due,
      isQueued: [false, false, false],
      endpoints: 0,
    }
    accounts.set(id, account)
    return account
  }

  function originOf(id: string): ScheduledOrigin {
    const found = origins.get(id)
    if (found) return found
    const origin = {
      id,
      waiting: createFifoQueue<ScheduledEndpoint>(),
      endpoints: 0,
      inFlight: 0,
      allocated: 0,
    }
    origins.set(id, origin)
    return origin
  }

  function leave(origin: ScheduledOrigin): void {
    if (--origin.endpoints === 0) origins.delete(origin.id)
  }

  /** Its requests in flight move too: those still open to the former origin count for the new one. */
  function move(endpoint: ScheduledEndpoint, originId: string): void {
    const before = endpoint.origin
    const origin = originOf(originId)
    origin.endpoints++
    origin.inFlight += endpoint.inFlight
    before.inFlight -= endpoint.inFlight
    endpoint.origin = origin
    forgetFast(endpoint)
    leave(before)
    if (endpoint.queuedIn === 'origin') endpoint.queuedIn = 'none'
  }

  function rememberLatency({ id, origin, lastFastMs, isSlow }: ScheduledEndpoint): void {
    if (isSlow === undefined) return
    idleLatencies.delete(id)
    idleLatencies.set(id, { originId: origin.id, lastFastMs, isSlow })
    if (idleLatencies.size > MAX_IDLE_LATENCIES) idleLatencies.delete(idleLatencies.keys().next().value!)
  }

  function restoreLatency(endpoint: ScheduledEndpoint): void {
    const latency = idleLatencies.get(endpoint.id)
    if (!latency) return
    endpoint.lastFastMs = latency.lastFastMs
    endpoint.isSlow = latency.isSlow
    if (latency.originId !== endpoint.origin.id) forgetFast(endpoint)
  }

  return {
    get size() {
      return endpoints.size
    },
    find: (webhookId) => endpoints.get(webhookId),
    upsert({ webhookId, accountId, origin: originId, failing }) {
      const found = endpoints.get(webhookId)
      if (found) {
        found.isFailing = failing
        if (found.origin.id !== originId) move(found, originId)
        return found
      }
      const account = accountOf(accountId)
      const origin = originOf(originId)
      account.endpoints++
      origin.endpoints++
      const endpoint: ScheduledEndpoint = {
        id: webhookId,
        account,
        origin,
        dueMs: IDLE,
        inFlight: 0,
        allocated: 0,
        priority: UNKNOWN,
        lastFastMs: Number.NEGATIVE_INFINITY,
        isSlow: undefined,
        isFailing: failing,
        overdueCount: 0,
        retriesFirst: false,
        isProbed: false,
        updatedVersion: 0,
        queuedIn: 'none',
        queuedDueMs: Number.NaN,
      }
      restoreLatency(endpoint)
      endpoints.set(webhookId, endpoint)
      return endpoint
    },
    remove(endpoint) {
      if (endpoints.get(endpoint.id) !== endpoint) return
      endpoints.delete(endpoint.id)
      rememberLatency(endpoint)
      leave(endpoint.origin)
      if (--endpoint.account.endpoints === 0) accounts.delete(endpoint.account.id)
    },
    all: () => endpoints.values(),
  }
}

/** A new origin is a new receiver: a fast endpoint becomes unknown, a slow one stays slow. */
function forgetFast(endpoint: ScheduledEndpoint): void {
  endpoint.lastFastMs = Number.NEGATIVE_INFINITY
  if (endpoint.isSlow === false) endpoint.isSlow = undefined
}

/** The state of the scheduler, for metrics. */
export interface SchedulerStats {
  /** How long the longest waiting due delivery has been due, ms. */
  readonly oldestDueMs: number
  /** Endpoints with an open breaker. */
  readonly open: number
  /** Endpoints that are probed. */
  readonly halfOpen: number
}

/** @param now store time, ms */
export function statsOf(endpoints: Iterable<ScheduledEndpoint>, now: number): SchedulerStats {
  let oldestDueMs = 0
  let open = 0
  let halfOpen = 0
  for (const { dueMs, isProbed } of endpoints) {
    if (dueMs <= now) oldestDueMs = Math.max(oldestDueMs, now - dueMs)
    if (isProbed && dueMs > now && dueMs !== IDLE) open++
    else if (isProbed) halfOpen++
  }
  return { oldestDueMs, open, halfOpen }
}
