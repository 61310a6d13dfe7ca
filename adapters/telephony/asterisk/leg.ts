/** One leg as the mapping remembers it: the record of an open channel. */
import { idempotencyKey } from '../source/idempotency-key.js'
import { type ChannelName, channelName, isInternal } from './channel-name.js'
import { type Channel, DOWN, RINGING } from './happening.js'

/** What an event shows of the two parties: as they were when the leg was made known. */
export interface Parties {
  readonly callerNumber: string | undefined
  readonly callerName: string | undefined
  readonly calleeNumber: string | undefined
  readonly calleeName: string | undefined
  readonly realm: string | undefined
}

/** An open leg. Changed in place. */
export interface Leg extends ChannelName {
  readonly id: string
  /** The name with which it was opened; what takes its place in a call is renamed. */
  readonly firstName: string
  /** Of the switch itself: a Local half above all. */
  readonly isInternal: boolean
  readonly direction: 'inbound' | 'outbound'
  readonly createdMs: number
  /** The number and name that it had first: of a dialled phone its own. */
  readonly ownNumber: string | undefined
  readonly ownName: string | undefined
  /** As the newest message showed it. */
  channel: Channel
  accountId: string | undefined
  /** Once it is set, `channel_create` is published. */
  parties: Parties | undefined
  ringingMs: number | undefined
  answeredMs: number | undefined
  /** The leg that it dialled, that dialled it, or that it talked to: the last of them. */
  other: string | undefined
  /** How the last dialling ended, of it or by it. */
  dialStatus: string | undefined
  /** Its phone hung up or refused. */
  hasAsked: boolean
  /** The phone's own status code, when it refused. */
  askedCode: number | undefined
  /** The phone of the other leg hung up or refused. */
  hasOtherAsked: boolean
  isHeld: boolean
  bridge: string | undefined
  /** Whom its phone talks to: a leg, or a bridge of many. */
  partner: string | undefined
  /** The message that last moved it into or out of a bridge, counted. */
  movedAt: number
}

/** An id that Asterisk made, with its system name if it has one: its number is the second of its making. */
const MADE_ID = /^(?:.*-)?(\d{9,10})\.\d+$/

/** @param atMs when the message came from the switch, Unix milliseconds @param isBegin whether it told of its begin */
export function openLeg(channel: Channel, atMs: number, isBegin: boolean): Leg {
  const name = channelName(channel.name)
  const epoch = MADE_ID.exec(channel.id)?.[1]
  const earlier = epoch === undefined ? atMs : Math.min(atMs, Number(epoch) * 1000)
  return {
    technology: name.technology,
    endpoint: name.endpoint,
    ...(name.otherHalf === undefined ? {} : { otherHalf: name.otherHalf }),
    id: channel.id,
    firstName: channel.name,
    isInternal: isInternal(name.technology),
    direction: directionOf(channel),
    createdMs: channel.createdMs ?? (isBegin ? atMs : earlier),
    ownNumber: channel.callerNumber,
    ownName: channel.callerName,
    channel,
    accountId: undefined,
    parties: undefined,
    ringingMs: undefined,
    answeredMs: undefined,
    other: undefined,
    dialStatus: undefined,
    hasAsked: false,
    askedCode: undefined,
    hasOtherAsked: false,
    isHeld: false,
    bridge: undefined,
    partner: undefined,
    movedAt: 0,
  }
}

/**
 * Who dialled: a channel that begins as `Down` is made by the switch, one that begins as `Ring` came in. In the middle
 * of a call the application of a dialled channel tells (`AppDial`, `AppDial2`), where the message has it.
 */
function directionOf({ name, state, application }: Channel): 'inbound' | 'outbound' {
  if (name.startsWith('Local/')) return name.endsWith(';1') ? 'outbound' : 'inbound'
  const isMade = state === DOWN || state === RINGING || application?.startsWith('AppDial') === true
  return isMade ? 'outbound' : 'inbound'
}

/** The parties of a leg as it stands. */
export function partiesOf(leg: Leg, realm: string | undefined): Parties {
  const { channel, ownNumber, ownName } = leg
  if (leg.direction === 'inbound') {
    const calleeNumber = /^[sh]$/.test(channel.extension ?? 's') ? undefined : channel.extension
    return {
      callerNumber: channel.callerNumber,
      callerName: partyName(channel.callerName),
      calleeNumber,
      calleeName: undefined,
      realm,
    }
  }
  // A dialled phone's caller id is its own; a call of the switch itself replaces it with what the phone is to show.
  const isShown = channel.connectedNumber === undefined && channel.callerNumber !== ownNumber
  const dialled = leg.technology === 'Local' ? leg.endpoint.split('@', 1)[0] || undefined : ownNumber
  return {
    callerNumber: isShown ? channel.callerNumber : channel.connectedNumber,
    callerName: partyName(isShown ? channel.callerName : channel.connectedName),
    calleeNumber: dialled,
    calleeName: leg.technology === 'Local' ? undefined : partyName(ownName),
    realm,
  }
}

/** A display name without the backslashes of its SIP header, which Asterisk leaves in it (RFC 3261, 25.1). */
function partyName(raw: string | undefined): string | undefined {
  return raw?.includes('\\') ? raw.replace(/\\(.)/gs, '$1') : raw
}

/** What makes an event the one it is; ids that a host has chosen may come again, so their leg's time is part of it. */
export function keyOf(leg: Leg, ...what: readonly (string | number)[]): string {
  if (MADE_ID.test(leg.id)) return idempotencyKey(leg.id, ...what)
  return idempotencyKey(leg.id, Math.floor(leg.createdMs / 1000), ...what)
}
