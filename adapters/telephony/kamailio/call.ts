/**
 * The state of one call as the proxy sees it, and how each line changes it. Knows nothing of other calls, of accounts or
 * of the clock.
 *
 * A proxy has one dialog for both parties, so a call is one `inbound` leg: the caller's. Its answer is also its bridge.
 * There is no second leg, no media, no name of the callee and no link between the two calls of a transfer.
 */

import { causeOfHangup, causeOfRefusal, TIMER_EXPIRY_CAUSE } from '../source/hangup-cause.js'
import { displayName, sipAddress, userAtRealm } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'
import { matchReinvite, type PendingReinvite } from './reinvite.js'

/** Who ended a call: the caller's phone, the callee's, or the proxy. The words are those of all sources. */
type EndedBy = 'this_leg' | 'other_leg' | 'switch'

/** A change of a call's state that is published. `atUs`: when it happened, microseconds since the Unix epoch. */
export type CallChange =
  | { readonly kind: 'answered'; readonly atUs: number }
  | {
      readonly kind: 'held' | 'resumed'
      readonly by: 'caller' | 'callee'
      /** CSeq of the re-INVITE. */
      readonly cseq: number
      readonly atUs: number
    }
  | {
      readonly kind: 'ended'
      readonly atUs: number
      readonly cause: string
      /** Final status of the INVITE; `undefined`: not seen. */
      readonly code: number | undefined
      readonly endedBy: EndedBy | undefined
      /** The end was missed: the call was open for longer than `maxCallMs`. */
      readonly foundBy?: 'timeout'
    }

/** Names, numbers and addresses of the two parties. */
interface Parties {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly request: string | undefined
  readonly callerIdName: string | undefined
  readonly callerIdNumber: string | undefined
  readonly calleeIdNumber: string | undefined
  /** The dialled number. */
  readonly originalNumber: string | undefined
}

/** An open call. Lines change it in place. */
export interface KamailioCall {
  readonly callId: string
  readonly parties: Parties
  /** The caller's tag; the dialog's where there is one, because a retried INVITE may have another tag. */
  callerTag: string | undefined
  /** CSeq of the previous call with the same Call-ID and tag; `undefined`: none is known. */
  readonly previousCseq: number | undefined
  /** Only the call's end was seen: `createdUs` is then the time of the answer or of the end. */
  readonly isEndOnly: boolean
  readonly createdUs: number
  accountId: string | undefined
  /** The problem "accountOf returned no string" is reported once per call. */
  hasReportedBadAccountId: boolean
  /** CSeq of the newest INVITE: 2 after an authentication. */
  cseq: number
  ringingUs: number | undefined
  answeredUs: number | undefined
  /** The proxy has created a dialog: from then on only lines of the dialog end the call. */
  hasDialog: boolean
  /** The last failure of all branches: it ends the call only if `dialog:failed` follows. */
  failure: { readonly code: number; readonly canceled: boolean } | undefined
  /** The caller was challenged or redirected (401, 407, 3xx) and has not sent a new INVITE yet. */
  pendingRetry: { readonly code: number; readonly atUs: number } | undefined
  /** Re-INVITEs of which only the request or the final reply has arrived, by the sender's tag. */
  readonly reinvites: Map<string, PendingReinvite>
  /** Tags of the parties that hold the call. */
  holders: readonly string[]
}

/**
 * The call that an initial INVITE opens.
 *
 * @param previousCseq CSeq of the previous call with the same Call-ID and tag
 */
export function openCall(line: KamailioLine, previousCseq?: number): KamailioCall {
  return createCall(line, line.timeUs, previousCseq, false)
}

/** A call of which only the end was seen, with what its dialog still shows. */
export function openEndedCall(line: KamailioLine): KamailioCall {
  const isFromCaller = !line.dummy && line.fromTag === line.dialog?.fromTag
  const begin = {
    ...line,
    fromDisplay: isFromCaller ? line.fromDisplay : undefined,
    toUri: line.dialog?.toUri,
    originalRequestUri: undefined,
  }
  return createCall(begin, dialogStartUs(line) ?? line.timeUs, undefined, true)
}

function createCall(
  line: KamailioLine,
  createdUs: number,
  previousCseq: number | undefined,
  isEndOnly: boolean,
): KamailioCall {
  const from = sipAddress(line.dialog?.fromUri ?? line.fromUri)
  const to = sipAddress(line.dialog?.toUri ?? line.toUri)
  const request = sipAddress(line.originalRequestUri ?? line.toUri)
  return {
    callId: line.callId,
    parties: {
      from: userAtRealm(from),
      to: userAtRealm(to),
      request: userAtRealm(request),
      callerIdName: displayName(line.fromDisplay),
      callerIdNumber: from?.user || undefined,
      calleeIdNumber: to?.user || undefined,
      originalNumber: request?.user || undefined,
    },
    callerTag: line.dialog?.fromTag ?? line.fromTag,
    previousCseq,
    isEndOnly,
    createdUs,
    accountId: undefined,
    hasReportedBadAccountId: false,
    cseq: line.cseq,
    ringingUs: undefined,
    answeredUs: undefined,
    hasDialog: false,
    failure: undefined,
    pendingRetry: undefined,
    reinvites: new Map(),
    holders: [],
  }
}

