/** The state of one leg, which is an open channel, and projections of it. */
import type { AnsweredBy } from '../source/answerer.js'
import type { CallGroup } from '../source/call-group.js'
import type { Endpoint } from '../source/endpoint.js'
import { idempotencyKey } from '../source/idempotency-key.js'
import { type ChannelName, isInternalChannel, parseChannelName } from './channel-name.js'
import {
  type Channel,
  DIALING,
  DIALING_OFF_HOOK,
  DOWN,
  OFF_HOOK,
  PRE_RING,
  RESERVED,
  RINGING,
  type SwitchEvent,
  UP,
} from './switch-event.js'

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
  /** The file of the recording that begins next, until it does. */
  recordingPath: string | undefined
  /** Its recordings that have not ended, oldest first. */
  readonly recordings: {
    readonly path: string | undefined
    readonly startedMs: number
    /** Whether the source has connected anew since: the recording may have ended meanwhile. */
    mayHaveEnded: boolean
  }[]
  /** The mailbox whose messages it changed last. */
  mailbox: string | undefined
  /** Whether it waits in a queue, which dials agents for it. */
  isInQueue: boolean
  /** How long it had waited in the queue that it left without an agent. */
  abandonedAfterSeconds: number | undefined
  /** The parking slot that it left when its time was over, until somebody answers it. */
  timedOutSlot: string | undefined
}

