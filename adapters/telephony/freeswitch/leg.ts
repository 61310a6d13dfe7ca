/** One leg of a call: the data kept from its first event, and the data that later events add. Pure. */

import type { AnsweredBy } from '../source/answerer.js'
import type { CallGroup } from '../source/call-group.js'
import type { Endpoint } from '../source/endpoint.js'
import type { PendingEvent } from '../source/mapped-events.js'
import type { CustomVariables } from './custom-variables.js'
import { readEndpoint } from './endpoint.js'
import type { EslEvent } from './event.js'
import {
  type Addresses,
  deriveAddresses,
  NO_ADDRESSES,
  type Parties,
  readAddresses,
  readParties,
} from './parties.js'

/** An open leg. */
export interface Leg {
  /** The id under which the leg is published; the switch may have renamed the leg since. */
  readonly callId: string
  /** The switch's run (`Core-UUID`). Run, id and creation time identify a leg uniquely: ids alone are reused. */
  readonly coreUuid: string
  readonly createdUs: number
  readonly direction: 'inbound' | 'outbound' | undefined
  /** The beginning of all its idempotency keys, once it has one: a number of 16 digits takes long to write. */
  keyPrefix?: string
  /** Half of a loopback pair. */
  readonly isInternal: boolean
  /** Id of the other half of the loopback pair. */
  readonly otherHalfUuid: string | undefined
  /** Whether the far end uses SIP: only such a leg has a SIP status code. */
  readonly isSip: boolean
  /** Names and numbers as they were when the leg began. */
  readonly parties: Parties
  addresses: Addresses
  endpoint: Endpoint | undefined
  answeredBy: AnsweredBy | undefined
  /** Its whole call; `since` is in microseconds. */
  group: CallGroup
  customVariables: CustomVariables
  accountId: string | undefined
  /** The problem "accountOf returned no string" is reported once per leg. */
  hasReportedBadAccountId: boolean
  /** 0: not answered, or the answer was not seen. */
  answeredUs: number
  /** The leg for which the switch dialled this one. */
  readonly originatorCallId: string | undefined
  /** The leg that this one is or was bridged with, or that originated it; for a phone always another phone. */
  otherLegCallId: string | undefined
  /** Maintained by `bridge-links.ts`. */
  readonly links: Links
  readonly hold: Hold
  /** How the other leg ended, while this one is open. */
  otherLegEnd: OtherLegEnd | undefined
  readonly notes: CallNotes
}

/** What later events of a leg need of its call. */
interface CallNotes {
  /** Whether a phone was dialled for it, directly or through loopback pairs. */
  hasDialledPhone: boolean
  wasBridged: boolean
  /** Whether it left a voicemail message. */
  hasLeftMessage: boolean
  /** The slot in which it is parked. */
  parkedSlot: string | undefined
  /** The slot in which it was parked for too long, until somebody answers it. */
  timedOutSlot: string | undefined
  /** The key of its last transfer. */
  transferKey: string | undefined
  /** Since when it waits in a queue, microseconds; 0: it does not. */
  queuedUs: number
  /** How long it has waited in the queue that it left last. */
  waitedSeconds: number | undefined
}

/** What a leg is bridged with now. */
interface Links {
  /** The leg directly beside it. */
  neighbour: Leg | undefined
  /** The leg that its last `channel_bridge` names; `undefined`: it is not bridged. */
  publishedCallId: string | undefined
  /** Whether half of a loopback pair is or was beside it last. */
  isBesideInternalLeg: boolean
  /** Number of bridges and unbridges that were received. */
  changes: number
}

/** Times are microseconds since the Unix epoch. */
interface Hold {
  /** When the hold began; 0: the leg is not held. */
  sinceUs: number
  /** When the last hold that has ended began. */
  endedUs: number
  /** Length of all earlier holds when this one began. */
  earlierUs: number
  /** An unhold that is published only if the leg continues, see `holds.ts`. */
  pendingUnhold: PendingEvent | undefined
  /** What a resync has found and is not published yet: the bridge of the leg comes first. */
  found: FoundHold | undefined
}

/** The hold of a leg in its channel data. Times are microseconds since the Unix epoch. */
export interface FoundHold {
  /** When the leg was held last. */
  readonly lastUs: number
  /** Whether it is held now. */
  readonly isHeld: boolean
  /** Length of all holds that have ended. */
  readonly earlierUs: number
  /** When the data were read. */
  readonly atUs: number
}

