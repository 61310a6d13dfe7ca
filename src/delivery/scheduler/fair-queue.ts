import { createFifoQueue } from '../../values/fifo-queue.js'
import type { ScheduledAccount, ScheduledEndpoint, ScheduledOrigin } from './endpoint-registry.js'
import {
  createSlotCounts,
  FAST,
  hasFreeSlot,
  type PriorityClass,
  priorityOf,
  SLOW,
  slotsHeld,
  UNKNOWN,
} from './priority.js'

/** Limits on the requests in flight of one node. */
export interface Caps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly perOrigin: number
  readonly total: number
}

/**
 * Divides free slots among due endpoints: round-robin by priority class, account and endpoint, within all
 * caps.
 */
export interface FairQueue {
  /** Queues a due endpoint. */
  add(endpoint: ScheduledEndpoint): void
  /**
   * Allocates up to `free` slots; `allocated` of each returned endpoint holds its number until
   * `clearAllocations`.
   */
  allocate(now: number, free: number): ReadonlySet<ScheduledEndpoint>
  /** Gives allocated slots back: those that are claimed count as requests in flight. */
  clearAllocations(served: ReadonlySet<ScheduledEndpoint>): void
  /** Counts one request in flight more, or one less. */
  countInFlight(endpoint: ScheduledEndpoint, change: 1 | -1): void
  /** Updates the priority class of an endpoint and moves its slots along. */
  reclassify(endpoint: ScheduledEndpoint): void
  isFull(endpoint: ScheduledEndpoint): boolean
  /** The limit that an endpoint has reached; `priority`: the share of its priority class. */
  limitReached(endpoint: ScheduledEndpoint): 'endpoint' | 'account' | 'origin' | 'priority' | undefined
}

/**
 * The order in which the classes are served, by round: fast endpoints usually come first; each of the other
 * classes comes first in every fourth round, so that none starves.
 */
const CLASS_ORDERS: readonly (readonly PriorityClass[])[] = [
  [FAST, UNKNOWN, SLOW],
  [UNKNOWN, FAST, SLOW],
  [FAST, UNKNOWN, SLOW],
  [SLOW, FAST, UNKNOWN],
]

/**
 * @param oldestOverdueMs see `priorityOf`
 * @param defer called with an endpoint that left its queue because it is not due, or is full
 */
