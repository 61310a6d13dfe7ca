/**
 * Maps the end of a leg to a hangup cause. No single field is sufficient: `Cause` is 16 on calls that were never
 * answered, 0 on ordinary hangups and 127 on a cancelled call; `DialStatus` is NOANSWER for a refusal, too. Pure.
 */
import { causeOfHangup, causeOfRefusal } from '../source/hangup-cause.js'
import type { Leg } from './leg.js'

/** Why a leg ended. */
export interface HangupResult {
  readonly hangupCause: string
  /** The final SIP status code of the leg's phone, where it is known. */
  readonly code: number | undefined
}

/** Q.850 causes without meaning for a call that was never answered. */
const UNSPECIFIC_CAUSES: ReadonlySet<number> = new Set([0, 16, 31, 127])
/** Q.850 23: the phone redirected the call. */
const REDIRECTION = 23
/** Q.850 34: no circuit available. */
const CONGESTION = 34
/** Q.850 26, "non-selected user clearing": another phone answered first. FreeSWITCH calls it LOSE_RACE. */
const ANSWERED_ELSEWHERE = 26

/**
 * Maps the end of a leg.
 *
 * @param cause the Q.850 cause of the hangup; 0: none
 * @param techCause the SIP status code of the hangup
 */
export function mapHangup(leg: Leg, cause: number, techCause: number | undefined): HangupResult {
  if (leg.answeredMs !== undefined) {
    return { hangupCause: causeOfHangup(reasonHeader(cause === 0 ? 16 : cause)), code: 200 }
  }
  const code = codeOf(leg, cause, techCause)
  const hangupCause = unansweredCause(leg, cause, code)
  if (!isDeclinedBySwitch(leg, cause, techCause)) return { hangupCause, code }
  return { hangupCause: hangupCause === 'NORMAL_UNSPECIFIED' ? 'CALL_REJECTED' : hangupCause, code: DECLINED }
}

/** Technologies that send a SIP status code. */
const SIP: ReadonlySet<string> = new Set(['PJSIP', 'SIP'])
/** The status code of a hangup whose cause has none: Asterisk does not report this code. */
const DECLINED = 603
/** Q.850 causes without a status code. */
const CAUSES_WITHOUT_CODE: ReadonlySet<number> = new Set([0, 16, 31])

/** Whether the switch hung up a call that was not answered, without a reason: `Hangup()`, or the end of its dial plan. */
function isDeclinedBySwitch(leg: Leg, cause: number, techCause: number | undefined): boolean {
  if (leg.direction !== 'inbound' || !SIP.has(leg.technology) || techCause !== undefined) return false
  return !leg.hasRequestedHangup && !leg.mayHaveMissedRequest && CAUSES_WITHOUT_CODE.has(cause)
}

function unansweredCause(leg: Leg, cause: number, code: number | undefined): string {
  if (leg.hasForwarded) return causeOfRefusal(0, false, reasonHeader(REDIRECTION))
  if (cause === ANSWERED_ELSEWHERE) return 'LOSE_RACE'
  if (code === 487 || leg.dialStatus === 'CANCEL') return 'ORIGINATOR_CANCEL'
  // The dial plan then ends with the congestion of a network, which it is not.
  if (leg.hasNotDialled && (cause === CONGESTION || UNSPECIFIC_CAUSES.has(cause)))
    return 'NO_ROUTE_DESTINATION'
  const rang = leg.ringingMs !== undefined
  const specific = specificCause(leg, cause, code)
  if (specific !== undefined) return causeOfRefusal(code ?? 0, rang, reasonHeader(specific))
  if (code !== undefined) return causeOfRefusal(code, rang)
  switch (leg.dialStatus) {
    case 'BUSY':
      return 'USER_BUSY'
    case 'CONGESTION':
      return 'NORMAL_CIRCUIT_CONGESTION'
    case 'CHANUNAVAIL':
      return 'DESTINATION_OUT_OF_ORDER'
    case 'NOANSWER':
      // Q.850: 19 is "no answer from user (user alerted)", 18 is "no user responding".
      return rang ? 'NO_ANSWER' : 'NO_USER_RESPONSE'
    default:
      return leg.hasRequestedHangup && leg.direction === 'inbound'
        ? 'ORIGINATOR_CANCEL'
        : 'NORMAL_UNSPECIFIED'
  }
}

/**
 * Returns the Q.850 cause with a meaning: that of the hangup request or of the hangup. Where they differ, one is derived
 * from the status code and the other is from the phone's Reason header, which knows more.
 */
function specificCause(leg: Leg, cause: number, code: number | undefined): number | undefined {
  const causes = [leg.requestedCause ?? 0, cause].filter((code) => !UNSPECIFIC_CAUSES.has(code))
  if (code === undefined) return causes.at(-1)
  const derived = causeOfRefusal(code, false)
  return causes.find((cause) => causeOfRefusal(0, false, reasonHeader(cause)) !== derived) ?? causes.at(-1)
}

/**
 * Returns the status code on the wire. An inbound phone was sent that of the hangup. That of a dialled phone counts only
 * if the phone itself refused: when the switch gives up, it derives a code (500, 480) from its cause, which was never on
 * the wire; without a cause it derives none.
 */
function codeOf(leg: Leg, cause: number, techCause: number | undefined): number | undefined {
  const ofPhone = leg.refusalCode ?? (cause === 0 ? techCause : undefined)
  const code = leg.direction === 'inbound' ? techCause : ofPhone
  return code !== undefined && code >= 300 && code < 700 ? code : undefined
}

/** Formats a cause as a Reason header, which is what the shared table of all switches takes. */
function reasonHeader(cause: number): string {
  return `Q.850;cause=${cause}`
}