/** The end of the leg at the other end of the call. */
interface OtherLegEnd {
  readonly atUs: number
  /** Whether its phone hung up or refused. */
  readonly isByPhone: boolean
}

/** When the event was created, microseconds. The switch's clock for events advances in steps of about 20 ms. */
export function readEventTimeUs(event: EslEvent): number {
  return event.microseconds('Event-Date-Timestamp')
}

/** When the leg was created, microseconds. */
export function readCreatedUs(event: EslEvent): number {
  return event.microseconds('Caller-Channel-Created-Time')
}

/** When the leg was answered, microseconds; 0: not answered. */
export function readAnsweredUs(event: EslEvent): number {
  return event.microseconds('Caller-Channel-Answered-Time')
}

/** When the leg was last bridged, microseconds; 0: not since it was transferred. */
export function readBridgedUs(event: EslEvent): number {
  return event.microseconds('Caller-Channel-Bridged-Time')
}

/**
 * The current id of the leg for which a leg is dialled. An agent of a queue is dialled by the queue, which names the caller
 * in a variable (mod_callcenter, mod_fifo).
 */
export function readOriginatorUuid(event: EslEvent): string | undefined {
  const uuid = event.header('Other-Leg-Unique-ID')
  if (uuid !== undefined || event.header('Call-Direction') !== 'outbound') return uuid
  return event.header('variable_cc_member_session_uuid') ?? event.header('variable_fifo_bridge_uuid')
}

/**
 * The leg that an event describes.
 *
 * @param origin the leg that originated it, or the other half of its loopback pair, where that is open
 */
export function openLeg(
  event: EslEvent,
  callId: string,
  coreUuid: string,
  customVariables: CustomVariables,
  otherLegCallId: string | undefined,
  origin: Leg | undefined,
): Leg {
  const name = event.header('Channel-Name') ?? ''
  const direction = event.header('Call-Direction')
  const isInternal = isLoopbackName(name)
  const isSip = name.startsWith('sofia/')
  const parties = readParties(event, isInternal)
  const createdUs = readCreatedUs(event)
  const isDialled = direction === 'outbound' && event.header('Other-Type') !== 'originatee'
  return {
    callId,
    coreUuid,
    createdUs,
    direction: direction === 'inbound' || direction === 'outbound' ? direction : undefined,
    isInternal,
    otherHalfUuid: isInternal ? event.header('variable_other_loopback_leg_uuid') : undefined,
    isSip,
    parties,
    addresses: isInternal
      ? NO_ADDRESSES
      : isSip
        ? readAddresses(event, parties)
        : deriveAddresses(event, parties),
    endpoint: isInternal ? undefined : readEndpoint(event),
    answeredBy: undefined,
    group: origin?.group ?? { id: event.header('Channel-Call-UUID') ?? callId, since: createdUs },
    customVariables,
    accountId: undefined,
    hasReportedBadAccountId: false,
    answeredUs: 0,
    originatorCallId: isDialled ? otherLegCallId : undefined,
    otherLegCallId,
    links: { neighbour: undefined, publishedCallId: undefined, isBesideInternalLeg: false, changes: 0 },
    hold: { sinceUs: 0, endedUs: 0, earlierUs: 0, pendingUnhold: undefined, found: undefined },
    otherLegEnd: undefined,
    notes: {
      hasDialledPhone: false,
      wasBridged: false,
      hasLeftMessage: false,
      parkedSlot: undefined,
      timedOutSlot: undefined,
      transferKey: undefined,
      queuedUs: 0,
      waitedSeconds: undefined,
    },
  }
}

/** Whether a channel is half of a loopback pair. */
export function isLoopbackName(channelName: string | undefined): boolean {
  return channelName?.startsWith('loopback/') === true
}

/** Updates addresses that are missing or derived: outbound legs have them from the far end's first response on. */
export function updateAddresses(leg: Leg, event: EslEvent): void {
  if (leg.addresses.isFinal) return
  const before = leg.addresses
  const now = readAddresses(event, leg.parties)
  leg.addresses = {
    from: now.from ?? before.from,
    to: now.to ?? before.to,
    request: before.request ?? now.request,
    isFinal: now.isFinal,
  }
}
