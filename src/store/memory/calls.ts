/** Calls of accounts: sequence numbers, legs, and their removal after a day. */

import { CALL_RETENTION_MS, linkedLeg } from '../engine/legs.js'
import { append, oldest, removeAt } from './position-log.js'
import { type Call, deleteInner, innerMap, nextOrdinal, type State } from './state.js'

/** Finds or creates an account's call, and updates the time of its last activity. */
export function touchCall(state: State, accountId: string, callId: string, now: number): Call {
  const calls = innerMap(state.calls, accountId)
  const existing = calls.get(callId)
  if (existing) {
    if (now > existing.lastMs) existing.lastMs = now
    return existing
  }
  const call: Call = { accountId, callId, sequence: 0, node: -1, lastMs: now, others: undefined, rows: 0 }
  calls.set(callId, call)
  append(state.callQueue, nextOrdinal(state), call)
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
  const other = linkedLeg(callId, otherLegCallId)
  if (other !== undefined) {
    addLeg(call, other)
    addLeg(touchCall(state, accountId, other, now), callId)
  }
  return call
}

export function legs(state: State, accountId: string, callId: string): readonly string[] {
  const call = state.calls.get(accountId)?.get(callId)
  return call ? [callId, ...(call.others ?? [])] : []
}

/**
 * Removes calls that were idle for a day and have no deliveries left. Scans at most `2 * limit` calls from
 * the front of the queue; one that is still needed moves to its end. It says nothing about those behind it: a call of an
 * ordering key may be active for months.
 */
export function pruneCalls(state: State, limit: number, now: number): number {
  let removed = 0
  const most = Math.min(2 * limit, state.callQueue.size)
  for (let scanned = 0; scanned < most && removed < limit; scanned += 1) {
    const position = oldest(state.callQueue)
    if (position === undefined) return removed
    const call = removeAt(state.callQueue, position)!
    const { accountId, callId } = call
    // Erased, and perhaps recreated, since it was queued.
    if (state.calls.get(accountId)?.get(callId) !== call) continue
    const idle = call.lastMs + CALL_RETENTION_MS <= now
    if (idle && call.rows === 0) {
      deleteInner(state.calls, accountId, callId)
      removed += 1
      continue
    }
    append(state.callQueue, nextOrdinal(state), call)
  }
  return removed
}

function addLeg(call: Call, callId: string): void {
  call.others ??= new Set()
  call.others.add(callId)
}
