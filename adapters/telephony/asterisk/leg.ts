/** The state of one leg, which is an open channel, and projections of it. */
import { idempotencyKey } from '../source/idempotency-key.js'
import { type ChannelName, isInternalTechnology, parseChannelName } from './channel-name.js'
import { type Channel, DOWN, RINGING } from './switch-event.js'

/** The two parties in the events of a leg, fixed at its `channel_create`. */
export interface Parties {
  readonly callerNumber: string | undefined
  readonly callerName: string | undefined
  readonly calleeNumber: string | undefined
  readonly calleeName: string | undefined
  readonly realm: string | undefined
}

/** An open leg. Mutable. */
export interface Leg extends ChannelName {
  /** The channel's `Uniqueid`. */
  readonly id: string
  /** The name at the first message; Asterisk renames a channel that takes the place of another. */
  readonly originalName: string
  /** Whether the channel belongs to the switch itself: usually a half of a Local channel. */
  readonly isInternal: boolean
  readonly direction: 'inbound' | 'outbound'
  /** Unix milliseconds, as are all times of a leg. */
  readonly createdMs: number
  /** The first caller id number and name; for a dialled phone its own. */
  readonly ownNumber: string | undefined
  readonly ownName: string | undefined
  /** The channel in the newest message. */
  channel: Channel
  accountId: string | undefined
  /** Set when `channel_create` is built. */
  parties: Parties | undefined
  ringingMs: number | undefined
  answeredMs: number | undefined
  /** The last leg that it dialled, that dialled it, or that it was bridged with. */
  otherLegId: string | undefined
  /** The result of the last dial, in either direction. */
  dialStatus: string | undefined
  /** Whether its phone hung up or refused. */
  hasRequestedHangup: boolean
  /** The status code with which the phone refused. */
  refusalCode: number | undefined
  /** Whether the phone of the other leg hung up or refused. */
  hasOtherRequestedHangup: boolean
  isHeld: boolean
  /** The bridge that it is in. */
  bridgeId: string | undefined
  /** The leg that it is bridged with; in a conference the bridge. */
  partnerId: string | undefined
  /** The step of the mapping in which it last entered or left a bridge. */
  lastMoveStep: number
}

/** An id that Asterisk generated, with its system name if it has one; the number is the Unix time in seconds. */
const GENERATED_ID = /^(?:.*-)?(\d{9,10})\.\d+$/

/**
 * Opens the leg of a channel.
 *
 * @param atMs the time of the message, Unix milliseconds
 * @param isBegin whether the message is the creation of the channel
 */
export function openLeg(channel: Channel, atMs: number, isBegin: boolean): Leg {
  const name = parseChannelName(channel.name)
  const epoch = GENERATED_ID.exec(channel.id)?.[1]
  const earlier = epoch === undefined ? atMs : Math.min(atMs, Number(epoch) * 1000)
  return {
    technology: name.technology,
    endpoint: name.endpoint,
    ...(name.otherHalf === undefined ? {} : { otherHalf: name.otherHalf }),
    id: channel.id,
    originalName: channel.name,
    isInternal: isInternalTechnology(name.technology),
    direction: directionOf(channel),
    createdMs: channel.createdMs ?? (isBegin ? atMs : earlier),
    ownNumber: channel.callerNumber,
    ownName: channel.callerName,
    channel,
    accountId: undefined,
    parties: undefined,
    ringingMs: undefined,
    answeredMs: undefined,
    otherLegId: undefined,
    dialStatus: undefined,
    hasRequestedHangup: false,
    refusalCode: undefined,
    hasOtherRequestedHangup: false,
    isHeld: false,
    bridgeId: undefined,
    partnerId: undefined,
    lastMoveStep: 0,
  }
}

/**
 * Returns who dialled: the switch creates a channel in state `Down`, an incoming call begins in state `Ring`. In the
 * middle of a call the application identifies a dialled channel (`AppDial`, `AppDial2`), where the message has it.
 */
function directionOf({ name, state, application }: Channel): 'inbound' | 'outbound' {
  if (name.startsWith('Local/')) return name.endsWith(';1') ? 'outbound' : 'inbound'
  const isDialled = state === DOWN || state === RINGING || application?.startsWith('AppDial') === true
  return isDialled ? 'outbound' : 'inbound'
}

/** Returns the current parties of a leg. */
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
  // The caller id of a dialled phone is its own; Originate replaces it with the number that the phone displays.
  const isReplaced = channel.connectedNumber === undefined && channel.callerNumber !== ownNumber
  const dialled = leg.technology === 'Local' ? leg.endpoint.split('@', 1)[0] || undefined : ownNumber
  return {
    callerNumber: isReplaced ? channel.callerNumber : channel.connectedNumber,
    callerName: partyName(isReplaced ? channel.callerName : channel.connectedName),
    calleeNumber: dialled,
    calleeName: leg.technology === 'Local' ? undefined : partyName(ownName),
    realm,
  }
}

/** Removes the backslashes of a quoted SIP display name, which Asterisk leaves in it (RFC 3261, 25.1). */
function partyName(raw: string | undefined): string | undefined {
  return raw?.includes('\\') ? raw.replace(/\\(.)/gs, '$1') : raw
}

/** Returns the idempotency key of an event. An id chosen by the host may be reused, so it is combined with the leg's time. */
export function eventKey(leg: Leg, ...parts: readonly (string | number)[]): string {
  if (GENERATED_ID.test(leg.id)) return idempotencyKey(leg.id, ...parts)
  return idempotencyKey(leg.id, Math.floor(leg.createdMs / 1000), ...parts)
}
