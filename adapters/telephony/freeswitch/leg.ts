/** One leg of a call, as the switch shows it: what is kept of its begin, and what an event says of it now. Pure. */

import type { ChannelDraft } from '../source/leg-news.js'
import { sipAddress, userAtRealm } from '../source/sip-address.js'
import type { CustomVariables } from './custom-variables.js'
import type { SwitchEvent } from './event.js'

/** An open leg. */
export interface Leg {
  /** The id it was published under; the switch may have renamed it since. */
  readonly callId: string
  /** The switch's run (`Core-UUID`) and the leg's begin: with its id they name it for ever. */
  readonly run: string
  readonly createdUs: number
  readonly direction: 'inbound' | 'outbound' | undefined
  /** One half of a loopback pair. */
  readonly isInternal: boolean
  /** Whether its far end speaks SIP: only such a leg has a SIP status code. */
  readonly isSip: boolean
  /** Those of its begin: they swap later on legs that run a dial plan, and become the partner's (`uuid_bridge`). */
  readonly parties: Parties
  addresses: Addresses
  custom: CustomVariables
  accountId: string | undefined
  /** `accountOf` has returned what is no text: told once. */
  isMistold: boolean
  /** 0: not answered, or not known to be. */
  answeredUs: number
  /** Its partner, or the leg that dialled it. */
  otherCallId: string | undefined
  /** A resume that may be one that the switch makes up when a leg on hold is hung up: the next event tells. */
  doubtful: ChannelDraft | undefined
}

/** The people of a call. */
export interface Parties {
  readonly callerIdName: string | undefined
  readonly callerIdNumber: string | undefined
  readonly calleeIdName: string | undefined
  readonly calleeIdNumber: string | undefined
  /** What was dialled. */
  readonly destination: string | undefined
  readonly hidesNumber: boolean
}

/** SIP addresses, `user@realm`. */
export interface Addresses {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly request: string | undefined
}

/** Times of a leg, microseconds; 0: not yet. */
export interface Times {
  readonly answeredUs: number
  readonly ringingUs: number
  readonly hangupUs: number
}

const NO_ADDRESSES: Addresses = Object.freeze({ from: undefined, to: undefined, request: undefined })

/** What the switch calls a callee, or after a transfer a caller, of whom it knows no name. */
const NO_NAME = 'Outbound Call'

/** A time of the switch, microseconds; 0: none. */
export function microseconds(text: string | undefined): number {
  const us = Number(text ?? 0)
  return Number.isSafeInteger(us) && us > 0 ? us : 0
}

/** When the event was made, microseconds. The switch's clock for it moves in steps of about 20 ms. */
export function happenedUs(event: SwitchEvent): number {
  return microseconds(event.header('Event-Date-Timestamp'))
}

/** When the leg began, microseconds. */
export function createdUs(event: SwitchEvent): number {
  return microseconds(event.header('Caller-Channel-Created-Time'))
}

/** When the leg was answered, microseconds. */
export function answeredUs(event: SwitchEvent): number {
  return microseconds(event.header('Caller-Channel-Answered-Time'))
}

/** The leg that an event shows. */
export function openLeg(
  event: SwitchEvent,
  callId: string,
  run: string,
  custom: CustomVariables,
  otherCallId: string | undefined,
): Leg {
  const name = event.header('Channel-Name') ?? ''
  const direction = event.header('Call-Direction')
  const isInternal = name.startsWith('loopback/')
  const parties = partiesOf(event, isInternal)
  return {
    callId,
    run,
    createdUs: createdUs(event),
    direction: direction === 'inbound' || direction === 'outbound' ? direction : undefined,
    isInternal,
    isSip: name.startsWith('sofia/'),
    parties,
    addresses: isInternal ? NO_ADDRESSES : addressesOf(event, parties.hidesNumber),
    custom,
    accountId: undefined,
    isMistold: false,
    answeredUs: 0,
    otherCallId,
    doubtful: undefined,
  }
}

/** Outbound legs learn their addresses with the first answer of the phone; those once known stay. */
export function learnAddresses(leg: Leg, event: SwitchEvent): void {
  const { from, to, request } = leg.addresses
  if (from !== undefined && to !== undefined && request !== undefined) return
  if (!leg.isSip) return
  const now = addressesOf(event, leg.parties.hidesNumber)
  leg.addresses = { from: from ?? now.from, to: to ?? now.to, request: request ?? now.request }
}

/** The times that an event shows, with what is known already. */
export function timesOf(leg: Leg, event: SwitchEvent): Times {
  const time = (name: string) => microseconds(event.header(`Caller-Channel-${name}-Time`))
  return {
    answeredUs: leg.answeredUs,
    ringingUs: time('Progress') || time('Progress-Media'),
    hangupUs: time('Hangup') || happenedUs(event),
  }
}

/**
 * The people. A caller who asks to be hidden (RFC 3323, `Caller-Privacy-Hide-…`) is hidden here, too: the switch shows
 * the asserted identity (RFC 3325), which is for trusted parties alone. KAZOO makes it `anonymous`; what is not known is
 * left out in these events.
 */
function partiesOf(event: SwitchEvent, isLoopback: boolean): Parties {
  const { header } = event
  const hidesName = header('Caller-Privacy-Hide-Name') === 'true'
  const hidesNumber = header('Caller-Privacy-Hide-Number') === 'true'
  const destination = header('Caller-Destination-Number')
  // That of a loopback leg is the name of its context.
  const callee = isLoopback ? undefined : header('Caller-Callee-ID-Number')
  return {
    callerIdName: hidesName ? undefined : named(header('Caller-Caller-ID-Name')),
    callerIdNumber: hidesNumber ? undefined : header('Caller-Caller-ID-Number'),
    calleeIdName: named(header('Caller-Callee-ID-Name')),
    calleeIdNumber: callee ?? destination,
    destination,
    hidesNumber,
  }
}

function named(name: string | undefined): string | undefined {
  return name === NO_NAME ? undefined : name
}

function addressesOf({ header }: SwitchEvent, hidesNumber: boolean): Addresses {
  const from = address(header('variable_sip_from_uri'))
  return {
    // Who hides their number but shows their address (`Privacy: id`, a From that names them) hides both here.
    from: hidesNumber && !from?.startsWith('anonymous@') ? undefined : from,
    to: address(header('variable_sip_to_uri')),
    request: address(header('variable_sip_req_uri')),
  }
}

function address(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : userAtRealm(sipAddress(`sip:${uri}`))
}
