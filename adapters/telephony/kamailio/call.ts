/**
 * One call as the proxy sees it: a record, and what each line does to it. Nothing here knows of other calls, of accounts
 * or of the clock.
 *
 * A proxy has one dialog for both parties, so a call is one leg, `inbound`: the leg of the caller. Its answer is
 * its bridge. There is no second leg, no media, no name of the callee and no link between the two calls of a transfer.
 */

import { CAUSE_OF_TIMER, causeOfHangup, causeOfRefusal } from '../source/hangup-cause.js'
import { displayName, sipAddress, userAtRealm } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'
import { type Reinvite, settleReinvite } from './reinvite.js'

/** Who ended a call: `nobody` when both phones vanished and the proxy's timer removed the dialog in silence. */
export type EndedBy = 'caller' | 'callee' | 'proxy' | 'nobody'

/** What a line means for its call; `atUs` is when it happened. */
export type Happening =
  | { readonly kind: 'answered'; readonly atUs: number }
  | {
      readonly kind: 'held' | 'resumed'
      readonly by: 'caller' | 'callee'
      /** Of the re-INVITE. */
      readonly cseq: number
      readonly atUs: number
    }
  | {
      readonly kind: 'ended'
      readonly atUs: number
      readonly cause: string
      /** Final status of the INVITE; undefined: it was not heard of. */
      readonly code: number | undefined
      readonly endedBy: EndedBy | undefined
      /** Nobody told of the end: the call was open for too long. */
      readonly foundBy?: 'timeout'
    }

/** What an event shows of the two parties. */
export interface Parties {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly request: string | undefined
  readonly callerIdName: string | undefined
  readonly callerIdNumber: string | undefined
  readonly calleeIdNumber: string | undefined
  readonly originalNumber: string | undefined
}

/** An open call. Lines change it in place. */
export interface KamailioCall {
  readonly callId: string
  readonly parties: Parties
  /** Tag of the caller: of the dialog where there is one, for who is sent away may come again with another. */
  callerTag: string | undefined
  /** CSeq of the call before it that had the same Call-ID and tag; undefined: none is known. */
  readonly after: number | undefined
  /** Its begin was not heard, only its end: `createdUs` is then the answer, or the end. */
  readonly isEndOnly: boolean
  readonly createdUs: number
  accountId: string | undefined
  /** It is told once that `accountOf` gives what is no text. */
  hasToldOfNoText: boolean
  /** CSeq of the newest INVITE that opened it: 2 after an authentication. */
  cseq: number
  ringingUs: number | undefined
  answeredUs: number | undefined
  /** The proxy has made a dialog: from then on only the dialog's lines end the call. */
  hasDialog: boolean
  /** The last failure of all branches: an end only if `dialog:failed` follows. */
  failure: { readonly code: number; readonly canceled: boolean } | undefined
  /** Asked to come again with credentials or elsewhere (401, 407, 3xx), and has not yet. */
  sentAway: { readonly code: number; readonly atUs: number } | undefined
  /** Of which only one half has come, by the tag of who sent it. */
  readonly reinvites: Map<string, Reinvite>
  /** Tags of the parties who hold. */
  holders: readonly string[]
}

/**
 * The call that this line of an initial INVITE opens.
 *
 * @param after CSeq of the call before it with the same Call-ID and tag
 */
export function openCall(line: KamailioLine, after?: number): KamailioCall {
  return callOf(line, line.timeUs, after, false)
}

/** The call of which this line is all that is heard: its end. What is known of it is what its dialog says. */
export function unseenCall(line: KamailioLine): KamailioCall {
  const isOfCaller = !line.dummy && line.fromTag === line.dialog?.fromTag
  const begin = {
    ...line,
    fromDisplay: isOfCaller ? line.fromDisplay : undefined,
    toUri: line.dialog?.toUri,
    originalRequestUri: undefined,
  }
  return callOf(begin, startOf(line) ?? line.timeUs, undefined, true)
}

function callOf(
  line: KamailioLine,
  createdUs: number,
  after: number | undefined,
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
    after,
    isEndOnly,
    createdUs,
    accountId: undefined,
    hasToldOfNoText: false,
    cseq: line.cseq,
    ringingUs: undefined,
    answeredUs: undefined,
    hasDialog: false,
    failure: undefined,
    sentAway: undefined,
    reinvites: new Map(),
    holders: [],
  }
}

