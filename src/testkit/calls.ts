/** Generates an endless stream of call events: when calls begin, and their events merged in order of time. */
import { badOption } from './check-options.js'
import {
  type CallAccount,
  type CallEvent,
  type CallOutcome,
  type CallSummary,
  generateCall,
  generateTimeline,
  OUTCOME_WEIGHTS,
} from './generated-call.js'
import { type SeededRandom, seededRandom } from './random.js'
import { timeQueue } from './time-queue.js'

/** One event of a generated call. */
export interface TimedEvent {
  /** When it happens, Unix milliseconds; never less than that of the previous event. */
  readonly atMs: number
  /** The event as `hs.publish` accepts it. */
  readonly event: CallEvent
  /** Ground truth about its call; the same object for all events of a call. */
  readonly call: CallSummary
}

/** An endless stream of call events: `next` returns the next event of all calls together. */
export interface CallGenerator extends IterableIterator<TimedEvent, undefined> {
  /** The next event in order of time. Begins calls as needed. */
  next(): { done: false; value: TimedEvent }
  /** The remaining events of the calls that have begun. No call begins; the next one begins after these events. */
  drain(): readonly TimedEvent[]
}

/** Options of `callGenerator`. */
export interface CallOptions {
  /** The same seed generates the same calls. Required unless `random` is present. */
  readonly seed?: number | string | undefined
  /** Used instead of `seed`: draws come from its stream `calls`. */
  readonly random?: SeededRandom | undefined
  /** Accounts (or their ids) of the calls, each with the same probability. At least one. */
  readonly accounts: readonly (string | CallAccount)[]
  /** Mean number of calls that begin per second, over all accounts. Default is 1. */
  readonly callsPerSecond?: number | undefined
  /** The first call begins after this time, Unix milliseconds. Default is 2026-01-01T00:00:00Z. */
  readonly startMs?: number | undefined
  /** Weights of call outcomes. Default is 64 answered, 7 busy, 15 noAnswer, 10 cancelled, 4 declined. */
  readonly outcomes?: Readonly<Partial<Record<CallOutcome, number>>> | undefined
  /** Share of calls with a third, internal (loopback) leg, 0 to 1. Default is 0.1. */
  readonly internalShare?: number | undefined
  /** Median ringing time of answered calls, milliseconds. Default is 8,000. */
  readonly ringMedianMs?: number | undefined
  /** Mean talk time, milliseconds. Default is 150,000. */
  readonly talkMeanMs?: number | undefined
}

/**
 * Generates realistic call events lazily, in order of time, with the ground truth about each call.
 *
 * Calls begin as a Poisson process. Each has an inbound and an outbound leg, some an internal leg between them.
 * Each leg is created and destroyed, and may be answered, bridged and held in between.
 *
 * @throws `InvalidOption` without a seed or accounts, for a rate that is not above 0, or an unknown outcome
 * @example
 * const calls = callGenerator({ seed: 1, accounts: ['acme'] })
 * const { events, calls: truth } = takeCalls(calls, 10)
 * for (const { event } of events) await hs.publish(event)
 */
export function callGenerator(options: CallOptions): CallGenerator {
  const { callsPerSecond = 1, startMs = 1_767_225_600_000, internalShare = 0.1 } = options
  const { ringMedianMs = 8_000, talkMeanMs = 150_000, outcomes = OUTCOME_WEIGHTS } = options
  const accounts = options.accounts.map((account) =>
    typeof account === 'string' ? { id: account } : account,
  )
  if (accounts.length === 0) throw badOption('callGenerator', 'accounts', 'needs at least one account')
  if (!(callsPerSecond > 0)) throw badOption('callGenerator', 'callsPerSecond', 'must be above 0')
  const unknown = Object.keys(outcomes).find((outcome) => !(outcome in OUTCOME_WEIGHTS))
  if (unknown !== undefined)
    throw badOption('callGenerator', 'outcomes', `has the unknown outcome '${unknown}'`)
  if (options.seed === undefined && !options.random)
    throw badOption('callGenerator', 'seed', 'is required if random is absent')

  const random = options.random?.stream('calls') ?? seededRandom(options.seed!)
  const arrivals = random.stream('arrivals')
  // Stream names are part of what a seed means: they stay.
  const timelines = random.stream('courses')
  const parties = random.stream('people')
  const pending = timeQueue<TimedEvent>()
  const gapMs = () => arrivals.exponential(1000 / callsPerSecond)
  let started = 0
  let arrivalMs = startMs + gapMs()
  let lastMs = startMs

  const generator: CallGenerator = {
    next() {
      while (!(pending.firstMs() <= Math.floor(arrivalMs))) startCall()
      return { done: false, value: take() }
    },
    drain() {
      const remaining: TimedEvent[] = []
      while (pending.size > 0) remaining.push(take())
      // A Poisson process has no memory, so the wait for the next arrival can begin here.
      if (arrivalMs < lastMs) arrivalMs = lastMs + gapMs()
      return remaining
    },
    [Symbol.iterator]: () => generator,
  }
  return generator

  function startCall(): void {
    started += 1
    const account = parties.pick(accounts)
    const outcome = timelines.weighted(outcomes as Record<CallOutcome, number>)
    const timeline = generateTimeline(timelines, outcome, { ringMedianMs, talkMeanMs })
    const startedMs = Math.floor(arrivalMs)
    const { summary, events } = generateCall(parties, {
      number: started,
      account,
      startedMs,
      internalShare,
      timeline,
    })
    for (const event of events) pending.add({ atMs: event.timestampMs, event, call: summary })
    arrivalMs += gapMs()
  }

  function take(): TimedEvent {
    const first = pending.take()
    lastMs = first.atMs
    return first
  }
}

/**
 * Takes whole calls from a generator. No other call begins until the last of these events.
 *
 * @param count how many calls
 * @returns `events`: all events of the next `count` calls in order of time, including the remaining events of calls
 *   that had begun before; `calls`: the ground truth about the `count` calls, in the order in which they began
 */
export function takeCalls(
  generator: CallGenerator,
  count: number,
): { readonly events: readonly TimedEvent[]; readonly calls: readonly CallSummary[] } {
  const events: TimedEvent[] = []
  const calls = new Set<CallSummary>()
  while (calls.size < count) {
    const next = generator.next().value
    events.push(next)
    if (next.atMs === next.call.startedMs) calls.add(next.call)
  }
  events.push(...generator.drain())
  return { events, calls: [...calls] }
}
