import { HookswitchError } from '../errors.js'
import { type CallOutcome, drawCourse, OUTCOME_SHARES } from './call-course.js'
import type { CallEvent } from './call-legs.js'
import type { CallAccount } from './call-parties.js'
import { type CallSummary, planCall } from './call-plan.js'
import { type SeededRandom, seededRandom } from './random.js'
import { timeQueue } from './time-queue.js'

/** One thing that happens in a generated call. */
export interface TimedEvent {
  /** Unix milliseconds; never less than that of the one before. */
  readonly atMs: number
  /** What `hs.publish` takes. */
  readonly event: CallEvent
  /** The truth about the call that it belongs to; one object for all events of a call. */
  readonly call: CallSummary
}

/** Calls without end: each `next` gives the next event of all of them together. */
export interface CallGenerator extends IterableIterator<TimedEvent, undefined> {
  next(): { done: false; value: TimedEvent }
  /** No new call begins; the events that are left of those that have begun. The next call begins after them. */
  rest(): readonly TimedEvent[]
}

/** Options of `callGenerator`. */
export interface CallOptions {
  /** Same seed, same calls. This or `random` is required. */
  readonly seed?: number | string
  /** Draws from its stream `calls` instead. */
  readonly random?: SeededRandom
  /** The accounts (or their ids) in which calls happen, each as often as the others. */
  readonly accounts: readonly (string | CallAccount)[]
  /** Mean of the calls that begin in a second, in all accounts together; default 1. */
  readonly callsPerSecond?: number
  /** The first call begins after this moment, Unix milliseconds; default 2026-01-01T00:00:00Z. */
  readonly startMs?: number
  /** How calls end, as weights; default 64 answered, 7 busy, 15 noAnswer, 10 cancelled, 4 declined. */
  readonly outcomes?: Readonly<Partial<Record<CallOutcome, number>>>
  /** Part of the calls with a third, internal (loopback) leg; default 0.1. */
  readonly internalShare?: number
  /** Half of the answered calls ring shorter than this; default 8,000. */
  readonly ringMedianMs?: number
  /** Mean length of a talk; default 150,000. */
  readonly talkMeanMs?: number
}

/**
 * A lazy source of realistic call events, in order of time, with the truth about each call.
 *
 * Calls begin as a Poisson process. Each has two legs, inbound to the switch and outbound from it, sometimes an
 * internal one between them; each leg is created, perhaps answered, bridged, held, and destroyed.
 *
 * @throws `InvalidOption` without a seed, without accounts, a rate that is not above 0, an unknown outcome
 * @example
 * const calls = callGenerator({ seed: 1, accounts: ['acme'] })
 * const { events, calls: truth } = takeCalls(calls, 10)
 * for (const { event } of events) await hs.publish(event)
 */
export function callGenerator(options: CallOptions): CallGenerator {
  const { callsPerSecond = 1, startMs = 1_767_225_600_000, internalShare = 0.1 } = options
  const { ringMedianMs = 8_000, talkMeanMs = 150_000, outcomes = OUTCOME_SHARES } = options
  const accounts = options.accounts.map((account) =>
    typeof account === 'string' ? { id: account } : account,
  )
  if (accounts.length === 0) throw badOption('accounts', 'needs at least one account')
  if (!(callsPerSecond > 0)) throw badOption('callsPerSecond', 'must be above 0')
  const strange = Object.keys(outcomes).find((outcome) => !(outcome in OUTCOME_SHARES))
  if (strange !== undefined) throw badOption('outcomes', `knows no outcome ${strange}`)
  if (options.seed === undefined && !options.random)
    throw badOption('seed', 'is required where no random is given')

  const random = options.random?.stream('calls') ?? seededRandom(options.seed!)
  const arrivals = random.stream('arrivals')
  const courses = random.stream('courses')
  const people = random.stream('people')
  const pending = timeQueue<TimedEvent>()
  const gapMs = () => arrivals.exponential(1000 / callsPerSecond)
  let begun = 0
  let arrivalMs = startMs + gapMs()
  let lastMs = startMs

  const generator: CallGenerator = {
    next() {
      while (!(pending.firstMs() <= Math.floor(arrivalMs))) begin()
      return { done: false, value: take() }
    },
    rest() {
      const left: TimedEvent[] = []
      while (pending.size > 0) left.push(take())
      // Without memory: the wait for the next arrival may as well begin here.
      if (arrivalMs < lastMs) arrivalMs = lastMs + gapMs()
      return left
    },
    [Symbol.iterator]: () => generator,
  }
  return generator

  function begin(): void {
    begun += 1
    const account = people.pick(accounts)
    const outcome = courses.weighted(outcomes as Record<CallOutcome, number>)
    const course = drawCourse(courses, outcome, { ringMedianMs, talkMeanMs })
    const startedMs = Math.floor(arrivalMs)
    const { summary, events } = planCall(people, { number: begun, account, startedMs, internalShare, course })
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
 * The events of the next `count` calls of a generator to their end, in order of time (with what is left of calls
 * that had begun before), and the truth about those calls in the order in which they began. No other call begins
 * meanwhile; the generator goes on after the last of these events.
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
  events.push(...generator.rest())
  return { events, calls: [...calls] }
}

function badOption(field: string, rule: string): HookswitchError {
  return new HookswitchError('InvalidOption', `callGenerator: ${field} ${rule}`, { field })
}
