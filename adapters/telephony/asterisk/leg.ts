/** The state of one leg, which is an open channel, and projections of it. */
import type { AnsweredBy } from '../source/answerer.js'
import type { CallGroup } from '../source/call-group.js'
import type { Endpoint } from '../source/endpoint.js'
import { idempotencyKey } from '../source/idempotency-key.js'
import { type ChannelName, isInternalTechnology, parseChannelName } from './channel-name.js'
import { type Channel, DOWN, RINGING } from './switch-event.js'

/** The two parties in the events of a leg, fixed at its `channel_create`. */
interface Parties {
  readonly callerNumber: string | undefined
  readonly callerName: string | undefined
  readonly calleeNumber: string | undefined
  readonly calleeName: string | undefined
  readonly realm: string | undefined
}

/** What reports of a leg leave behind for its later events. Mutable. */
export interface CallNotes {
  /** Whether it dialled a phone, directly or through Local channels. */
  hasDialledPhone: boolean
  /** Whether it left a voicemail message. */
  hasLeftMessage: boolean
  /** The mailbox whose messages it changed last. */
  mailbox: string | undefined
  /** How long it had waited in the queue that it left by hanging up. */
  abandonedAfterSeconds: number | undefined
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
  createdMs: number
  /** Whether `createdMs` is exact, to the second, or only when the leg was found. */
  createdAccuracy: 'exact' | 'estimate' | 'unknown'
  /** The first caller id number and name; for a dialled phone its own. */
  readonly ownNumber: string | undefined
  readonly ownName: string | undefined
  /** The channel in the newest message. */
  channel: Channel
  accountId: string | undefined
  /** Set when `channel_create` is built. */
  parties: Parties | undefined
  /** The endpoint in its events, set with the parties. */
  publishedEndpoint: Endpoint | undefined
  answeredBy: AnsweredBy | undefined
  group: CallGroup
  /** The number that the dial string named beside the endpoint. */
  dialledNumber: string | undefined
  ringingMs: number | undefined
  /** The time of its `channel_answer`. */
  answeredMs: number | undefined
  /** False: it was found answered, and `answeredMs` is when it was found. */
  isAnswerTimeKnown: boolean
  /** The latest partner: the dialled leg, the dialling leg, or the leg at the other end of the bridge. */
  otherLegId: string | undefined
  /** The last known phone behind `otherLegId`, which may be a half of a Local channel. */
  otherPhoneId: string | undefined
  /** The result of the last dial, in either direction. */
  dialStatus: string | undefined
  /** Whether its phone redirected the call. */
  hasForwarded: boolean
  /** Whether its phone hung up or refused. */
  hasRequestedHangup: boolean
  /** The Q.850 cause with which the phone hung up or refused. */
  requestedCause: number | undefined
  /** The status code with which the phone refused. */
  refusalCode: number | undefined
  /** Whether the phone of the other leg hung up or refused. */
  hasOtherRequestedHangup: boolean
  /** Whether a hangup request of either phone may have been missed: it was open while the source was not connected. */
  mayHaveMissedRequest: boolean
  isHeld: boolean
  /** The bridge that it is in. */
  bridgeId: string | undefined
  /** The leg that it is bridged with; in a conference the bridge. */
  partnerId: string | undefined
  /** The step of the mapping in which it last entered or left a bridge. */
  lastMoveStep: number
  /** The step of the mapping in which its hold last changed. */
  lastHoldStep: number
  /** The partners and bridges of its `channel_bridge` events. */
  readonly pastBridges: Set<string>
  readonly notes: CallNotes
}

/** An id that Asterisk generated, with its system name if it has one: the Unix time in seconds, and a counter. */
const GENERATED_ID = /^(?:.*-)?(\d{9,10})\.(\d+)$/

/**
 * Opens the leg of a channel.
 *
 * @param atMs the time of the message, Unix milliseconds
 * @param isBegin whether the message is the creation of the channel
 */
export function openLeg(channel: Channel, atMs: number, isBegin: boolean): Leg {
  const name = parseChannelName(channel.name)
  const begin = beginOf(channel, atMs, isBegin)
  return {
    technology: name.technology,
    endpoint: name.endpoint,
    ...(name.otherHalf === undefined ? {} : { otherHalf: name.otherHalf }),
    id: channel.id,
    originalName: channel.name,
    isInternal: isInternalTechnology(name.technology),
    direction: directionOf(channel),
    ...begin,
    ownNumber: channel.callerNumber,
    ownName: channel.callerName,
    channel,
    accountId: undefined,
    parties: undefined,
    publishedEndpoint: undefined,
    answeredBy: undefined,
    group: groupOf(channel.linkedId ?? channel.id, begin.createdMs),
    dialledNumber: undefined,
    ringingMs: undefined,
    answeredMs: undefined,
    isAnswerTimeKnown: true,
    otherLegId: undefined,
    otherPhoneId: undefined,
    dialStatus: undefined,
    hasForwarded: false,
    hasRequestedHangup: false,
    requestedCause: undefined,
    refusalCode: undefined,
    hasOtherRequestedHangup: false,
    mayHaveMissedRequest: !isBegin,
    isHeld: false,
    bridgeId: undefined,
    partnerId: undefined,
    lastMoveStep: 0,
    lastHoldStep: 0,
    pastBridges: new Set(),
    notes: {
      hasDialledPhone: false,
      hasLeftMessage: false,
      mailbox: undefined,
      abandonedAfterSeconds: undefined,
    },
  }
}