/** Applies one line to its call; returns the change to publish, if any. */
export function applyLine(call: KamailioCall, line: KamailioLine): CallChange | undefined {
  if (line.dialog) {
    call.hasDialog = true
    call.callerTag = line.dialog.fromTag ?? call.callerTag
  }
  switch (line.event) {
    case 'invite':
      if (line.cseq > call.cseq) {
        call.cseq = line.cseq
        call.pendingRetry = undefined
        if (!call.hasDialog) call.callerTag = line.fromTag ?? call.callerTag
      }
      return undefined
    case 'branch':
      // The proxy tries another target: the earlier failure does not end the call.
      call.failure = undefined
      return undefined
    case 'reply':
      applyReply(call, line)
      return undefined
    case 'failure':
      call.failure = { code: line.code ?? 408, canceled: line.canceled }
      return undefined
    case 'dialog:start':
      if (call.answeredUs !== undefined) return undefined
      call.answeredUs = line.timeUs
      return { kind: 'answered', atUs: line.timeUs }
    case 'reinvite_hold':
    case 'reinvite':
    case 'reinvite_reply':
      return applyReinvite(call, line)
    case 'sl:local-response':
      return applyLocalResponse(call, line)
    case 'dialog:failed':
      return endRefused(call, line)
    case 'dialog:end':
      return endHungUp(
        call,
        line,
        // Both phones have vanished, and the timer of the dialog has run out.
        line.dummy ? 'switch' : line.fromTag === call.callerTag ? 'this_leg' : 'other_leg',
      )
    case 'tm:local-request':
      // The proxy's own BYEs are the only trace of a call that it ends itself: no dialog:end follows.
      return line.method === 'BYE' ? endHungUp(call, line, 'switch') : undefined
    default:
      // bye follows dialog:end; a cancel may be overtaken by a 200; ack, refer and notify change no state.
      return undefined
  }
}

/** The end of a call whose caller was challenged or redirected and sent no new INVITE. */
export function endAbandoned({ code, atUs }: { readonly code: number; readonly atUs: number }): CallChange {
  return { kind: 'ended', atUs, code, cause: causeOfRefusal(code, false), endedBy: 'this_leg' }
}

/** The end of a call that has been open for longer than `maxCallMs`: its end was missed. */
export function endTimedOut({ answeredUs }: KamailioCall, atUs: number): CallChange {
  const code = answeredUs === undefined ? undefined : 200
  return { kind: 'ended', atUs, code, cause: TIMER_EXPIRY_CAUSE, endedBy: undefined, foundBy: 'timeout' }
}

function applyReply(call: KamailioCall, { code, timeUs }: KamailioLine): void {
  const isRinging = code !== undefined && code >= 180 && code < 190
  if (isRinging && call.answeredUs === undefined) call.ringingUs ??= timeUs
}

function applyReinvite(call: KamailioCall, line: KamailioLine): CallChange | undefined {
  const tag = line.fromTag ?? ''
  const completed = matchReinvite(call.reinvites, tag, line)
  const isHolding = call.holders.includes(tag)
  // A refused re-INVITE leaves the session unchanged (RFC 3261, 14.1).
  if (!completed || completed.code >= 300 || completed.hold === isHolding) return undefined
  call.holders = completed.hold
    ? [...call.holders, tag].slice(-2)
    : call.holders.filter((holder) => holder !== tag)
  const by = tag === call.callerTag ? 'caller' : 'callee'
  return { kind: completed.hold ? 'held' : 'resumed', by, cseq: line.cseq, atUs: line.timeUs }
}

/** A stateless reply ends a call without a dialog, unless it challenges or redirects the caller. */
function applyLocalResponse(call: KamailioCall, line: KamailioLine): CallChange | undefined {
  const code = line.code ?? 0
  if (call.hasDialog || code < 300 || line.cseq < call.cseq) return undefined
  if (code < 400 || code === 401 || code === 407) {
    // A retransmission must not postpone the end of an abandoned call.
    call.pendingRetry ??= { code, atUs: line.timeUs }
    return undefined
  }
  const cause = causeOfRefusal(code, false, line.reasonHeader)
  return { kind: 'ended', atUs: line.timeUs, cause, code, endedBy: 'switch' }
}

function endRefused(call: KamailioCall, line: KamailioLine): CallChange {
  // The dummy message of a timeout has no code; the preceding failure line has one. Without either it was a timeout.
  const code = (line.dummy ? undefined : line.code) ?? call.failure?.code ?? 408
  const hasRung = call.ringingUs !== undefined
  const cause = causeOfRefusal(code, hasRung, line.dummy ? undefined : line.reasonHeader)
  return { kind: 'ended', atUs: line.timeUs, cause, code, endedBy: refusedBy(call, line, code) }
}

/** Who refused a call. A refusal by a phone has its reply as message, one by the proxy or its timer has none. */
function refusedBy({ failure }: KamailioCall, { dummy }: KamailioLine, code: number): EndedBy {
  if (code === 487 || failure?.canceled) return 'this_leg'
  const isByProxy = dummy && (failure === undefined || failure.code === 408)
  return isByProxy ? 'switch' : 'other_leg'
}

function endHungUp(call: KamailioCall, line: KamailioLine, endedBy: EndedBy): CallChange {
  // If dialog:start was missed, the dialog's start in whole seconds is the best known answer time.
  call.answeredUs ??= dialogStartUs(line) ?? line.timeUs
  const cause = endedBy === 'switch' ? TIMER_EXPIRY_CAUSE : causeOfHangup(line.reasonHeader)
  return { kind: 'ended', atUs: line.timeUs, cause, code: 200, endedBy }
}

function dialogStartUs(line: KamailioLine): number | undefined {
  const seconds = line.dialog?.startSeconds
  return seconds === undefined ? undefined : Math.min(seconds * 1_000_000, line.timeUs)
}