/** Applies one line to its call; what that means, if it is news. */
export function stepCall(call: KamailioCall, line: KamailioLine): Happening | undefined {
  if (line.dialog) {
    call.hasDialog = true
    call.callerTag = line.dialog.fromTag ?? call.callerTag
  }
  switch (line.event) {
    case 'invite':
      if (line.cseq > call.cseq) {
        call.cseq = line.cseq
        call.sentAway = undefined
        if (!call.hasDialog) call.callerTag = line.fromTag ?? call.callerTag
      }
      return undefined
    case 'branch':
      // The proxy tries elsewhere: what failed before is no end.
      call.failure = undefined
      return undefined
    case 'reply':
      rings(call, line)
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
      return reinvited(call, line)
    case 'sl:local-response':
      return refusedByProxy(call, line)
    case 'dialog:failed':
      return refused(call, line)
    case 'dialog:end':
      return hungUp(call, line, line.dummy ? 'nobody' : line.fromTag === call.callerTag ? 'caller' : 'callee')
    case 'tm:local-request':
      // The proxy's own BYEs are the only trace of a call that it ends itself: no dialog:end comes.
      return line.method === 'BYE' ? hungUp(call, line, 'proxy') : undefined
    default:
      // bye follows dialog:end; cancel is a wish that a 200 may overtake; ack, refer and notify change no state.
      return undefined
  }
}

/** The end of a call that was sent away and has not come again. */
export function gaveUp({ code, atUs }: { readonly code: number; readonly atUs: number }): Happening {
  return { kind: 'ended', atUs, code, cause: causeOfRefusal(code, false), endedBy: 'caller' }
}

/** The end of a call that has been open for too long: its own was missed. */
export function timedOut({ answeredUs }: KamailioCall, atUs: number): Happening {
  const code = answeredUs === undefined ? undefined : 200
  return { kind: 'ended', atUs, code, cause: CAUSE_OF_TIMER, endedBy: undefined, foundBy: 'timeout' }
}

function rings(call: KamailioCall, { code, timeUs }: KamailioLine): void {
  const isRinging = code !== undefined && code >= 180 && code < 190
  if (isRinging && call.answeredUs === undefined) call.ringingUs ??= timeUs
}

function reinvited(call: KamailioCall, line: KamailioLine): Happening | undefined {
  const tag = line.fromTag ?? ''
  const settled = settleReinvite(call.reinvites, tag, line)
  const isHolding = call.holders.includes(tag)
  // A refused one leaves the session as it was (RFC 3261, 14.1).
  if (!settled || settled.code >= 300 || settled.hold === isHolding) return undefined
  call.holders = settled.hold
    ? [...call.holders, tag].slice(-2)
    : call.holders.filter((holder) => holder !== tag)
  const by = tag === call.callerTag ? 'caller' : 'callee'
  return { kind: settled.hold ? 'held' : 'resumed', by, cseq: line.cseq, atUs: line.timeUs }
}

/** A stateless answer ends a call that has no dialog, unless it asks the caller to come again. */
function refusedByProxy(call: KamailioCall, line: KamailioLine): Happening | undefined {
  const code = line.code ?? 0
  if (call.hasDialog || code < 300 || line.cseq < call.cseq) return undefined
  if (code < 400 || code === 401 || code === 407) {
    // A retransmission must not put off its end.
    call.sentAway ??= { code, atUs: line.timeUs }
    return undefined
  }
  const cause = causeOfRefusal(code, false, line.reasonHeader)
  return { kind: 'ended', atUs: line.timeUs, cause, code, endedBy: undefined }
}

function refused(call: KamailioCall, line: KamailioLine): Happening {
  // The dummy message of a timeout has no code; the failure line before it has. Without either it was a timeout.
  const code = (line.dummy ? undefined : line.code) ?? call.failure?.code ?? 408
  const hasRung = call.ringingUs !== undefined
  const cause = causeOfRefusal(code, hasRung, line.dummy ? undefined : line.reasonHeader)
  const endedBy =
    code === 487 || call.failure?.canceled ? 'caller' : cause === 'NO_ANSWER' ? 'proxy' : undefined
  return { kind: 'ended', atUs: line.timeUs, cause, code, endedBy }
}

function hungUp(call: KamailioCall, line: KamailioLine, endedBy: EndedBy): Happening {
  // Its dialog:start was not seen: the dialog's whole seconds are better than nothing.
  call.answeredUs ??= startOf(line) ?? line.timeUs
  const cause =
    endedBy === 'caller' || endedBy === 'callee' ? causeOfHangup(line.reasonHeader) : CAUSE_OF_TIMER
  return { kind: 'ended', atUs: line.timeUs, cause, code: 200, endedBy }
}

function startOf(line: KamailioLine): number | undefined {
  const seconds = line.dialog?.startSeconds
  return seconds === undefined ? undefined : Math.min(seconds * 1_000_000, line.timeUs)
}
