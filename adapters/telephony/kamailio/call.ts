/**
 * One call as the proxy sees it: a record, and what each line does to it. Pure: nothing here knows of other calls,
 * of accounts or of the clock.
 *
 * A proxy has one dialog for both parties, so a call is one leg, `inbound`: the leg of the caller. Its answer is
 * its bridge. There is no second leg, no media, no name of the callee and no link between the two calls of a transfer.
 */

import { CAUSE_OF_TIMER, causeOfHangup, causeOfRefusal } from '../source/hangup-cause.js'
import { displayName, sipAddress, userAtRealm } from '../source/sip-address.js'
import { type KamailioLine, present } from './line.js'

/** Who ended a call: `nobody` when both phones vanished and the proxy's timer removed the dialog in silence. */
export type EndedBy = 'caller' | 'callee' | 'proxy' | 'nobody'

/** What a line means for its call; `atUs` is when it happened. */
export type Happening =
  | { readonly kind: 'answered'; readonly atUs: number }
  | { readonly kind: 'held' | 'resumed'; readonly by: 'caller' | 'callee'; readonly atUs: number }
  | {
      readonly kind: 'ended'
      readonly atUs: number
      readonly cause: string
      /** Final status of the INVITE. */
      readonly code: number
      readonly endedBy?: EndedBy
    }

/** What an event shows of the two parties. */
export interface Parties {
  readonly from?: string
  readonly to?: string
  readonly request?: string
  readonly callerIdName?: string
  readonly callerIdNumber?: string
  readonly calleeIdNumber?: string
  readonly originalNumber?: string
}

/** A re-INVITE of one party of which only one half (request or final reply) has come. */
interface Reinvite {
  readonly cseq: number
  readonly hold?: boolean
  readonly code?: number
}

/** An open call. */
export interface KamailioCall {
  readonly callId: string
  readonly parties: Parties
  /** Tag of the caller. */
  readonly callerTag: string | undefined
  /** CSeq of the newest INVITE that opened it: 2 after an authentication. */
  readonly cseq: number
  readonly createdUs: number
  readonly ringingUs?: number
  readonly answeredUs?: number
  /** The proxy has made a dialog: from then on only the dialog's lines end the call. */
  readonly hasDialog: boolean
  /** The last failure of all branches: an end only if `dialog:failed` follows. */
  readonly failure?: { readonly code: number; readonly canceled: boolean }
  /** Asked to come again with credentials or elsewhere (401, 407, 3xx), and has not yet. */
  readonly sentAway?: { readonly code: number; readonly atUs: number }
  /** By the tag of who sent it. */
  readonly reinvites: Readonly<Record<string, Reinvite>>
  /** Tags of the parties who hold. */
  readonly holders: readonly string[]
}

/** The call that this line of an initial INVITE opens. */
export function openCall(line: KamailioLine): KamailioCall {
  const from = sipAddress(line.dialog?.fromUri ?? line.fromUri)
  const to = sipAddress(line.dialog?.toUri ?? line.toUri)
  const request = sipAddress(line.originalRequestUri ?? line.toUri)
  return {
    callId: line.callId,
    parties: present({
      from: userAtRealm(from),
      to: userAtRealm(to),
      request: userAtRealm(request),
      callerIdName: displayName(line.fromDisplay),
      callerIdNumber: from?.user || undefined,
      calleeIdNumber: to?.user || undefined,
      originalNumber: request?.user || undefined,
    }),
    callerTag: line.dialog?.fromTag ?? line.fromTag,
    cseq: line.cseq,
    createdUs: line.timeUs,
    hasDialog: false,
    reinvites: {},
    holders: [],
  }
}

/** What one line does to its call. A line that says nothing new returns the call as it was. */
export interface Step {
  readonly call: KamailioCall
  readonly happening?: Happening
}

/** Applies one line to its call. */
export function stepCall(before: KamailioCall, line: KamailioLine): Step {
  const call = line.dialog && !before.hasDialog ? { ...before, hasDialog: true } : before
  switch (line.event) {
    case 'invite':
      return line.cseq > call.cseq ? { call: withoutSentAway({ ...call, cseq: line.cseq }) } : { call }
    case 'branch':
      return { call: withoutFailure(call) }
    case 'reply':
      return { call: ringing(call, line) }
    case 'failure':
      return { call: { ...call, failure: { code: line.code ?? 408, canceled: line.canceled } } }
    case 'dialog:start':
      if (call.answeredUs !== undefined) return { call }
      return {
        call: { ...call, answeredUs: line.timeUs },
        happening: { kind: 'answered', atUs: line.timeUs },
      }
    case 'reinvite_hold':
    case 'reinvite':
    case 'reinvite_reply':
      return reinvited(call, line)
    case 'sl:local-response':
      return refusedByProxy(call, line)
    case 'dialog:failed':
      return { call, happening: refused(call, line) }
    case 'dialog:end':
      return hungUp(call, line, line.dummy ? 'nobody' : line.fromTag === call.callerTag ? 'caller' : 'callee')
    case 'tm:local-request':
      // The proxy's own BYEs are the only trace of a call that it ends itself: no dialog:end comes.
      return line.method === 'BYE' ? hungUp(call, line, 'proxy') : { call }
    default:
      // bye follows dialog:end; cancel is a wish that a 200 may overtake; ack, refer and notify change no state.
      return { call }
  }
}

