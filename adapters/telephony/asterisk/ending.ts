/**
 * Why a leg ended. No single field tells: `Cause` is 16 on calls that were never answered, 0 on ordinary hang-ups and
 * 127 on a cancelled call; `DialStatus` is NOANSWER also for a refusal. Together they do.
 */
import { causeOfHangup, causeOfRefusal } from '../source/hangup-cause.js'
import type { Leg } from './leg.js'

/** What an end is made of. */
export interface Ending {
  readonly hangupCause: string
  /** The final SIP status code of the leg's phone, where it is known. */
  readonly code: number | undefined
}

/** Causes that say nothing of a call that was never answered. */
const SAYS_NOTHING: ReadonlySet<number> = new Set([0, 16, 31, 127])
/** Q.850 26, "non-selected user clearing": another phone was faster. So FreeSWITCH calls it. */
const ANSWERED_ELSEWHERE = 26

/** @param cause `Cause` of the hangup @param techCause the status code beside it */
export function endingOf(leg: Leg, cause: number, techCause: number | undefined): Ending {
  if (leg.answeredMs !== undefined) {
    return { hangupCause: causeOfHangup(reason(cause === 0 ? 16 : cause)), code: 200 }
  }
  const code = codeOf(leg, techCause)
  return { hangupCause: unansweredCause(leg, cause, code), code }
}

function unansweredCause(leg: Leg, cause: number, code: number | undefined): string {
  if (cause === ANSWERED_ELSEWHERE) return 'LOSE_RACE'
  if (code === 487 || leg.dialStatus === 'CANCEL') return 'ORIGINATOR_CANCEL'
  const rang = leg.ringingMs !== undefined
  if (!SAYS_NOTHING.has(cause)) return causeOfRefusal(code ?? 0, rang, reason(cause))
  if (code !== undefined) return causeOfRefusal(code, rang)
  switch (leg.dialStatus) {
    case 'BUSY':
      return 'USER_BUSY'
    case 'CONGESTION':
      return 'NORMAL_CIRCUIT_CONGESTION'
    case 'CHANUNAVAIL':
      return 'DESTINATION_OUT_OF_ORDER'
    case 'NOANSWER':
      // Q.850 19 is "user alerted", 18 is no sign of life at all.
      return rang ? 'NO_ANSWER' : 'NO_USER_RESPONSE'
    default:
      return leg.hasAsked && leg.direction === 'inbound' ? 'ORIGINATOR_CANCEL' : 'NORMAL_UNSPECIFIED'
  }
}

/**
 * The status code that the phone saw. A phone that came in was sent the hangup's; a dialled one's counts only if the
 * phone itself refused: when the switch gives up, its code (500, 480) was never on the wire.
 */
function codeOf(leg: Leg, techCause: number | undefined): number | undefined {
  const code = leg.direction === 'inbound' ? techCause : leg.askedCode
  return code !== undefined && code >= 300 && code < 700 ? code : undefined
}

/** As a Reason header has it: one table for all switches. */
function reason(cause: number): string {
  return `Q.850;cause=${cause}`
}
