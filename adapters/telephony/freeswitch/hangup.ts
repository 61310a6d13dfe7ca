/** How a leg ended: its cause, its SIP status code, and which end of it hung up. Pure. */
import type { EslEvent } from './event.js'
import { type Leg, readEventTimeUs } from './leg.js'

/** Which end ended a leg: its own phone, the other leg, or the switch by itself. */
type EndedBy = 'this_leg' | 'other_leg' | 'switch'

/** FreeSWITCH's name of the Q.850 cause 23. */
const REDIRECTED = 'REDIRECTION_TO_NEW_DESTINATION'
/** The cause of a dialled leg that has not answered when its caller leaves. */
const CANCELLED = 'ORIGINATOR_CANCEL'
/** The switch hangs up a leg within this time after the other leg, if that is the reason. */
const SAME_END_US = 1_000_000

/** The end of a leg. */
export interface Hangup {
  /** Microseconds since the Unix epoch. */
  readonly atUs: number
  readonly cause: string
  /** The final SIP status, such as `sip:486`. */
  readonly code: string | undefined
  readonly endedBy: EndedBy | undefined
}

/** Reads the last event of a leg. */
export function readHangup(leg: Leg, event: EslEvent): Hangup {
  const atUs = event.microseconds('Caller-Channel-Hangup-Time') || readEventTimeUs(event)
  const cause = event.header('Hangup-Cause') ?? event.header('variable_hangup_cause') ?? 'NORMAL_UNSPECIFIED'
  return { atUs, cause, code: sipCodeOf(leg, event, cause), endedBy: endedByOf(leg, event, cause, atUs) }
}

/**
 * The final SIP status, as far as it is known. An answered leg has 200, whatever an earlier callee replied; otherwise the
 * far end's code if it ended the leg, otherwise the code of the failed INVITE. A leg whose callee redirects has no status:
 * FreeSWITCH does not report the 3xx response, only the 487 that follows its own CANCEL.
 */
function sipCodeOf(leg: Leg, event: EslEvent, cause: string): string | undefined {
  if (!leg.isSip) return undefined
  if (leg.answeredUs > 0) return 'sip:200'
  if (isRedirected(leg, cause)) return undefined
  const farEndCode = event.header('variable_proto_specific_hangup_cause')
  if (farEndCode !== undefined && /^sip:\d{3}$/.test(farEndCode)) return farEndCode
  const inviteStatus = event.header('variable_sip_invite_failure_status')
  return inviteStatus !== undefined && /^\d{3}$/.test(inviteStatus) ? `sip:${inviteStatus}` : undefined
}

/**
 * Which end ended a leg; `undefined`: not known. `sip_hangup_disposition` (mod_sofia) shows whether the switch received the
 * BYE, CANCEL or refusal (`recv_…`) or sent it (`send_…`). It sends one because of the other leg, or by itself.
 */
function endedByOf(leg: Leg, event: EslEvent, cause: string, atUs: number): EndedBy | undefined {
  const disposition = leg.isSip ? event.header('variable_sip_hangup_disposition') : undefined
  if (disposition === undefined) return undefined
  if (disposition.startsWith('recv_')) {
    // A refusal that came from nowhere is the switch's own: the address did not answer.
    const isOwn = disposition === 'recv_refuse' && event.header('variable_sip_network_ip') === undefined
    return isOwn ? 'switch' : 'this_leg'
  }
  if (isRedirected(leg, cause)) return 'this_leg'
  const { otherLegEnd } = leg
  if (otherLegEnd)
    return otherLegEnd.isByPhone && atUs - otherLegEnd.atUs <= SAME_END_US ? 'other_leg' : 'switch'
  // A leg that still rings when its caller leaves, one of several perhaps; the switch shows the caller's code on one alone.
  if (cause === CANCELLED && leg.direction === 'outbound') return 'other_leg'
  // Set if the far end of the other leg ended that leg: 200 for its BYE, otherwise its refusal or CANCEL.
  const otherCode = event.header('variable_last_bridge_proto_specific_hangup_cause')
  if (otherCode !== undefined)
    return (otherCode === 'sip:200') === leg.answeredUs > 0 ? 'other_leg' : 'switch'
  // A loopback pair passes on no code.
  return leg.links.isBesideInternalLeg ? undefined : 'switch'
}

function isRedirected({ direction, answeredUs }: Leg, cause: string): boolean {
  return cause === REDIRECTED && direction === 'outbound' && answeredUs === 0
}
