/** What happened to a call → channel events, but for the account. */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { ChannelDraft } from '../source/leg-news.js'
import { secondsBetween } from '../source/seconds.js'
import type { Happening, KamailioCall } from './call.js'

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** The event of a call that begins. */
export function createdDraft(call: KamailioCall): ChannelDraft {
  return draftOf('channel_create', call, call.createdUs, 'create')
}

/** The events of what happened, in the order in which a receiver should see them. */
export function draftsOf(call: KamailioCall, happening: Happening): ChannelDraft[] {
  const { kind, atUs } = happening
  switch (kind) {
    case 'answered': {
      const bridge = draftOf('channel_bridge', call, atUs, 'bridge')
      if (call.parties.originalNumber !== undefined) bridge.originalNumber = call.parties.originalNumber
      return [draftOf('channel_answer', call, atUs, 'answer'), bridge]
    }
    case 'held':
    case 'resumed': {
      const { by, cseq } = happening
      // A CSeq is of one party alone (RFC 3261, 12.2.1.1), and may be absent; then the time tells.
      const which = `${by}/${cseq || atUs}`
      const draft =
        kind === 'held'
          ? draftOf('channel_hold', call, atUs, `hold/${which}`)
          : draftOf('channel_unhold', call, atUs, `unhold/${which}`)
      draft.customChannelVars = { held_by: by }
      return [draft]
    }
    case 'ended': {
      const { cause, code, endedBy, foundBy } = happening
      const answeredUs = call.answeredUs ?? atUs
      const draft = draftOf('channel_destroy', call, atUs, 'destroy')
      if (endedBy !== undefined) draft.customChannelVars = { ended_by: endedBy }
      if (foundBy !== undefined) draft.customChannelVars = { found_by: foundBy }
      draft.hangupCause = cause
      if (code !== undefined) draft.hangupCode = `sip:${code}`
      if (!call.isEndOnly) {
        draft.durationSeconds = secondsOf(call.createdUs, atUs)
        draft.ringingSeconds = secondsOf(call.ringingUs ?? answeredUs, answeredUs)
      }
      draft.billingSeconds = secondsOf(answeredUs, atUs)
      return [draft]
    }
  }
}

function draftOf(hook: string, call: KamailioCall, atUs: number, what: string): Writable<ChannelDraft> {
  const { from, to, request, callerIdName, callerIdNumber, calleeIdNumber } = call.parties
  const draft: Writable<ChannelDraft> = {
    hook,
    callId: call.callId,
    direction: 'inbound',
    timestampMs: Math.floor(atUs / 1000),
    isInternalLeg: false,
    idempotencyKey: idempotencyKey('kamailio', call.callId, whichOf(call), what),
  }
  if (from !== undefined) draft.from = from
  if (to !== undefined) draft.to = to
  if (request !== undefined) draft.request = request
  if (callerIdName !== undefined) draft.callerIdName = callerIdName
  if (callerIdNumber !== undefined) draft.callerIdNumber = callerIdNumber
  if (calleeIdNumber !== undefined) draft.calleeIdNumber = calleeIdNumber
  return draft
}

/**
 * What a Call-ID alone does not tell: the caller's tag, and which of several tries with it. Ids of the dialog and no
 * times, so that every host that hears the call says the same, wherever it joined.
 */
function whichOf({ callerTag = '', after }: KamailioCall): string {
  // A slash would make two calls look like one.
  const tag = encodeURIComponent(callerTag)
  return after === undefined ? tag : `${tag};${after}`
}

/** The switch's times are microseconds. */
function secondsOf(fromUs: number, toUs: number): number {
  return secondsBetween(fromUs / 1000, toUs / 1000)
}
