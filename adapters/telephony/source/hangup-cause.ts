/**
 * Hangup causes. The names are those of ITU-T Q.850 as FreeSWITCH and KAZOO spell them; which SIP status code means
 * which cause is the table of RFC 4497, 8.4.4, and for codes without a line there
 * (487, 488, 606) what FreeSWITCH says, since receivers of KAZOO's events know those.
 */

const BY_Q850: Readonly<Record<number, string>> = {
  1: 'UNALLOCATED_NUMBER',
  2: 'NO_ROUTE_TRANSIT_NET',
  3: 'NO_ROUTE_DESTINATION',
  16: 'NORMAL_CLEARING',
  17: 'USER_BUSY',
  18: 'NO_USER_RESPONSE',
  19: 'NO_ANSWER',
  20: 'SUBSCRIBER_ABSENT',
  21: 'CALL_REJECTED',
  22: 'NUMBER_CHANGED',
  25: 'EXCHANGE_ROUTING_ERROR',
  27: 'DESTINATION_OUT_OF_ORDER',
  28: 'INVALID_NUMBER_FORMAT',
  31: 'NORMAL_UNSPECIFIED',
  34: 'NORMAL_CIRCUIT_CONGESTION',
  38: 'NETWORK_OUT_OF_ORDER',
  41: 'NORMAL_TEMPORARY_FAILURE',
  42: 'SWITCH_CONGESTION',
  63: 'SERVICE_UNAVAILABLE',
  79: 'SERVICE_NOT_IMPLEMENTED',
  88: 'INCOMPATIBLE_DESTINATION',
  102: 'RECOVERY_ON_TIMER_EXPIRE',
  127: 'INTERWORKING',
}

const BY_SIP: Readonly<Record<number, string>> = {
  400: 'NORMAL_TEMPORARY_FAILURE',
  401: 'CALL_REJECTED',
  402: 'CALL_REJECTED',
  403: 'CALL_REJECTED',
  404: 'UNALLOCATED_NUMBER',
  405: 'SERVICE_UNAVAILABLE',
  406: 'SERVICE_NOT_IMPLEMENTED',
  407: 'CALL_REJECTED',
  408: 'RECOVERY_ON_TIMER_EXPIRE',
  410: 'NUMBER_CHANGED',
  413: 'INTERWORKING',
  414: 'INTERWORKING',
  415: 'SERVICE_NOT_IMPLEMENTED',
  416: 'INTERWORKING',
  420: 'INTERWORKING',
  421: 'INTERWORKING',
  423: 'INTERWORKING',
  480: 'NO_USER_RESPONSE',
  481: 'NORMAL_TEMPORARY_FAILURE',
  482: 'EXCHANGE_ROUTING_ERROR',
  483: 'EXCHANGE_ROUTING_ERROR',
  484: 'INVALID_NUMBER_FORMAT',
  485: 'UNALLOCATED_NUMBER',
  486: 'USER_BUSY',
  487: 'ORIGINATOR_CANCEL',
  488: 'INCOMPATIBLE_DESTINATION',
  500: 'NORMAL_TEMPORARY_FAILURE',
  501: 'SERVICE_NOT_IMPLEMENTED',
  502: 'NETWORK_OUT_OF_ORDER',
  503: 'NORMAL_TEMPORARY_FAILURE',
  504: 'RECOVERY_ON_TIMER_EXPIRE',
  505: 'INTERWORKING',
  513: 'INTERWORKING',
  600: 'USER_BUSY',
  603: 'CALL_REJECTED',
  604: 'UNALLOCATED_NUMBER',
  606: 'INCOMPATIBLE_DESTINATION',
}

/**
 * Why an unanswered call ended. A timeout (408) after the callee's phone had rung is Q.850's "no answer from user
 * (user alerted)". What a phone says in a Reason header is more exact than its status code, except 16, which is no
 * reason for a call that never began.
 */
export function causeOfRefusal(code: number, rang: boolean, reasonHeader?: string): string {
  const said = q850Of(reasonHeader)
  if (said !== undefined && said !== 16 && BY_Q850[said]) return BY_Q850[said]
  if (code === 408 && rang) return 'NO_ANSWER'
  return BY_SIP[code] ?? 'NORMAL_UNSPECIFIED'
}

/** Why an answered call ended: what the phone that hung up says, else a normal clearing. */
export function causeOfHangup(reasonHeader?: string): string {
  return BY_Q850[q850Of(reasonHeader) ?? 16] ?? 'NORMAL_CLEARING'
}

/** Why a call ended whose time was up: no phone hung up, the proxy's dialog timer ran out. */
export const CAUSE_OF_TIMER = 'RECOVERY_ON_TIMER_EXPIRE'

/** The Q.850 cause value in a Reason header (RFC 3326); other protocols in it, like SIP, say nothing new. */
function q850Of(reasonHeader: string | undefined): number | undefined {
  const unquoted = (reasonHeader ?? '').replace(/"(?:[^"\\]|\\.)*"/gs, '""')
  const match = /(?:^|,)\s*Q\.850\s*;[^,]*?\bcause\s*=\s*(\d{1,3})\b/i.exec(unquoted)
  return match ? Number(match[1]) : undefined
}
