/**
 * Maps Q.850 causes and SIP status codes to hangup causes. The names are those of ITU-T Q.850 as FreeSWITCH and KAZOO
 * spell them. SIP status codes map as in the table of RFC 4497, 8.4.4; codes without a row there (487, 488, 606) map as
 * in FreeSWITCH, because receivers of KAZOO's events know those names.
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
  23: 'REDIRECTION_TO_NEW_DESTINATION',
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
  300: 'REDIRECTION_TO_NEW_DESTINATION',
  301: 'REDIRECTION_TO_NEW_DESTINATION',
  302: 'REDIRECTION_TO_NEW_DESTINATION',
  305: 'REDIRECTION_TO_NEW_DESTINATION',
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
 * Returns the cause of a call that was not answered. A Q.850 cause in the phone's Reason header takes precedence over the
 * status code, except 16 (normal clearing), which is no reason for a call that was never answered. A timeout (408) after
 * ringing is Q.850's "no answer from user (user alerted)".
 *
 * @param code the final SIP status code
 * @param rang whether the callee's phone rang
 */
export function causeOfRefusal(code: number, rang: boolean, reasonHeader?: string): string {
  const q850 = q850Of(reasonHeader)
  if (q850 !== undefined && q850 !== 16 && BY_Q850[q850]) return BY_Q850[q850]
  if (code === 408 && rang) return 'NO_ANSWER'
  return BY_SIP[code] ?? 'NORMAL_UNSPECIFIED'
}

/** Returns the cause of an answered call: that of the Reason header of the phone that hung up, else normal clearing. */
export function causeOfHangup(reasonHeader?: string): string {
  return BY_Q850[q850Of(reasonHeader) ?? 16] ?? 'NORMAL_CLEARING'
}

/** The cause of a call that the dialog timer of the proxy ended, without a hangup by either phone. */
export const TIMER_EXPIRY_CAUSE = 'RECOVERY_ON_TIMER_EXPIRE'

/** Returns the Q.850 cause of a Reason header (RFC 3326); causes of other protocols, such as SIP, add nothing. */
function q850Of(reasonHeader: string | undefined): number | undefined {
  // A quoted text that does not end reaches to the end of the header.
  const unquoted = (reasonHeader ?? '').replace(/"(?:[^"\\]|\\.)*"?/gs, '""')
  const match = /(?:^|,)\s*Q\.850\s*;[^,]*?\bcause\s*=\s*(\d{1,3})\b/i.exec(unquoted)
  return match ? Number(match[1]) : undefined
}
