/** Who answered a call, of FreeSWITCH's legs. */
import { type AnsweredBy, createAnswererNotes, partyWith } from '../source/answerer.js'
import type { EslEvent } from './event.js'
import type { Leg } from './leg.js'
import { displayNameOf } from './parties.js'

/** Returns the party whose phone a leg leads to. */
export const partyOf = ({ callId, direction, parties }: Leg): AnsweredBy =>
  direction === 'inbound'
    ? partyWith(parties.callerIdNumber, parties.callerIdName, callId)
    : partyWith(parties.calleeIdNumber, parties.calleeIdName, callId)

/** Notes on a leg, and on one that it is or may be connected with, who answered the call of each. */
export const noteAnswerer = createAnswererNotes<Leg>({
  isAnswered: ({ answeredUs }) => answeredUs > 0,
  beganAt: ({ createdUs }) => createdUs,
  partyOf,
})

/** Notes who answered on a leg that is bridged with one that is not open here. */
export function noteUnknownAnswerer(leg: Leg, otherUuid: string | undefined, bridge: EslEvent): void {
  const isAnswerer = leg.direction === 'inbound' && bridge.header('Other-Leg-Direction') === 'outbound'
  if (!isAnswerer || otherUuid === undefined) return
  if (bridge.microseconds('Other-Leg-Channel-Answered-Time') === 0) return
  const number = bridge.header('Other-Leg-Callee-ID-Number')
  leg.answeredBy = partyWith(number, displayNameOf(bridge.header('Other-Leg-Callee-ID-Name')), otherUuid)
}
