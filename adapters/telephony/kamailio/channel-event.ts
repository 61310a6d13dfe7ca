/** Builds channel events, without the account, from a call and its changes. Pure. */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import { durationsOf, type LegTimes } from '../source/seconds.js'
import type { CallChange, KamailioCall } from './call.js'

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** The `channel_create` of a call. */
export function buildCreateEvent(call: KamailioCall): PendingEvent {
  return buildEvent('channel_create', call, call.createdUs, 'create')
}

/** The events of a change, in the order in which receivers should get them. */
export function buildEvents(call: KamailioCall, change: CallChange): PendingEvent[] {
  const { kind, atUs } = change
  switch (kind) {
    case 'answered': {
      const bridge = buildEvent('channel_bridge', call, atUs, 'bridge')
      if (call.parties.originalNumber !== undefined) bridge.originalNumber = call.parties.originalNumber
      return [buildEvent('channel_answer', call, atUs, 'answer'), bridge]
    }
    case 'held':
    case 'resumed': {
      const { by, cseq } = change
      // A CSeq counts the requests of one party (RFC 3261, 12.2.1.1). It may be absent; then the time is used.
      const suffix = `${by}/${cseq || atUs}`
      const event =
        kind === 'held'
          ? buildEvent('channel_hold', call, atUs, `hold/${suffix}`)
          : buildEvent('channel_unhold', call, atUs, `unhold/${suffix}`)
      event.customChannelVars = { held_by: by }
      return [event]
    }
    case 'ended': {
      const { cause, code, endedBy, foundBy } = change
      const event = buildEvent('channel_destroy', call, atUs, 'destroy')
      if (endedBy !== undefined) event.customChannelVars = { ended_by: endedBy }
      if (foundBy !== undefined) event.customChannelVars = { found_by: foundBy }
      event.hangupCause = cause
      if (code !== undefined) event.hangupCode = `sip:${code}`
      return [{ ...event, ...durationsOf(timesOf(call, atUs)) }]
    }
  }
}

function buildEvent(
  hook: PendingEvent['hook'],
  call: KamailioCall,
  atUs: number,
  keySuffix: string,
): Writable<PendingEvent> {
  const { from, to, request, callerIdName, callerIdNumber, calleeIdNumber } = call.parties
  const event: Writable<PendingEvent> = {
    hook,
    callId: call.callId,
    // The calls of a transfer are not linked.
    callGroupId: call.callId,
    direction: 'inbound',
    timestampMs: Math.floor(atUs / 1000),
    isInternalLeg: false,
    idempotencyKey: idempotencyKey('kamailio', call.callId, callKeyOf(call), keySuffix),
  }
  if (from !== undefined) event.from = from
  if (to !== undefined) event.to = to
  if (request !== undefined) event.request = request
  if (callerIdName !== undefined) event.callerIdName = callerIdName
  if (callerIdNumber !== undefined) event.callerIdNumber = callerIdNumber
  if (calleeIdNumber !== undefined) event.calleeIdNumber = calleeIdNumber
  return event
}

/**
 * Distinguishes calls with the same Call-ID: by the caller's tag, and by the CSeq of the previous attempt. Made of ids of
 * the dialog and not of times, so that every host that reads the stream computes the same key, wherever it joined.
 */
function callKeyOf({ callerTag = '', previousCseq }: KamailioCall): string {
  // The key's parts are separated by slashes, so a slash in the tag could make two calls collide.
  const tag = encodeURIComponent(callerTag)
  return previousCseq === undefined ? tag : `${tag};${previousCseq}`
}

/** The times of a call that has ended. The dialog of a call whose begin was missed does not contain when that was. */
export function timesOf({ isEndOnly, createdUs, answeredUs }: KamailioCall, endedUs: number): LegTimes {
  return {
    createdMs: isEndOnly ? 'unknown' : createdUs / 1000,
    answeredMs: answeredUs === undefined ? undefined : answeredUs / 1000,
    endedMs: endedUs / 1000,
  }
}
