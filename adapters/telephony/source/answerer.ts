/** Who answered a call, decided alike for every switch with legs. Pure. */
import type { PendingEvent } from './mapped-events.js'
import type { readSaved, SavedValues } from './open-leg-state.js'

/** The party that answered, in the events of a leg. */
export type AnsweredBy = NonNullable<PendingEvent['answeredBy']>

/** A leg of which it is noted who answered. */
interface AnsweredLeg {
  readonly direction: 'inbound' | 'outbound' | undefined
  /** Whether it has no phone. */
  readonly isInternal: boolean
  answeredBy: AnsweredBy | undefined
}

/** How a switch's legs are read. */
interface LegReader<Leg> {
  readonly isAnswered: (leg: Leg) => boolean
  /** When it began, in any unit. */
  readonly beganAt: (leg: Leg) => number
  /** The party whose phone the leg leads to. */
  readonly partyOf: (leg: Leg) => AnsweredBy
}

/** The fields that name the callee. */
type CalleeFields = {
  -readonly [Name in 'answeredBy' | 'calleeIdNumber' | 'calleeIdName']?: PendingEvent[Name]
}

/** Creates the function that notes on two legs that are connected, or may be, who answered the call of each. */
export function createAnswererNotes<Leg extends AnsweredLeg>({
  isAnswered,
  beganAt,
  partyOf,
}: LegReader<Leg>) {
  /**
   * A leg that the switch dialled was answered by its own phone, another one by the leg that it is connected with. Of two legs
   * that phones began, the later one answered: it picked the call up.
   */
  const answererOf = (leg: Leg, other: Leg | undefined): Leg | undefined => {
    if (leg.direction !== 'inbound') return leg
    if (other?.direction !== 'inbound') return other
    return beganAt(leg) <= beganAt(other) ? other : leg
  }
  const note = (leg: Leg, other: Leg | undefined): void => {
    if (leg.isInternal || other?.isInternal) return
    const answerer = answererOf(leg, other)
    if (answerer && isAnswered(answerer)) leg.answeredBy = partyOf(answerer)
  }
  return (leg: Leg, other: Leg | undefined): void => {
    note(leg, other)
    if (other) note(other, leg)
  }
}

/** Returns a party without what is not known. */
export function partyWith(number: string | undefined, name: string | undefined, callId: string): AnsweredBy {
  return {
    ...(number === undefined ? {} : { number }),
    ...(name === undefined ? {} : { name }),
    callId,
  }
}

/** Adds the callee to an event: who answered, or where that is not known the one who was called. */
export function addCallee(
  event: CalleeFields,
  answeredBy: AnsweredBy | undefined,
  calledNumber: string | undefined,
  calledName: string | undefined,
): void {
  const isKnown = answeredBy?.number !== undefined
  const number = isKnown ? answeredBy.number : calledNumber
  const name = isKnown ? answeredBy.name : calledName
  if (number !== undefined) event.calleeIdNumber = number
  if (name !== undefined) event.calleeIdName = name
  if (answeredBy) event.answeredBy = answeredBy
}

/** Returns who answered as values of a stored leg. */
export function saveAnswerer(answeredBy: AnsweredBy | undefined): SavedValues {
  const { number, name, callId } = answeredBy ?? {}
  return { answererNumber: number, answererName: name, answererCallId: callId }
}

/** Returns who answered a stored leg; `undefined`: nobody did. */
export function readAnswerer({ text }: ReturnType<typeof readSaved>): AnsweredBy | undefined {
  const callId = text('answererCallId')
  return callId === undefined ? undefined : partyWith(text('answererNumber'), text('answererName'), callId)
}
