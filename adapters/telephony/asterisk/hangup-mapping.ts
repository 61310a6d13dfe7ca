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
  const code = codeOf(leg, techCause)
  return { hangupCause: unansweredCause(leg, cause, code), code }
}

function unansweredCause(leg: Leg, cause: number, code: number | undefined): string {
  if (cause === ANSWERED_ELSEWHERE) return 'LOSE_RACE'
  if (code === 487 || leg.dialStatus === 'CANCEL') return 'ORIGINATOR_CANCEL'
  const rang = leg.ringingMs !== undefined
  if (!UNSPECIFIC_CAUSES.has(cause)) return causeOfRefusal(code ?? 0, rang, reasonHeader(cause))
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
 * Returns the status code on the wire. An inbound phone was sent that of the hangup. That of a dialled phone counts only
 * if the phone itself refused: when the switch gives up, its code (500, 480) was never on the wire.
 */
function codeOf(leg: Leg, techCause: number | undefined): number | undefined {
  const code = leg.direction === 'inbound' ? techCause : leg.refusalCode
  return code !== undefined && code >= 300 && code < 700 ? code : undefined
}

/** Formats a cause as a Reason header, which is what the shared table of all switches takes. */
function reasonHeader(cause: number): string {
  return `Q.850;cause=${cause}`
}
