import { createFifoQueue } from '../../values/fifo-queue.js'

/**
 * Priority classes: which share of the slots an endpoint may use, given how fast it answers.
 *
 * A receiver that does not answer holds its slot until the deadline of the attempt. Endpoints that may be
 * such receivers never get all slots: some stay reserved for receivers that do answer.
 */
export type PriorityClass =
  /** Fast: it answered within `FAST_ANSWER_MS`, after the oldest overdue request of this node was sent. */
  | 0
  /** Unknown: nothing is known about how it answers. */
  | 1
  /** Slow: it did not answer its last request, or not within `FAST_ANSWER_MS`. */
  | 2

export const FAST: PriorityClass = 0
export const UNKNOWN: PriorityClass = 1
export const SLOW: PriorityClass = 2

/** An HTTP answer of any status within this time shows that the receiver is responsive, ms. */
export const FAST_ANSWER_MS = 2_000
/**
 * A request without an answer for this long is overdue, ms: its endpoint becomes slow before the attempt has
 * ended.
 */
const OVERDUE_MS = 1_000

/** The slots of a cap that a class and the slower ones may use together: all, three quarters, half. */
export function maxSlots(priority: PriorityClass, cap: number): number {
  return priority === FAST ? cap : Math.ceil(priority === UNKNOWN ? (cap * 3) / 4 : cap / 2)
}

/** Slots in use, by priority class. */
export interface SlotCounts {
  /** Requests in flight. */
  readonly inFlight: [number, number, number]
  /** Slots allocated by the selection in progress and not claimed yet. */
  readonly allocated: [number, number, number]
}

export function createSlotCounts(): SlotCounts {
  return { inFlight: [0, 0, 0], allocated: [0, 0, 0] }
}

/** Slots that a class and the slower ones use. */
export function slotsHeld({ inFlight, allocated }: SlotCounts, priority: PriorityClass): number {
  let sum = 0
  for (let index: number = priority; index < inFlight.length; index++)
    sum += inFlight[index]! + allocated[index]!
  return sum
}

/** Whether a class may use one more slot: within its own share and within that of every faster class. */
export function hasFreeSlot(slots: SlotCounts, priority: PriorityClass, cap: number): boolean {
  for (let faster = priority; ; faster--) {
    if (slotsHeld(slots, faster as PriorityClass) >= maxSlots(faster as PriorityClass, cap)) return false
    if (faster === FAST) return true
  }
}

/** How an endpoint answers, as far as this node knows. */
export interface EndpointLatency {
  /** Store time of its last fast answer, ms; -Infinity: none was seen. */
  lastFastMs: number
  /** Whether the last request got a slow answer or none; undefined: this node has sent none. */
  isSlow: boolean | undefined
  /** Whether its last attempt failed, according to the store. */
  isFailing: boolean
  /** Number of open overdue requests. While it is above 0 the endpoint is slow, whatever else it answers. */
  overdueCount: number
}

/**
 * @param oldestOverdueMs when the oldest overdue request of this node was sent; -Infinity: none is overdue
 */
export function priorityOf(
  { lastFastMs, isSlow, isFailing, overdueCount }: EndpointLatency,
  oldestOverdueMs: number,
): PriorityClass {
  if (overdueCount > 0 || (isSlow ?? isFailing)) return SLOW
  return lastFastMs >= oldestOverdueMs && lastFastMs !== Number.NEGATIVE_INFINITY ? FAST : UNKNOWN
}

/** One request in flight. */
export interface InFlightRequest<Endpoint> {
  readonly endpoint: Endpoint
  readonly startedMs: number
  hasEnded: boolean
  isOverdue: boolean
}

/** The requests in flight, in the order in which they were sent. */
export interface InFlightRequests<Endpoint> {
  start(endpoint: Endpoint, now: number): InFlightRequest<Endpoint>
  /** Finds the requests that have become overdue since the last scan; calls back once for each. */
  scanOverdue(now: number, onOverdue: (endpoint: Endpoint) => void): void
  /** When the oldest overdue request was sent; -Infinity: none is overdue. */
  oldestOverdueMs(): number
}

export function createInFlightRequests<Endpoint>(): InFlightRequests<Endpoint> {
  const young = createFifoQueue<InFlightRequest<Endpoint>>()
  const overdue = createFifoQueue<InFlightRequest<Endpoint>>()
  return {
    start(endpoint, now) {
      const request = { endpoint, startedMs: now, hasEnded: false, isOverdue: false }
      young.push(request)
      return request
    },
    scanOverdue(now, onOverdue) {
      for (
        let first = young.peek();
        first && (first.hasEnded || now - first.startedMs > OVERDUE_MS);
        first = young.peek()
      ) {
        young.shift()
        if (first.hasEnded) continue
        first.isOverdue = true
        overdue.push(first)
        onOverdue(first.endpoint)
      }
    },
    oldestOverdueMs() {
      while (overdue.peek()?.hasEnded) overdue.shift()
      return overdue.peek()?.startedMs ?? Number.NEGATIVE_INFINITY
    },
  }
}
