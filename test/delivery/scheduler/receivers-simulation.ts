/**
 * A node's scheduler with simulated receivers: deliveries arrive at given times, requests are answered, refused or never
 * answered, in steps of manual time. Measures how long each delivery waits for its slot.
 */
import type { Caps } from '../../../src/delivery/scheduler/fair-queue.js'
import { type Answer, FAST_ANSWER_MS } from '../../../src/delivery/scheduler/priority.js'
import { createScheduler, type Scheduler } from '../../../src/delivery/scheduler/scheduler.js'

export const DEFAULT_CAPS: Caps = { perEndpoint: 10, perAccount: 100, perOrigin: 100, total: 500 }
const ATTEMPT_MS = 10_000
const STEP_MS = 5

export interface Receiver {
  readonly id: string
  readonly accountId: string
  readonly origin: string
  /** ms until it answers or fails; Infinity: it never does. May change during the simulation. */
  afterMs: number
  /** Whether it fails instead of answering. */
  readonly fails?: boolean
}

interface Request {
  readonly receiver: Receiver
  readonly request: ReturnType<Scheduler['start']>
  readonly startedMs: number
  readonly endMs: number
}

export function simulateReceivers(caps: Caps = DEFAULT_CAPS) {
  const scheduler = createScheduler(caps)
  const receivers = new Map<string, Receiver>()
  /** Arrival times of the deliveries that wait, by receiver. */
  const waiting = new Map<string, number[]>()
  const waits = new Map<string, number[]>()
  let inFlight: Request[] = []
  let maxInFlight = 0
  let now = 0

  const readyOf = ({ id, accountId, origin }: Receiver) => ({
    webhookId: id,
    accountId,
    origin,
    failing: false,
    dueMs: waiting.get(id)?.length ? waiting.get(id)![0] : undefined,
  })

  function endRequests(): void {
    const ended = inFlight.filter(({ endMs }) => endMs <= now)
    if (ended.length === 0) return
    inFlight = inFlight.filter(({ endMs }) => endMs > now)
    for (const { receiver, request, startedMs, endMs } of ended) {
      const isAnswered = !receiver.fails && endMs - startedMs < ATTEMPT_MS
      const answer: Answer = !isAnswered ? 'none' : endMs - startedMs <= FAST_ANSWER_MS ? 'fast' : 'slow'
      scheduler.recordAnswer(request, answer, now)
      scheduler.update(readyOf(receiver), scheduler.version())
      scheduler.end(request)
    }
  }

  function startRequests(): void {
    for (;;) {
      const free = caps.total - inFlight.length
      const selections = free > 0 ? scheduler.next(now, free) : []
      if (selections.length === 0) return
      const since = scheduler.version()
      for (const { webhookId, slots } of selections) {
        const receiver = receivers.get(webhookId)!
        for (const arrivedMs of waiting.get(webhookId)?.splice(0, slots) ?? []) {
          const request = scheduler.start(readyOf(receiver), false, now)
          const endMs = now + Math.min(receiver.afterMs, ATTEMPT_MS)
          inFlight.push({ receiver, request, startedMs: now, endMs })
          waits.set(webhookId, [...(waits.get(webhookId) ?? []), now - arrivedMs])
        }
      }
      maxInFlight = Math.max(maxInFlight, inFlight.length)
      const endpoints = selections.map(({ webhookId }) => readyOf(receivers.get(webhookId)!))
      scheduler.completeClaim(selections, endpoints, since)
    }
  }

  return {
    scheduler,
    now: () => now,
    inFlight: () => inFlight,
    maxInFlight: () => maxInFlight,
    /** A delivery for a receiver arrives. */
    deliver(receiver: Receiver) {
      receivers.set(receiver.id, receiver)
      const list = waiting.get(receiver.id)
      if (list) list.push(now)
      else waiting.set(receiver.id, [now])
      scheduler.update({ ...readyOf(receiver), dueMs: waiting.get(receiver.id)![0]! })
    },
    /** Lets time pass; `act` runs before every step. */
    run(ms: number, act: (now: number) => void = () => {}) {
      for (const until = now + ms; now < until; now += STEP_MS) {
        endRequests()
        act(now)
        startRequests()
      }
    },
    /** ms that the started deliveries to these receivers waited, and the age of those that have not started. */
    waitsOf(isCounted: (id: string) => boolean): readonly number[] {
      const started = [...waits].filter(([id]) => isCounted(id)).flatMap(([, list]) => list)
      const open = [...waiting].filter(([id]) => isCounted(id)).flatMap(([, list]) => list)
      return [...started, ...open.map((arrivedMs) => now - arrivedMs)]
    },
    /** Deliveries to these receivers that have started. */
    started: (isCounted: (id: string) => boolean) =>
      [...waits].filter(([id]) => isCounted(id)).reduce((sum, [, list]) => sum + list.length, 0),
  }
}
