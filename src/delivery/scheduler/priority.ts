import { createFifoQueue } from '../../values/fifo-queue.js'
import { isDoubtfulAccount, isDoubtfulZone, isProvenZone, type Reputation, TRUST_MS } from './reputation.js'

/**
 * Priority classes: which share of the slots an endpoint may use, given how it and its neighbours answer.
 *
 * A receiver that does not answer holds its slot until the deadline of the attempt. Endpoints that may be
 * such receivers never get all slots: some stay reserved for receivers that do answer.
 */
export type PriorityClass =
  /** Fast: its last answer took at most `FAST_ANSWER_MS`, and came after the oldest overdue request was sent. */
  | 0
  /** Trusted: its last answer was fast, at most `TRUST_MS` ago. */
  | 1
  /** Unknown: it was never tried, and nothing is held against its account and its zone. */
  | 2
  /** Doubtful: it was never tried; others of its account do not answer, and nobody in its zone has answered. */
  | 3
  /** Slow: it answers, but its last answer took longer than `FAST_ANSWER_MS`, or it is overdue. */
  | 4
  /** Silent: its last attempt got no answer, or it was never tried and others of its zone do not answer. */
  | 5

export const FAST: PriorityClass = 0
/** @internal */
export const TRUSTED: PriorityClass = 1
export const UNKNOWN: PriorityClass = 2
export const DOUBTFUL: PriorityClass = 3
export const SLOW: PriorityClass = 4
export const SILENT: PriorityClass = 5
export const CLASSES: readonly PriorityClass[] = [FAST, TRUSTED, UNKNOWN, DOUBTFUL, SLOW, SILENT]

/** An HTTP answer of any status within this time shows that the receiver is responsive, ms. */
export const FAST_ANSWER_MS = 2_000
/**
 * A request without an answer for this long is overdue, ms: its endpoint becomes slow or silent before the
 * attempt has ended.
 */
const OVERDUE_MS = 1_000

/** The share of a cap that a class and the slower ones may use together, by class. */
const SHARES = [1, 7 / 8, 3 / 4, 5 / 8, 1 / 2, 1 / 4] as const
/** The share of a cap that slow endpoints may use even while silent ones hold more than theirs. */
const SLOW_RESERVE = 1 / 8
/** The share of the free slots of a class up to which one account, or one zone, may hold slots of it. */
const GROUP_SHARE = 1 / 4
/** Slow endpoints answer: their share is larger. */
const SLOW_SHARE = 1 / 2
/** The share of a zone in which nobody has answered yet: its first one or two requests find out for all others. */
const NEW_ZONE_SHARE = 1 / 200

/** The share of the slots of never-tried endpoints that accounts beyond their limit leave free. */
const PROBE_RESERVE = 1 / 8

/** The slots of a cap that a class and the slower ones may use together. */
export function maxSlots(priority: PriorityClass, cap: number): number {
  return Math.ceil(cap * SHARES[priority])
}

/**
 * Slots in use, by priority class: requests in flight, and slots allocated by the selection in progress and not
 * used yet.
 */
export type SlotCounts = number[]

export function createSlotCounts(): SlotCounts {
  return [0, 0, 0, 0, 0, 0]
}

/** Slots that a class and the slower ones use. */
export function slotsHeld(slots: SlotCounts, priority: PriorityClass): number {
  let sum = 0
  for (let index: number = priority; index <= SILENT; index++) sum += slots[index]!
  return sum
}

/**
 * Slots that a class may still use: within its own share and within that of every faster class. The reserve of slow
 * endpoints is not part of the share of doubtful ones.
 */
export function freeSlots(slots: SlotCounts, priority: PriorityClass, cap: number): number {
  let held = slotsHeld(slots, priority)
  let free = maxSlots(priority, cap) - held
  if (priority === SLOW) free = Math.max(free, Math.ceil(cap * SLOW_RESERVE) - slots[SLOW]!)
  for (let faster = priority - 1; faster >= FAST; faster--) {
    held += slots[faster]!
    if (priority === SLOW && faster === DOUBTFUL) continue
    free = Math.min(free, maxSlots(faster as PriorityClass, cap) - held)
  }
  return free
}

/** Whether endpoints of this class were never tried. Their requests are probes. */
export function isUntried(priority: PriorityClass): boolean {
  return priority === UNKNOWN || priority === DOUBTFUL
}

/**
 * How many slots of a class (not the fast one, which has no such limit) an account or a zone may hold. The fewer are
 * free, the smaller is the share of never-tried endpoints: those that do not answer hold their slots for long, and
 * however many accounts have such endpoints, some slots must be left for the next one.
 *
 * @param free the slots that the class may still use, of `most`
 * @param isProven whether this is an account, or a zone in which an endpoint has answered fast
 */
