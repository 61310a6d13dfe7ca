/** Calls of accounts: sequence numbers, legs, and their removal after a day. */

import { append, oldest, removeAt } from './position-log.js'
import { type Call, deleteInner, innerMap, nextPosition, type State } from './state.js'

/** How long a call's sequence number and legs are retained after its last event or delivery, ms. */
export const CALL_RETENTION_MS = 86_400_000

/** Finds or creates an account's call, and updates the time of its last activity. */
export function touchCall(state: State, accountId: string, callId: string, now: number): Call {
  const calls = innerMap(state.calls, accountId)
  const existing = calls.get(callId)
  if (existing) {
    if (now > existing.lastMs) existing.lastMs = now
    return existing
  }
  const call: Call = { accountId, callId, sequence: 0, lastMs: now, others: undefined, retainedRows: 0 }
  calls.set(callId, call)
  append(state.callQueue, nextPosition(state), call)
  return call
}

/** Records a call and its other leg, if any: each becomes a leg of the other. */
export function noteLegs(
  state: State,
  accountId: string,
  callId: string,
  otherLegCallId: string | undefined,
  now: number,
): Call {
  const call = touchCall(state, accountId, callId, now)
  if (otherLegCallId !== undefined && otherLegCallId !== callId) {
    addLeg(call, otherLegCallId)
    addLeg(touchCall(state, accountId, otherLegCallId, now), callId)
  }
  return call
}

export function legs(state: State, accountId: string, callId: string): readonly string[] {
  const call = state.calls.get(accountId)?.get(callId)
  return call ? [callId, ...(call.others ?? [])] : []
}

/**
 * Removes calls that were idle for a day and have no deliveries or attempts left. Scans at most `2 * limit` calls from
 * the front of the queue; one that is still needed moves to its end.
 */
export function pruneCalls(state: State, limit: number, now: number): number {
  let removed = 0
  for (let scanned = 0; scanned < 2 * limit && removed < limit; scanned += 1) {
    const position = oldest(state.callQueue)
    if (position === undefined) return removed
    const call = removeAt(state.callQueue, position)!
    const { accountId, callId } = call
    // Erased, and perhaps recreated, since it was queued.
    if (state.calls.get(accountId)?.get(callId) !== call) continue
    const idle = call.lastMs + CALL_RETENTION_MS <= now
    if (idle && call.retainedRows === 0) {
      deleteInner(state.calls, accountId, callId)
      removed += 1
      continue
    }
    append(state.callQueue, nextPosition(state), call)
    if (!idle) return removed
  }
  return removed
}

function addLeg(call: Call, callId: string): void {
  call.others ??= []
  if (!call.others.includes(callId)) call.others.push(callId)
}
