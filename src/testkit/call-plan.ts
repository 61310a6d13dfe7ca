import type { CallOutcome, Course } from './call-course.js'
import { type CallEvent, type Leg, type LegSummary, tellLeg } from './call-legs.js'
import { type CallAccount, drawCallId, drawParties } from './call-parties.js'
import type { SeededRandom } from './random.js'

/** The truth about one call, to compare with what was delivered. */
export interface CallSummary {
  /** 1, 2, 3, … in the order in which calls begin. */
  readonly number: number
  readonly accountId: string
  readonly outcome: CallOutcome
  /** Unix milliseconds of its first event. */
  readonly startedMs: number
  /** … and of its last. */
  readonly endedMs: number
  /** The caller's leg, the internal one where there is one, the called leg. */
  readonly legs: readonly LegSummary[]
}

/** One call with all its events, those of each leg in order. */
export interface PlannedCall {
  readonly summary: CallSummary
  readonly events: readonly CallEvent[]
}

/** Who takes part and over which legs, drawn from `random`, on the given course from `startedMs` on. */
export function planCall(
  random: SeededRandom,
  call: {
    readonly number: number
    readonly account: CallAccount
    readonly startedMs: number
    readonly internalShare: number
    readonly course: Course
  },
): PlannedCall {
  const { number, account, startedMs, course } = call
  const { caller, callee } = drawParties(random, account)
  const realm = account.realm ?? `${account.id}.example`
  const near = drawCallId(random, number, 'a', realm)
  const far = drawCallId(random, number, 'b', realm)
  const dialledMs = startedMs + course.dialledMs
  const endLagMs = (side: Leg['side']) => (course.endedBy === side ? 0 : random.integer(1, 20))

  const callerLeg: Leg = {
    callId: near,
    otherLegCallId: far,
    direction: 'inbound',
    internal: false,
    side: 'near',
    createdMs: startedMs,
    answerLagMs: random.integer(11, 20),
    endLagMs: endLagMs('near'),
  }
  const calledLeg: Leg = {
    callId: far,
    otherLegCallId: near,
    direction: 'outbound',
    internal: false,
    side: 'far',
    createdMs: dialledMs,
    answerLagMs: 0,
    endLagMs: endLagMs('far'),
  }
  const legs = random.chance(call.internalShare)
    ? [callerLeg, internalLeg(), calledLeg]
    : [callerLeg, calledLeg]

  const told = legs.map((leg) => tellLeg(leg, { startedMs, course, accountId: account.id, caller, callee }))
  const events = told.flatMap(({ events }) => events)
  const summary: CallSummary = {
    number,
    accountId: account.id,
    outcome: course.outcome,
    startedMs,
    endedMs: Math.max(...events.map((event) => event.timestampMs)),
    legs: told.map(({ summary }) => summary),
  }
  return { summary, events }

  /** Comes up between the two others and goes with them. */
  function internalLeg(): Leg {
    return {
      ...calledLeg,
      callId: `loopback-${drawCallId(random, number, 'i', realm)}`,
      internal: true,
      createdMs: startedMs + random.integer(1, course.dialledMs - 1),
      answerLagMs: random.integer(1, 10),
      endLagMs: random.integer(1, 20),
    }
  }
}