/** An open leg. Mutable. */
export interface Leg extends ChannelName {
  /** The channel's `Uniqueid`. */
  readonly id: string
  /** The name at the first message; Asterisk renames a channel that takes the place of another. */
  readonly originalName: string
  /** Whether the channel belongs to the switch itself: usually a half of a Local channel. */
  readonly isInternal: boolean
  /** Who dialled, or, while that is not known, what is likely. */
  direction: 'inbound' | 'outbound'
  isDirectionKnown: boolean
  /** Whether its `channel_create` has waited for a whole period. */
  hasWaited: boolean
  /** Unix milliseconds, as are all times of a leg. */
  createdMs: number
  /** Whether `createdMs` is exact, to the second, or only when the leg was found. */
  createdAccuracy: 'exact' | 'estimate' | 'unknown'
  /** The first caller id number and name; for a dialled phone its own. */
  readonly ownNumber: string | undefined
  readonly ownName: string | undefined
  /** The first account code; for a dialled phone its own. */
  firstAccountCode: string | undefined
  /** The last presentation of its caller id that was reported. */
  callerPresentation: number | undefined
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
  /** The legs that it has dialled and that are open. */
  readonly branches: Set<string>
  /** The leg that dialled it last. */
  diallerId: string | undefined
  /** Whether its last `Dial()` called nobody. */
  hasNotDialled: boolean
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
  const direction = directionOf(channel, isBegin)
  return {
    technology: name.technology,
    endpoint: name.endpoint,
    ...(name.otherHalf === undefined ? {} : { otherHalf: name.otherHalf }),
    ...(name.number === undefined ? {} : { number: name.number }),
    id: channel.id,
    originalName: channel.name,
    isInternal: isInternalChannel(name),
    direction: direction ?? likelyDirection(channel),
    isDirectionKnown: direction !== undefined,
    hasWaited: false,
    ...begin,
    ownNumber: channel.callerNumber,
    ownName: channel.callerName,
    firstAccountCode: undefined,
    callerPresentation: undefined,
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
    branches: new Set(),
    diallerId: undefined,
    hasNotDialled: false,
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
      recordingPath: undefined,
      recordings: [],
      mailbox: undefined,
      isInQueue: false,
      abandonedAfterSeconds: undefined,
      timedOutSlot: undefined,
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

/** The states of a channel that the switch dials. */
const DIALLED_STATES: ReadonlySet<number> = new Set([DIALING, DIALING_OFF_HOOK, RINGING])

/**
 * Returns who dialled; `undefined` while that is not known. An incoming call is in state `Ring`, a dialled one in state
 * `Ringing` or `Dialing`. A new channel in another state has the `Linkedid` of the channel that dials it. In the middle of a
 * call the application identifies a dialled channel (`AppDial`, `AppDial2`), where the message has it.
 */
export function directionOf(
  { id, name, state, application, linkedId }: Channel,
  isBegin: boolean,
): 'inbound' | 'outbound' | undefined {
  if (name.startsWith('Local/')) return name.endsWith(';1') ? 'outbound' : 'inbound'
  if (DIALLED_STATES.has(state) || application?.startsWith('AppDial') === true) return 'outbound'
  if (isBegin && linkedId !== undefined && linkedId !== id) return 'outbound'
  return state === DOWN || state === RESERVED ? undefined : 'inbound'
}

/** Who has dialled a channel of which nothing more becomes known: an analog phone that is off hook, or the switch. */
function likelyDirection({ state }: Channel): 'inbound' | 'outbound' {
  return state === RESERVED ? 'inbound' : 'outbound'
}

/** The states of an incoming call whose number is not dialled, or whose caller id is not received yet. */
const EARLY_STATES: ReadonlySet<number> = new Set([OFF_HOOK, PRE_RING])

/**
 * Events of a dialled leg before the begin of its dial, which has the dialled number: they do not publish its
 * `channel_create`. A quick refusal comes from another thread of Asterisk and may overtake that begin.
 */
const MAY_PRECEDE_DIAL: ReadonlySet<SwitchEvent['kind']> = new Set([
  'created',
  'updated',
  'dial_plan_step',
  'hangup_requested',
])
/** Events of an incoming call before its dial plan runs. */
const MAY_PRECEDE_DIAL_PLAN: ReadonlySet<SwitchEvent['kind']> = new Set(['created', 'updated'])

/** Whether the direction and the parties of a leg are known after an event of this kind. */
export function arePartiesKnown(leg: Leg, kind: SwitchEvent['kind']): boolean {
  const { channel, technology } = leg
  if (leg.direction === 'outbound' || !leg.isDirectionKnown || leg.isInternal) {
    return !MAY_PRECEDE_DIAL.has(kind) || (kind !== 'created' && channel.state === UP)
  }
  if (!MAY_PRECEDE_DIAL_PLAN.has(kind) || channel.state === UP) return true
  if (EARLY_STATES.has(channel.state)) return false
  // The caller id of an analog line is received between two rings.
  if (technology === 'DAHDI' && channel.callerNumber === undefined) return false
  // The first message of a channel may come before its presentation is set.
  return kind !== 'created' || channel.variable(CALLER_PRESENTATION)?.startsWith('allowed') !== true
}

const CALLER_PRESENTATION = 'CALLERID(num-pres)'
const CONNECTED_PRESENTATION = 'CONNECTEDLINE(num-pres)'

/** Whether a caller withholds the number: the presentation, where it is known, is not one of `allowed…`. */
function withholdsNumber({ channel, callerPresentation = 0 }: Leg): boolean {
  return isWithheld(channel, CALLER_PRESENTATION) || (callerPresentation & PRESENTATION_MASK) !== 0
}

/** The bits of a presentation that are 0 if the number may be shown. */
const PRESENTATION_MASK = 0x60

function isWithheld(channel: Channel, variable: string): boolean {
  return channel.variable(variable)?.startsWith('allowed') === false
}

/**
 * Returns the current parties of a leg. A caller who withholds the number has neither number nor name.
 *
 * @param dialler the leg that dials it
 */
export function partiesOf(leg: Leg, dialler: Leg | undefined, realm: string | undefined): Parties {
  const { channel, ownNumber, ownName } = leg
  if (leg.direction === 'inbound') {
    const calleeNumber = /^[sh]$/.test(channel.extension ?? 's') ? undefined : channel.extension
    return {
      ...callerOf(withholdsNumber(leg), channel.callerNumber, channel.callerName),
      calleeNumber,
      calleeName: undefined,
      realm,
    }
  }
  // The caller id of a dialled phone is its own; Originate replaces it with the number that the phone displays.
  const isReplaced = channel.connectedNumber === undefined && channel.callerNumber !== ownNumber
  const calleeNumber = calleeNumberOf(leg)
  const callee = {
    calleeNumber,
    calleeName: calleeNumber === ownNumber ? partyName(ownName) : undefined,
    realm,
  }
  if (isReplaced)
    return { ...callerOf(withholdsNumber(leg), channel.callerNumber, channel.callerName), ...callee }
  const isHidden =
    isWithheld(channel, CONNECTED_PRESENTATION) || (dialler !== undefined && withholdsNumber(dialler))
  return { ...callerOf(isHidden, channel.connectedNumber, channel.connectedName), ...callee }
}

function callerOf(
  isHidden: boolean,
  number: string | undefined,
  name: string | undefined,
): Pick<Parties, 'callerNumber' | 'callerName'> {
  return isHidden
    ? { callerNumber: undefined, callerName: undefined }
    : { callerNumber: number, callerName: partyName(name) }
}

/** The number that was dialled; where only an endpoint was, its own number, or its name. */
function calleeNumberOf({
  technology,
  endpoint,
  isInternal,
  dialledNumber,
  ownNumber,
  number,
}: Leg): string | undefined {
  if (technology === 'Local') return endpoint.split('@', 1)[0] || undefined
  return dialledNumber ?? ownNumber ?? number ?? (isInternal || endpoint === '' ? undefined : endpoint)
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
