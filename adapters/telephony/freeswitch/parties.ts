/**
 * Names, numbers and SIP addresses of the two parties of a leg, as they were when the leg began. Pure.
 *
 * FreeSWITCH swaps the caller and the callee of a leg that it dialled once that leg runs a dial plan or an application
 * (`switch_channel_sort_cid`, which sets the flag that events show as `Channel-HIT-Dialplan`): after a REFER, a
 * `uuid_transfer -bleg` or an `originate … &park`. After `uuid_bridge` an inbound leg shows its partner's caller id.
 * A leg that is first seen after that (a resync, the `socket` application) gets its own parties back.
 */
import { sipAddress, userAtRealm } from '../source/sip-address.js'
import type { EslEvent } from './event.js'

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
  /** Whether `from` and `to` are those on the wire; before the far end's first response they are derived. */
  readonly isFinal: boolean
}

export const NO_ADDRESSES: Addresses = Object.freeze({
  from: undefined,
  to: undefined,
  request: undefined,
  isFinal: true,
})

/** The switch's placeholder for a callee without a name; after a transfer, also for a caller without one. */
const NAME_PLACEHOLDER = 'Outbound Call'

interface Party {
  readonly name: string | undefined
  readonly number: string | undefined
}

/**
 * Reads names and numbers. A caller who requests privacy (RFC 3323, `Caller-Privacy-Hide-…`) is left out: the switch shows
 * the asserted identity (RFC 3325), which is for trusted parties only. KAZOO replaces it by `anonymous`; these events
 * leave unknown values out.
 */
export function readParties(event: EslEvent, isLoopback: boolean): Parties {
  const shownCaller = {
    name: event.header('Caller-Caller-ID-Name'),
    number: event.header('Caller-Caller-ID-Number'),
  }
  const hidesName = event.header('Caller-Privacy-Hide-Name') === 'true'
  const hidesNumber = event.header('Caller-Privacy-Hide-Number') === 'true'
  // On a loopback leg the callee's number is the name of its context.
  const calleeNumber = isLoopback ? undefined : event.header('Caller-Callee-ID-Number')
  const shownCallee = { name: event.header('Caller-Callee-ID-Name'), number: calleeNumber }
  const shownDestination = event.header('Caller-Destination-Number')

  const isSwapped = !isLoopback && isSwappedLeg(event)
  const caller = isSwapped ? swappedCaller(event, shownCallee) : ownCaller(event, shownCaller)
  const callee = isSwapped ? shownCaller : shownCallee
  // A leg that runs a dial plan shows the number that it is transferred to.
  const destination = isSwapped ? (callee.number ?? shownDestination) : shownDestination
  const isOwnNumber = callee.number === caller.number && callee.number !== shownCaller.number
  return {
    callerIdName: hidesName ? undefined : displayNameOf(caller.name),
    callerIdNumber: hidesNumber ? undefined : caller.number,
    calleeIdName: isOwnNumber ? undefined : displayNameOf(callee.name),
    calleeIdNumber: isOwnNumber ? destination : (callee.number ?? destination),
    destination,
    hidesNumber,
  }
}

function isSwappedLeg(event: EslEvent): boolean {
  return event.header('Call-Direction') === 'outbound' && event.header('Channel-HIT-Dialplan') === 'true'
}

/** The caller of a swapped leg. FreeSWITCH 1.2 does not keep it as the callee, but in variables. */
function swappedCaller(event: EslEvent, shownCallee: Party): Party {
  if (shownCallee.number !== undefined) return shownCallee
  return {
    name: event.header('variable_pre_transfer_caller_id_name'),
    number:
      event.header('variable_pre_transfer_caller_id_number') ?? event.header('Caller-Orig-Caller-ID-Number'),
  }
}

/** The caller of a leg that is not swapped; `uuid_bridge` replaces the caller id of an inbound leg. */
function ownCaller(event: EslEvent, shown: Party): Party {
  const number = event.header('Caller-Orig-Caller-ID-Number')
  if (number === undefined || number === shown.number || event.header('Call-Direction') !== 'inbound')
    return shown
  return { name: event.header('Caller-Orig-Caller-ID-Name'), number }
}

/** A name without the placeholder, and without the backslashes that escape characters in SIP (RFC 3261, 25.1). */
export function displayNameOf(name: string | undefined): string | undefined {
  if (name === NAME_PLACEHOLDER) return undefined
  return name?.includes('\\') ? name.replace(/\\(.)/gs, '$1') : name
}

/**
 * Reads the addresses. A leg that the switch dials has only the request URI and the hosts of From and To until the far
 * end responds: their users are the caller's number and the user of the request URI.
 */
export function readAddresses(event: EslEvent, { hidesNumber, callerIdNumber }: Parties): Addresses {
  const request = addressOf(event.header('variable_sip_req_uri'))
  const from = addressOf(event.header('variable_sip_from_uri'))
  const to = addressOf(event.header('variable_sip_to_uri'))
  const isFinal = from !== undefined && to !== undefined && request !== undefined
  return {
    // A caller who hides the number but sends the address in From (`Privacy: id`) has both hidden here.
    from: hidesNumber
      ? withoutIdentity(from)
      : (from ?? addressAt(callerIdNumber, event.header('variable_sip_from_host'))),
    to: to ?? addressAt(userOf(request), event.header('variable_sip_to_host')) ?? request,
    request,
    isFinal,
  }
}

/**
 * The addresses of a leg without SIP (verto, FreeTDM, …): the two numbers, at the domain of the leg's user if the switch
 * knows one. They never change.
 */
export function deriveAddresses(
  event: EslEvent,
  { hidesNumber, callerIdNumber, destination }: Parties,
): Addresses {
  const host =
    event.header('variable_verto_host') ??
    event.header('variable_dialed_domain') ??
    event.header('variable_domain_name')
  const addressOfNumber = (number: string | undefined) =>
    number === undefined || number.includes('@') || host === undefined ? number : addressAt(number, host)
  // The endpoint `user/…` dials a connection of the user, whose id is the destination then.
  const to = addressOfNumber(event.header('variable_dialed_user') ?? destination)
  return { from: hidesNumber ? undefined : addressOfNumber(callerIdNumber), to, request: to, isFinal: true }
}

function withoutIdentity(from: string | undefined): string | undefined {
  return from?.startsWith('anonymous@') ? from : undefined
}

/** @param host may have a port, which an address in an event has not */
function addressAt(user: string | undefined, host: string | undefined): string | undefined {
  if (user === undefined || user === '' || host === undefined) return undefined
  return userAtRealm({ user, domain: sipAddress(`sip:${host}`)?.domain ?? '' })
}

/** An address that is written as it is published. */
const SIMPLE_ADDRESS = /^[\w.+-]+@[\da-z.-]+$/

function addressOf(uri: string | undefined): string | undefined {
  if (uri === undefined || SIMPLE_ADDRESS.test(uri)) return uri
  return userAtRealm(sipAddress(`sip:${uri}`))
}

function userOf(address: string | undefined): string | undefined {
  return address?.includes('@') ? address.slice(0, address.lastIndexOf('@')) : undefined
}
