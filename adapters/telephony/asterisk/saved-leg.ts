/** An open leg as it is kept in the store, see `source/open-legs.ts`. Pure. */
import { readAnswerer, saveAnswerer } from '../source/answerer.js'
import { readEndpoint, saveEndpoint } from '../source/endpoint.js'
import { readSaved, type SavedLeg, type SavedValues } from '../source/open-leg-state.js'
import { groupOf, type Leg, openLeg } from './leg.js'
import { type Channel, DOWN, UP } from './switch-event.js'

/**
 * Returns the leg for the store; `undefined`: its account is not known, or its `channel_create` is not built.
 *
 * @param variables the `customChannelVars` of its events
 */
export function saveLeg(leg: Leg, variables: SavedValues): SavedLeg | undefined {
  if (leg.accountId === undefined || !leg.parties) return undefined
  const { originalName: name, direction, createdMs, createdAccuracy, answeredMs, isAnswerTimeKnown } = leg
  const { otherLegId, otherPhoneId, dialStatus, hasForwarded, ringingMs, isHeld, notes, pastBridges } = leg
  return {
    accountId: leg.accountId,
    leg: {
      name,
      direction,
      createdMs,
      createdAccuracy,
      ringingMs,
      answeredMs,
      isAnswerTimeKnown,
      otherLegId,
      otherPhoneId,
      groupId: leg.group.id,
      dialStatus,
      hasForwarded,
      isHeld,
      // After a bridge the call is not missed; bridges are not stored.
      hasDialledPhone: notes.hasDialledPhone && pastBridges.size === 0,
      hasLeftMessage: notes.hasLeftMessage,
      isInQueue: notes.isInQueue,
    },
    parties: {
      ...leg.parties,
      ...saveAnswerer(leg.answeredBy),
      ...saveEndpoint(leg.publishedEndpoint),
    },
    variables,
  }
}

/**
 * Returns a stored leg; `undefined`: its values cannot be used. Its bridge is found again by the resync, under the key of
 * the bridge that was published.
 */
export function restoreLeg(id: string, saved: SavedLeg): Leg | undefined {
  const { text, number, flag } = readSaved(saved.leg)
  const parties = readSaved(saved.parties)
  const [name, direction, createdMs] = [text('name'), text('direction'), number('createdMs')]
  const accuracy = text('createdAccuracy')
  if (name === undefined || createdMs === undefined) return undefined
  if (direction !== 'inbound' && direction !== 'outbound') return undefined
  if (accuracy !== 'exact' && accuracy !== 'estimate' && accuracy !== 'unknown') return undefined
  const answeredMs = number('answeredMs')
  const channel = channelOf(id, name, answeredMs !== undefined, saved.variables)
  const leg = openLeg(channel, createdMs, true)
  leg.notes.hasDialledPhone = flag('hasDialledPhone')
  leg.notes.hasLeftMessage = flag('hasLeftMessage')
  leg.notes.isInQueue = flag('isInQueue')
  return Object.assign(leg, {
    direction,
    isDirectionKnown: true,
    createdMs,
    createdAccuracy: accuracy,
    accountId: saved.accountId,
    parties: {
      callerNumber: parties.text('callerNumber'),
      callerName: parties.text('callerName'),
      calleeNumber: parties.text('calleeNumber'),
      calleeName: parties.text('calleeName'),
      realm: parties.text('realm'),
    },
    publishedEndpoint: readEndpoint(parties),
    answeredBy: readAnswerer(parties),
    group: groupOf(text('groupId') ?? id, createdMs),
    ringingMs: number('ringingMs'),
    answeredMs,
    isAnswerTimeKnown: flag('isAnswerTimeKnown'),
    otherLegId: text('otherLegId'),
    otherPhoneId: text('otherPhoneId'),
    dialStatus: text('dialStatus'),
    hasForwarded: flag('hasForwarded'),
    isHeld: flag('isHeld'),
  })
}

/** The channel of a stored leg, until a message of the switch describes it. */
function channelOf(id: string, name: string, isAnswered: boolean, variables: SavedValues): Channel {
  const { text } = readSaved(variables)
  return {
    id,
    name,
    state: isAnswered ? UP : DOWN,
    protocolId: text('sip_call_id'),
    variable: text,
  }
}
