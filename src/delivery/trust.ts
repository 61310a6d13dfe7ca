import { createQueue } from '../values/queue.js'

/**
 * How far an endpoint is trusted with places. A receiver that does not answer holds its place until the deadline, so
 * those that may be such ones never get all places: some are left to receivers that do answer.
 */
export type Line =
  /** Has answered within `QUICK_MS` since the request was sent that waits longest for its answer. */
  | 0
  /** Nothing speaks for it or against it. */
  | 1
  /** Did not answer, or not quickly, when last asked. */
  | 2

export const PROMPT: Line = 0
export const UNKNOWN: Line = 1
export const HINDERED: Line = 2

/** An HTTP answer, whichever, within so long shows that a receiver is there. */
export const QUICK_MS = 2_000
/** A request that has waited so long for its answer is in doubt before it has ended. */
const OVERDUE_MS = 1_000

/** Most places of a cap that this line, with those less trusted, may hold: all, three quarters, half. */
export function shareOf(line: Line, cap: number): number {
  return line === PROMPT ? cap : Math.ceil(line === UNKNOWN ? (cap * 3) / 4 : cap / 2)
}

/** Requests in flight, and room given in the pick under way, by line. */
export interface Places {
  readonly inFlight: [number, number, number]
  readonly room: [number, number, number]
}

export function noPlaces(): Places {
  return { inFlight: [0, 0, 0], room: [0, 0, 0] }
}

/** How many a line, with those less trusted, holds. */
export function held({ inFlight, room }: Places, line: Line): number {
  let sum = 0
  for (let index: number = line; index < inFlight.length; index++) sum += inFlight[index]! + room[index]!
  return sum
}

/** Whether a line may hold one more: within its own share, and those of all that are trusted more. */
export function hasShare(places: Places, line: Line, cap: number): boolean {
  for (let more = line; ; more--) {
    if (held(places, more as Line) >= shareOf(more as Line, cap)) return false
    if (more === PROMPT) return true
  }
}

/** What is known of how an endpoint answers. */
export interface Manner {
  /** When it last answered quickly; -Infinity: never seen to. */
  promptMs: number
  /** Whether it was slow, or silent, when last asked; undefined: not asked by this node. */
  slow: boolean | undefined
  /** Whether its last attempt failed, as the store says. */
  failing: boolean
  /** Requests that wait for their answer too long: a few quick answers beside them prove nothing. */
  overdue: number
}

/** @param troubleMs when the request was sent that has waited longest, and too long, for its answer */
export function lineOf({ promptMs, slow, failing, overdue }: Manner, troubleMs: number): Line {
  if (overdue > 0 || (slow ?? failing)) return HINDERED
  return promptMs >= troubleMs && promptMs !== Number.NEGATIVE_INFINITY ? PROMPT : UNKNOWN
}

/** One request in flight. */
export interface Flight<Endpoint> {
  readonly endpoint: Endpoint
  readonly startedMs: number
  isOver: boolean
  isOverdue: boolean
}

/** The requests in flight in the order in which they began, and since when something is wrong among them. */
export interface Flights<Endpoint> {
  begin(endpoint: Endpoint, now: number): Flight<Endpoint>
  /** Looks for requests that have become overdue; tells each once. */
  look(now: number, overdue: (endpoint: Endpoint) => void): void
  /** When the oldest overdue request was sent; -Infinity: none is. */
  troubleMs(): number
}

export function createFlights<Endpoint>(): Flights<Endpoint> {
  const young = createQueue<Flight<Endpoint>>()
  const old = createQueue<Flight<Endpoint>>()
  return {
    begin(endpoint, now) {
      const flight = { endpoint, startedMs: now, isOver: false, isOverdue: false }
      young.push(flight)
      return flight
    },
    look(now, overdue) {
      for (
        let first = young.peek();
        first && (first.isOver || now - first.startedMs > OVERDUE_MS);
        first = young.peek()
      ) {
        young.shift()
        if (first.isOver) continue
        first.isOverdue = true
        old.push(first)
        overdue(first.endpoint)
      }
    },
    troubleMs() {
      while (old.peek()?.isOver) old.shift()
      return old.peek()?.startedMs ?? Number.NEGATIVE_INFINITY
    },
  }
}
