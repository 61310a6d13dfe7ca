import { append, oldest, removeAt } from './position-log.js'
import { type Call, inner, nextPosition, removeInner, type State } from './state.js'

/** Numbers and legs of a call are kept for so long after its last event or delivery. */
export const CALL_KEPT_MS = 86_400_000

/** The call as this account knows it, from now on. */
export function touchCall(state: State, accountId: string, callId: string, now: number): Call {
  const calls = inner(state.calls, accountId)
  const known = calls.get(callId)
  if (known) {
    if (now > known.lastMs) known.lastMs = now
    return known
  }
  const call: Call = { accountId, callId, sequence: 0, lastMs: now, others: undefined, kept: 0 }
  calls.set(callId, call)
  append(state.callQueue, nextPosition(state), call)
  return call
}

/** Notes a call and, where there is one, its other leg: each is a leg of the other. */
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
 * Forgets calls that nothing happened to for a day and of which nothing is kept. Looks at the oldest only, at
 * most at twice `limit` of them; one that is still needed goes to the end of the queue.
 */
export function pruneCalls(state: State, limit: number, now: number): number {
  let removed = 0
  for (let looked = 0; looked < 2 * limit && removed < limit; looked += 1) {
    const position = oldest(state.callQueue)
    if (position === undefined) return removed
    const call = removeAt(state.callQueue, position)!
    const { accountId, callId } = call
    // Erased since.
    if (state.calls.get(accountId)?.get(callId) !== call) continue
    const idle = call.lastMs + CALL_KEPT_MS <= now
    if (idle && call.kept === 0) {
      removeInner(state.calls, accountId, callId)
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
