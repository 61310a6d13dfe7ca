/** One leg of a call: the data kept from its first event, and the data that later events add. Pure. */

import type { PendingEvent } from '../source/mapped-events.js'
import { sipAddress, userAtRealm } from '../source/sip-address.js'
import type { CustomVariables } from './custom-variables.js'
import type { EslEvent } from './event.js'

/** An open leg. */
export interface Leg {
  /** The id under which the leg is published; the switch may have renamed the leg since. */
  readonly callId: string
  /** The switch's run (`Core-UUID`). Run, id and creation time identify a leg uniquely: ids alone are reused. */
  readonly coreUuid: string
  readonly createdUs: number
  readonly direction: 'inbound' | 'outbound' | undefined
  /** Half of a loopback pair. */
  readonly isInternal: boolean
  /** Whether the far end uses SIP: only such a leg has a SIP status code. */
  readonly isSip: boolean
  /**
   * Names and numbers of the first event: the switch swaps them later on legs that run a dial plan, and replaces them by
   * the other leg's after `uuid_bridge`.
   */
  readonly parties: Parties
  addresses: Addresses
  customVariables: CustomVariables
  accountId: string | undefined
  /** The problem "accountOf returned no string" is reported once per leg. */
  hasReportedBadAccountId: boolean
  /** 0: not answered, or the answer was not seen. */
  answeredUs: number
  /** The bridged leg, or the leg that originated this one. */
  otherLegCallId: string | undefined
  /** An unhold that is published only if the leg continues, see `resume` in mapping.ts. */
  pendingUnhold: PendingEvent | undefined
}

/** Names and numbers of the two parties. */
export interface Parties {
  readonly callerIdName: string | undefined
  readonly callerIdNumber: string | undefined
  readonly calleeIdName: string | undefined
  readonly calleeIdNumber: string | undefined
  /** The dialled number. */
  readonly destination: string | undefined
  /** The caller requests that the number be hidden. */
  readonly hidesNumber: boolean
}

/** SIP addresses, `user@realm`. */
export interface Addresses {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly request: string | undefined
}

/** Times of a leg, microseconds since the Unix epoch; 0: not yet. */
export interface Times {
  readonly answeredUs: number
  readonly ringingUs: number
  readonly hangupUs: number
}

const NO_ADDRESSES: Addresses = Object.freeze({ from: undefined, to: undefined, request: undefined })

/** The switch's placeholder for a callee without a name; after a transfer, also for a caller without one. */
const NAME_PLACEHOLDER = 'Outbound Call'

/** A time of the switch, microseconds since the Unix epoch; 0: none. */
export function parseMicroseconds(text: string | undefined): number {
  const us = Number(text ?? 0)
  return Number.isSafeInteger(us) && us > 0 ? us : 0
}

/** When the event was created, microseconds. The switch's clock for events advances in steps of about 20 ms. */
export function readEventTimeUs(event: EslEvent): number {
  return parseMicroseconds(event.header('Event-Date-Timestamp'))
}

/** When the leg was created, microseconds. */
export function readCreatedUs(event: EslEvent): number {
  return parseMicroseconds(event.header('Caller-Channel-Created-Time'))
}

/** When the leg was answered, microseconds; 0: not answered. */
export function readAnsweredUs(event: EslEvent): number {
  return parseMicroseconds(event.header('Caller-Channel-Answered-Time'))
}

/** The leg that an event describes. */
export function openLeg(
  event: EslEvent,
  callId: string,
  coreUuid: string,
  customVariables: CustomVariables,
  otherLegCallId: string | undefined,
): Leg {
  const name = event.header('Channel-Name') ?? ''
  const direction = event.header('Call-Direction')
  const isInternal = name.startsWith('loopback/')
  const parties = partiesOf(event, isInternal)
  return {
    callId,
    coreUuid,
    createdUs: readCreatedUs(event),
    direction: direction === 'inbound' || direction === 'outbound' ? direction : undefined,
    isInternal,
    isSip: name.startsWith('sofia/'),
    parties,
    addresses: isInternal ? NO_ADDRESSES : addressesOf(event, parties.hidesNumber),
    customVariables,
    accountId: undefined,
    hasReportedBadAccountId: false,
    answeredUs: 0,
    otherLegCallId,
    pendingUnhold: undefined,
  }
}

/** Adds addresses that are still missing: outbound legs have them from the far end's first response on. */
export function addMissingAddresses(leg: Leg, event: EslEvent): void {
  const { from, to, request } = leg.addresses
  if (from !== undefined && to !== undefined && request !== undefined) return
  if (!leg.isSip) return
  const now = addressesOf(event, leg.parties.hidesNumber)
  leg.addresses = { from: from ?? now.from, to: to ?? now.to, request: request ?? now.request }
}

/** The times of a leg at its end. */
export function timesOf(leg: Leg, event: EslEvent): Times {
  const time = (name: string) => parseMicroseconds(event.header(`Caller-Channel-${name}-Time`))
  return {
    answeredUs: leg.answeredUs,
    ringingUs: time('Progress') || time('Progress-Media'),
    hangupUs: time('Hangup') || readEventTimeUs(event),
  }
}

/**
 * Names and numbers. A caller who requests privacy (RFC 3323, `Caller-Privacy-Hide-…`) is left out: the switch shows the
 * asserted identity (RFC 3325), which is for trusted parties only. KAZOO replaces it by `anonymous`; these events leave
 * unknown values out.
 */
function partiesOf(event: EslEvent, isLoopback: boolean): Parties {
  const { header } = event
  const hidesName = header('Caller-Privacy-Hide-Name') === 'true'
  const hidesNumber = header('Caller-Privacy-Hide-Number') === 'true'
  const destination = header('Caller-Destination-Number')
  // On a loopback leg this header holds the name of its context.
  const callee = isLoopback ? undefined : header('Caller-Callee-ID-Number')
  return {
    callerIdName: hidesName ? undefined : withoutPlaceholder(header('Caller-Caller-ID-Name')),
    callerIdNumber: hidesNumber ? undefined : header('Caller-Caller-ID-Number'),
    calleeIdName: withoutPlaceholder(header('Caller-Callee-ID-Name')),
    calleeIdNumber: callee ?? destination,
    destination,
    hidesNumber,
  }
}

function withoutPlaceholder(name: string | undefined): string | undefined {
  return name === NAME_PLACEHOLDER ? undefined : name
}

function addressesOf({ header }: EslEvent, hidesNumber: boolean): Addresses {
  const from = parseAddress(header('variable_sip_from_uri'))
  return {
    // A caller who hides the number but sends the address in From (`Privacy: id`) has both hidden here.
    from: hidesNumber && !from?.startsWith('anonymous@') ? undefined : from,
    to: parseAddress(header('variable_sip_to_uri')),
    request: parseAddress(header('variable_sip_req_uri')),
  }
}

function parseAddress(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : userAtRealm(sipAddress(`sip:${uri}`))
}