export function groupLimit(priority: PriorityClass, free: number, most: number, isProven: boolean): number {
  if (!isUntried(priority)) return free * (priority === SLOW ? SLOW_SHARE : GROUP_SHARE)
  return ((isProven ? GROUP_SHARE : NEW_ZONE_SHARE) * free * free) / most
}

/**
 * Whether an account may have one more probe beyond its limit: one at a time, until it is overdue. A healthy endpoint
 * then need not wait until probes of other endpoints of its account have timed out.
 *
 * @param young probes of the account that are not overdue
 */
export function mayProbeOneMore(young: number, free: number, most: number): boolean {
  return young === 0 && free > most * PROBE_RESERVE
}

/** How an endpoint answers, as far as this node knows. */
export interface AnswerHistory {
  /** How its last request was answered: within `FAST_ANSWER_MS`, later, or not at all; undefined: it was not tried. */
  lastAnswer: Answer | undefined
  /** Store time of its last fast answer, ms; -Infinity: none was seen. */
  lastFastMs: number
  /** Whether its last attempt failed, according to the store. */
  isFailing: boolean
  /** Number of open overdue requests. While it is above 0 the endpoint is slow or silent. */
  overdueCount: number
}

export type Answer = 'fast' | 'slow' | 'none'

/**
 * @param account the reputation of its account
 * @param zone the reputation of its zone
 * @param oldestOverdueMs when the oldest overdue request of this node was sent; -Infinity: none is overdue
 * @param now store time, ms
 */
export function priorityOf(
  { lastAnswer, lastFastMs, isFailing, overdueCount }: AnswerHistory,
  account: Reputation,
  zone: Reputation,
  oldestOverdueMs: number,
  now: number,
): PriorityClass {
  if (overdueCount > 0) return lastAnswer === 'fast' || lastAnswer === 'slow' ? SLOW : SILENT
  if (lastAnswer === 'none') return SILENT
  if (lastAnswer === 'slow') return SLOW
  if (lastAnswer === 'fast' && now - lastFastMs <= TRUST_MS)
    return lastFastMs >= oldestOverdueMs ? FAST : TRUSTED
  if (isFailing || isDoubtfulZone(zone, now)) return SILENT
  return isDoubtfulAccount(account, now) && !isProvenZone(zone, now) ? DOUBTFUL : UNKNOWN
}

/** `sentMs` of a request that holds a slot and waits to be sent. */
export const NOT_SENT = Number.POSITIVE_INFINITY

/** One request in flight. */
export interface InFlightRequest<Endpoint> {
  readonly endpoint: Endpoint
  /** Store time at which it was sent, ms, or `NOT_SENT`. */
  sentMs: number
  /** The class in which it started. */
  readonly priority: PriorityClass
  /** Whether it is a probe: it uses no slot. */
  readonly isProbe: boolean
  hasEnded: boolean
  isOverdue: boolean
}

/** The requests in flight, in the order in which they were sent. */
interface InFlightRequests<Endpoint> {
  start(endpoint: Endpoint, priority: PriorityClass, isProbe?: boolean): InFlightRequest<Endpoint>
  /** It is sent now. */
  sent(request: InFlightRequest<Endpoint>, now: number): void
  /** Finds the requests that have become overdue since the last scan; calls back once for each. */
  scanOverdue(now: number, onOverdue: (request: InFlightRequest<Endpoint>) => void): void
  /** When the oldest overdue request was sent; -Infinity: none is overdue. */
  oldestOverdueMs(): number
  /** When the next request becomes overdue, if it is not answered before; `undefined`: none is in flight. */
  nextOverdueMs(): number | undefined
}

export function createInFlightRequests<Endpoint>(): InFlightRequests<Endpoint> {
  const young = createFifoQueue<InFlightRequest<Endpoint>>()
  const overdue = createFifoQueue<InFlightRequest<Endpoint>>()
  return {
    start: (endpoint, priority, isProbe = false) => ({
      endpoint,
      sentMs: NOT_SENT,
      priority,
      isProbe,
      hasEnded: false,
      isOverdue: false,
    }),
    sent(request, now) {
      request.sentMs = now
      young.push(request)
    },
    scanOverdue(now, onOverdue) {
      for (
        let first = young.peek();
        first && (first.hasEnded || now - first.sentMs >= OVERDUE_MS);
        first = young.peek()
      ) {
        young.shift()
        if (first.hasEnded) continue
        first.isOverdue = true
        overdue.push(first)
        onOverdue(first)
      }
    },
    oldestOverdueMs() {
      while (overdue.peek()?.hasEnded) overdue.shift()
      return overdue.peek()?.sentMs ?? Number.NEGATIVE_INFINITY
    },
    nextOverdueMs() {
      while (young.peek()?.hasEnded) young.shift()
      const first = young.peek()
      return first && first.sentMs + OVERDUE_MS
    },
  }
}
