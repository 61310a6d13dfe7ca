/** Who answered a call, of Asterisk's legs. */
import { type AnsweredBy, createAnswererNotes, partyWith } from '../source/answerer.js'
import { type Leg, partyName } from './leg.js'

/** Notes on a leg, and on one that it is or may be connected with, who answered the call of each. */
export const noteAnswerer = createAnswererNotes<Leg>({
  isAnswered: ({ answeredMs }) => answeredMs !== undefined,
  beganAt: ({ createdMs }) => createdMs,
  partyOf,
})

/** The party of a leg. A call that is picked up has another phone: Asterisk renames its channel. */
function partyOf({ id, direction, originalName, channel, parties }: Leg): AnsweredBy {
  if (direction === 'inbound') return partyWith(parties?.callerNumber, parties?.callerName, id)
  return channel.name === originalName
    ? partyWith(parties?.calleeNumber, parties?.calleeName, id)
    : partyWith(channel.callerNumber, partyName(channel.callerName), id)
}
