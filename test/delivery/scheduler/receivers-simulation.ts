/**
 * A node's scheduler with simulated receivers: deliveries arrive at given times, requests are answered, refused or never
 * answered, in steps of manual time. Measures how long each delivery waits for its slot.
 */
import type { Caps } from '../../../src/delivery/scheduler/fair-queue.js'
import { type Answer, FAST_ANSWER_MS } from '../../../src/delivery/scheduler/priority.js'
import { createScheduler, type Scheduler } from '../../../src/delivery/scheduler/scheduler.js'

export const DEFAULT_CAPS: Caps = {
  perEndpoint: 10,
  perAccount: 100,
  perOrigin: 100,
  total: 500,
  probes: 1_000,
}
export const ATTEMPT_MS = 10_000
const STEP_MS = 5

export interface Receiver {
  readonly id: string
  readonly accountId: string
  readonly origin: string
  /** ms until it answers or fails; Infinity: it never does. */
  afterMs: number
  /** Whether it fails instead of answering. */
  fails?: boolean
}

export const list = <Item>(count: number, at: (index: number) => Item) =>
  Array.from({ length: count }, (_, n) => at(n))
export const isOf = (prefix: string) => (receiver: Receiver) => receiver.id.startsWith(prefix)
export const p99 = (sorted: readonly number[]) => sorted[Math.ceil(sorted.length * 0.99) - 1]!

/** Calls `act` with 0, 1, … at a rate. */
export function atRate(perSecond: number, act: (count: number) => void): (now: number) => void {
  let count = 0
  return (now) => {
    for (; count <= (now * perSecond) / 1000; count++) act(count)
  }
}

/** A request in flight. */
export interface SimulatedRequest {
  readonly receiver: Receiver
  readonly request: ReturnType<Scheduler['start']>
  readonly startedMs: number
}

/** @param onStart called after the requests of one selection have started, with them */
export function simulateReceivers(
  caps: Caps = DEFAULT_CAPS,
  onStart: (started: readonly SimulatedRequest[]) => void = () => {},
) {
  const scheduler = createScheduler(caps)
  const receivers = new Map<string, Receiver>()
  /** Arrival times of the deliveries that wait, by receiver. */
  const waiting = new Map<string, number[]>()
  /** How long started deliveries waited, ms, by receiver. */
  const waits = new Map<string, number[]>()
  let inFlight: SimulatedRequest[] = []
  let now = 0

  const readyOf = ({ id, accountId, origin }: Receiver) => {
    const dueMs = waiting.get(id)![0]
    const limit = Number.POSITIVE_INFINITY
    return { webhookId: id, accountId, origin, failing: false, probed: false, limit, dueMs }
  }

  function endRequests(): void {
    const isOver = ({ receiver, startedMs }: SimulatedRequest) =>
      now - startedMs >= Math.min(receiver.afterMs, ATTEMPT_MS)
    const ended = inFlight.filter(isOver)
    if (ended.length === 0) return
    inFlight = inFlight.filter((request) => !isOver(request))
    for (const { receiver, request, startedMs } of ended) {
      const tookMs = now - startedMs
      const isAnswered = !receiver.fails && tookMs < ATTEMPT_MS
      const answer: Answer = !isAnswered ? 'none' : tookMs <= FAST_ANSWER_MS ? 'fast' : 'slow'
      scheduler.recordAnswer(request, answer, now)
      scheduler.update(readyOf(receiver))
      scheduler.end(request, now)
    }
  }

  function start(receiver: Receiver, arrivedMs: number): SimulatedRequest {
    const request = scheduler.start(readyOf(receiver), now)
    scheduler.sent(request, now)
    waits.get(receiver.id)!.push(now - arrivedMs)
    return { receiver, request, startedMs: now }
  }

  function startRequests(): void {
    for (let free = caps.total - inFlight.length; free > 0; free = caps.total - inFlight.length) {
      const selections = scheduler.next(now, free)
      if (selections.length === 0) return
      const started = selections.flatMap(({ webhookId, slots }) =>
        waiting
          .get(webhookId)!
          .splice(0, slots)
          .map((arrivedMs) => start(receivers.get(webhookId)!, arrivedMs)),
      )
      inFlight.push(...started)
      onStart(started)
      for (const { webhookId } of selections) scheduler.update(readyOf(receivers.get(webhookId)!))
    }
  }

  return {
    scheduler,
    inFlight: () => inFlight,
    /** A delivery for a receiver arrives. */
    deliver(receiver: Receiver) {
      const { id } = receiver
      if (!receivers.has(id)) {
        receivers.set(id, receiver)
        waiting.set(id, [])
        waits.set(id, [])
      }
      waiting.get(id)!.push(now)
      scheduler.update(readyOf(receiver))
    },
    /** Lets time pass; `act` runs before every step. */
    run(ms: number, act: (now: number) => void = () => {}) {
      for (const until = now + ms; now < until; now += STEP_MS) {
        endRequests()
        act(now)
        startRequests()
      }
    },
    /** Receivers with deliveries that wait. */
    waiting: () => [...receivers.values()].filter(({ id }) => waiting.get(id)!.length > 0),
    /** Deliveries to a receiver that wait. */
    waitingOf: ({ id }: Receiver) => waiting.get(id)?.length ?? 0,
    /** How long the deliveries to some receivers waited, or have waited so far, ms; in ascending order. */
    waitsOf(isCounted: (receiver: Receiver) => boolean): readonly number[] {
      const all = [...receivers.values()]
        .filter(isCounted)
        .flatMap(({ id }) => [...waits.get(id)!, ...waiting.get(id)!.map((arrivedMs) => now - arrivedMs)])
      return all.sort((a, b) => a - b)
    },
  }
}