/** The end of a call that was sent away and has not come again. */
export function gaveUp(sentAway: { code: number; atUs: number }): Happening {
  const { code, atUs } = sentAway
  return { kind: 'ended', atUs, code, cause: causeOfRefusal(code, false), endedBy: 'caller' }
}

function ringing(call: KamailioCall, line: KamailioLine): KamailioCall {
  const rings = line.code !== undefined && line.code >= 180 && line.code < 190
  const isNews = rings && call.ringingUs === undefined && call.answeredUs === undefined
  return isNews ? { ...call, ringingUs: line.timeUs } : call
}

/**
 * A re-INVITE counts when it is accepted: a refused one leaves the session as it was (RFC 3261, 14.1). Several
 * workers write the stream, so its reply may come first; the halves find each other by tag and CSeq.
 */
function reinvited(call: KamailioCall, line: KamailioLine): Step {
  const tag = line.fromTag ?? ''
  const waiting = Object.hasOwn(call.reinvites, tag) ? call.reinvites[tag] : undefined
  const isReply = line.event === 'reinvite_reply'
  if (isReply && (line.code ?? 0) < 200) return { call }

  const other = waiting?.cseq === line.cseq ? waiting : undefined
  if (isReply && waiting && !other && waiting.cseq > line.cseq) return { call }
  const half = isReply ? { code: line.code ?? 0 } : { hold: line.event === 'reinvite_hold' }
  const both: Reinvite = { ...other, cseq: line.cseq, ...half }
  if (both.hold === undefined || both.code === undefined) {
    const { [tag]: _, ...others } = call.reinvites
    // A dialog has two tags; a third is nonsense and takes no room.
    const kept = Object.keys(others).length < 2 ? others : {}
    return { call: { ...call, reinvites: { ...kept, [tag]: both } } }
  }

  const { [tag]: _, ...reinvites } = call.reinvites
  const settled = { ...call, reinvites }
  const holds = call.holders.includes(tag)
  if (both.code >= 300 || both.hold === holds) return { call: settled }
  const by = tag === call.callerTag ? 'caller' : 'callee'
  const holders = both.hold
    ? [...call.holders, tag].slice(-2)
    : call.holders.filter((holder) => holder !== tag)
  return {
    call: { ...settled, holders },
    happening: { kind: both.hold ? 'held' : 'resumed', by, atUs: line.timeUs },
  }
}

/** A stateless answer ends a call that has no dialog, unless it asks the caller to come again. */
function refusedByProxy(call: KamailioCall, line: KamailioLine): Step {
  const code = line.code ?? 0
  if (call.hasDialog || code < 300 || line.cseq < call.cseq) return { call }
  if (code < 400 || code === 401 || code === 407) {
    return { call: { ...call, sentAway: { code, atUs: line.timeUs } } }
  }
  const cause = causeOfRefusal(code, false, line.reasonHeader)
  return { call, happening: { kind: 'ended', atUs: line.timeUs, cause, code } }
}

function refused(call: KamailioCall, line: KamailioLine): Happening {
  // The dummy message of a timeout has no code; the failure line before it has. Without either it was a timeout.
  const code = (line.dummy ? undefined : line.code) ?? call.failure?.code ?? 408
  const rang = call.ringingUs !== undefined
  const cause = causeOfRefusal(code, rang, line.dummy ? undefined : line.reasonHeader)
  const endedBy =
    code === 487 || call.failure?.canceled ? 'caller' : cause === 'NO_ANSWER' ? 'proxy' : undefined
  return { kind: 'ended', atUs: line.timeUs, cause, code, ...(endedBy ? { endedBy } : {}) }
}

function hungUp(call: KamailioCall, line: KamailioLine, endedBy: EndedBy): Step {
  // Its dialog:start was not seen: the dialog's whole seconds are better than nothing.
  const answeredUs = call.answeredUs ?? startOf(line) ?? line.timeUs
  const cause =
    endedBy === 'caller' || endedBy === 'callee' ? causeOfHangup(line.reasonHeader) : CAUSE_OF_TIMER
  return {
    call: { ...call, answeredUs },
    happening: { kind: 'ended', atUs: line.timeUs, cause, code: 200, endedBy },
  }
}

function startOf(line: KamailioLine): number | undefined {
  const seconds = line.dialog?.startSeconds
  return seconds === undefined ? undefined : Math.min(seconds * 1_000_000, line.timeUs)
}

function withoutSentAway({ sentAway: _, ...call }: KamailioCall): KamailioCall {
  return call
}

/** A new branch: the proxy tries elsewhere, what failed before is no end. */
function withoutFailure({ failure: _, ...call }: KamailioCall): KamailioCall {
  return call
}