/** When a channel began. AMI reports that of a channel in mid-call in whole seconds: in its id, and as its age. */
function beginOf(
  channel: Channel,
  atMs: number,
  isBegin: boolean,
): Pick<Leg, 'createdMs' | 'createdAccuracy'> {
  const exactMs = channel.createdMs ?? (isBegin ? atMs : undefined)
  if (exactMs !== undefined) return { createdMs: exactMs, createdAccuracy: 'exact' }
  const epoch = GENERATED_ID.exec(channel.id)?.[1]
  if (epoch !== undefined) {
    return { createdMs: Math.min(atMs, Number(epoch) * 1000), createdAccuracy: 'estimate' }
  }
  if (channel.ageSeconds === undefined) return { createdMs: atMs, createdAccuracy: 'unknown' }
  return { createdMs: atMs - channel.ageSeconds * 1000, createdAccuracy: 'estimate' }
}

/** What distinguishes a channel from earlier and later ones with its id. */
export type ChannelIdentity = Pick<Leg, 'originalName' | 'createdMs'> & {
  readonly channel: Pick<Channel, 'name'>
}

/** AMI lists the age of a channel in whole seconds. */
const BEGIN_TOLERANCE_MS = 2_000
/**
 * A channel with the same name is the same channel unless it began this much later: names repeat after a restart of the
 * switch, and an age is compared with the clock of this machine, which may differ from that of the switch.
 */
const SAME_NAME_TOLERANCE_MS = 300_000

/**
 * Whether a channel that was created or listed is not `known`, but a later one with the same id. Only ids that the host
 * chose are used again. Names are unique within a run of Asterisk, but the same channel may be renamed.
 *
 * @param atMs the time of the message, Unix milliseconds
 * @param isBegin whether the message is the creation of the channel
 */
export function isLaterChannel(
  known: ChannelIdentity,
  channel: Channel,
  atMs: number,
  isBegin: boolean,
): boolean {
  if (GENERATED_ID.test(channel.id)) return false
  const { createdMs, createdAccuracy } = beginOf(channel, atMs, isBegin)
  if (createdAccuracy === 'unknown') return false
  const hasSameName = channel.name === known.originalName || channel.name === known.channel.name
  return createdMs - known.createdMs > (hasSameName ? SAME_NAME_TOLERANCE_MS : BEGIN_TOLERANCE_MS)
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
  const calleeNumber = calleeNumberOf(leg)
  return {
    callerNumber: isReplaced ? channel.callerNumber : channel.connectedNumber,
    callerName: partyName(isReplaced ? channel.callerName : channel.connectedName),
    calleeNumber,
    calleeName: calleeNumber === ownNumber ? partyName(ownName) : undefined,
    realm,
  }
}

/** The number that was dialled; where only an endpoint was, its own number, or its name. */
function calleeNumberOf({
  technology,
  endpoint,
  isInternal,
  dialledNumber,
  ownNumber,
}: Leg): string | undefined {
  if (technology === 'Local') return endpoint.split('@', 1)[0] || undefined
  return dialledNumber ?? ownNumber ?? (isInternal || endpoint === '' ? undefined : endpoint)
}

/** Removes the backslashes of a quoted SIP display name, which Asterisk leaves in it (RFC 3261, 25.1). */
export function partyName(raw: string | undefined): string | undefined {
  return raw?.includes('\\') ? raw.replace(/\\(.)/gs, '$1') : raw
}

/**
 * Returns the whole call with this id, a `Linkedid` or the id of its first leg. Its begin is exact enough to compare it with
 * that of others.
 *
 * @param createdMs when a leg of it began, for an id that the host chose
 */
export function groupOf(id: string, createdMs: number): CallGroup {
  const [, seconds, counter] = GENERATED_ID.exec(id) ?? []
  if (seconds === undefined) return { id, since: createdMs * 1000 }
  return { id, since: Number(seconds) * 1_000_000 + (Number(counter) % 1_000_000) }
}

/** Returns the idempotency key of an event. An id chosen by the host may be reused, so it is combined with the leg's time. */
export function eventKey(leg: Leg, ...parts: readonly (string | number)[]): string {
  if (GENERATED_ID.test(leg.id)) return idempotencyKey(leg.id, ...parts)
  return idempotencyKey(leg.id, Math.floor(leg.createdMs / 1000), ...parts)
}