export function createFairQueue(
  caps: Caps,
  oldestOverdueMs: () => number,
  defer: (endpoint: ScheduledEndpoint) => void,
): FairQueue {
  const accountQueues = [
    createFifoQueue<ScheduledAccount>(),
    createFifoQueue<ScheduledAccount>(),
    createFifoQueue<ScheduledAccount>(),
  ] as const
  const total = createSlotCounts()
  /** Origins with endpoints that wait for one of their slots. */
  const waitingOrigins = new Set<ScheduledOrigin>()
  /** Calls of `allocate` that allocated a slot. */
  let rounds = 0
  let additions = 0

  const isFull = ({ isProbed, inFlight, allocated }: ScheduledEndpoint) =>
    inFlight + allocated >= (isProbed ? 1 : caps.perEndpoint)
  const hasAccountSlot = ({ slots }: ScheduledAccount, priority: PriorityClass) =>
    hasFreeSlot(slots, priority, caps.perAccount)

  function countInFlight({ priority, account, origin }: ScheduledEndpoint, change: 1 | -1): void {
    account.slots.inFlight[priority] += change
    total.inFlight[priority] += change
    origin.inFlight += change
  }

  function reclassify(endpoint: ScheduledEndpoint): void {
    const priority = priorityOf(endpoint, oldestOverdueMs())
    if (priority === endpoint.priority) return
    for (const { inFlight, allocated } of [endpoint.account.slots, total]) {
      inFlight[endpoint.priority] -= endpoint.inFlight
      allocated[endpoint.priority] -= endpoint.allocated
      inFlight[priority] += endpoint.inFlight
      allocated[priority] += endpoint.allocated
    }
    endpoint.priority = priority
  }

  function add(endpoint: ScheduledEndpoint): void {
    reclassify(endpoint)
    endpoint.queuedIn = 'account'
    additions++
    const { account, priority } = endpoint
    account.due[priority].push(endpoint)
    if (account.isQueued[priority]) return
    account.isQueued[priority] = true
    accountQueues[priority].push(account)
  }

  /**
   * Queues as many of the endpoints that wait for an origin as it has free slots. Not all of them may get
   * one, since their account or class may have none: while slots are left, `allocate` admits the next ones.
   */
  function admitWaiting(origin: ScheduledOrigin): void {
    let free = caps.perOrigin - origin.inFlight - origin.allocated
    while (free > 0 && origin.waiting.length > 0) {
      const endpoint = origin.waiting.shift()!
      if (endpoint.queuedIn !== 'origin' || endpoint.origin !== origin) continue
      add(endpoint)
      free--
    }
    if (origin.waiting.length === 0) waitingOrigins.delete(origin)
  }

  /** Allocates one slot to the next endpoint of this account and class that can take it; null: none can. */
  function allocateSlot(
    account: ScheduledAccount,
    priority: PriorityClass,
    now: number,
  ): ScheduledEndpoint | null {
    if (!hasAccountSlot(account, priority)) return null
    const due = account.due[priority]
    for (let endpoint = due.shift(); endpoint; endpoint = due.shift()) {
      reclassify(endpoint)
      const { origin } = endpoint
      if (endpoint.priority !== priority) {
        add(endpoint)
      } else if (endpoint.dueMs > now || isFull(endpoint)) {
        endpoint.queuedIn = 'none'
        defer(endpoint)
      } else if (origin.inFlight + origin.allocated >= caps.perOrigin) {
        endpoint.queuedIn = 'origin'
        origin.waiting.push(endpoint)
        waitingOrigins.add(origin)
      } else {
        due.push(endpoint)
        endpoint.allocated++
        origin.allocated++
        account.slots.allocated[priority]++
        total.allocated[priority]++
        return endpoint
      }
    }
    return null
  }

  /** Serves the accounts of a class round-robin; returns the number of slots left. */
  function allocateClass(
    priority: PriorityClass,
    now: number,
    free: number,
    served: Set<ScheduledEndpoint>,
  ): number {
    const queue = accountQueues[priority]
    let left = free
    let skipped = 0
    while (left > 0 && hasFreeSlot(total, priority, caps.total) && skipped < queue.length) {
      const account = queue.shift()!
      const endpoint = allocateSlot(account, priority, now)
      if (endpoint) {
        served.add(endpoint)
        left--
      }
      if (account.due[priority].length > 0) {
        queue.push(account)
        skipped = endpoint ? 0 : skipped + 1
      } else account.isQueued[priority] = false
    }
    return left
  }

  return {
    add,
    allocate(now, free) {
      const served = new Set<ScheduledEndpoint>()
      const order = CLASS_ORDERS[rounds % CLASS_ORDERS.length]!
      let left = Math.min(free, caps.total)
      // An endpoint that is queued during a pass may belong to a class that the pass has served already:
      // repeat.
      for (let before = -1; before !== additions && left > 0; ) {
        before = additions
        for (const origin of waitingOrigins) admitWaiting(origin)
        for (const priority of order) left = allocateClass(priority, now, left, served)
      }
      if (served.size > 0) rounds++
      return served
    },
    clearAllocations(served) {
      for (const endpoint of served) {
        const { account, priority, allocated } = endpoint
        account.slots.allocated[priority] -= allocated
        total.allocated[priority] -= allocated
        endpoint.allocated = endpoint.origin.allocated = 0
      }
    },
    countInFlight,
    reclassify,
    isFull,
    limitReached(endpoint) {
      const { account, origin, priority } = endpoint
      if (isFull(endpoint)) return 'endpoint'
      if (slotsHeld(account.slots, FAST) >= caps.perAccount) return 'account'
      if (origin.inFlight >= caps.perOrigin) return 'origin'
      return hasAccountSlot(account, priority) && hasFreeSlot(total, priority, caps.total)
        ? undefined
        : 'priority'
    },
  }
}
