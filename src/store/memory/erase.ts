import type { Erasure, Mentions } from '../../delivery/erasure-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { isMentioned } from '../reading.js'
import { promoted } from '../transitions.js'
import { dropAttempt, dropEnded, forget, removeRow } from './kept.js'
import { becomeDue, leaveLane, stopWaiting } from './lanes.js'
import { walk } from './position-log.js'
import { type Endpoint, type Row, removeInner, type State } from './state.js'
import { wake } from './wake.js'

/** Deliveries with their attempts and events first, then what stands alone. */
export function erase(state: State, what: Erasure, limit: number, now: number): number {
  let left = limit
  const some = (kind: (state: State, what: Erasure, limit: number, now: number) => number) => {
    if (left > 0) left -= kind(state, what, left, now)
  }
  some(eraseDeliveries)
  some(eraseAttempts)
  some(eraseCalls)
  some(eraseKeys)
  if (!what.callIds) some(eraseDeleted)
  return limit - left
}

const concerns = ({ callIds }: Erasure, callId: string | undefined): boolean =>
  !callIds || (callId !== undefined && callIds.includes(callId))

function eraseDeliveries(state: State, what: Erasure, limit: number, now: number): number {
  let removed = 0
  for (const row of state.rows.values()) {
    if (removed >= limit) break
    const { accountId, eventAccountId, callId, id } = row.delivery
    if (accountId !== what.accountId && eventAccountId !== what.accountId) continue
    if (!concerns(what, callId)) continue
    if (callId !== undefined) forgetCall(state, accountId, callId)
    eraseAttemptsOf(state, row.endpoint, (deliveryId) => deliveryId === id)
    removed += 1
    if (isTerminal(row.delivery.state)) dropEnded(state, row)
    else dropPending(state, row, now)
  }
  return removed
}

/** A pending delivery that nobody will hear of again: its lane goes on. */
function dropPending(state: State, row: Row, now: number): void {
  const { endpoint } = row
  if (row.delivery.state === 'waiting') stopWaiting(row)
  else state.shards[endpoint.shard]!.inFlight.delete(row)
  const following = leaveLane(row)
  if (following) becomeDue(following, promoted(following.delivery, now))
  state.pending -= 1
  removeRow(state, row)
  // Whoever has it in flight, or had planned it, looks again.
  wake(state, undefined)
}

function eraseAttemptsOf(
  state: State,
  endpoint: Endpoint,
  isMeant: (deliveryId: string, callId: string | undefined) => boolean,
  limit = Number.POSITIVE_INFINITY,
): number {
  let removed = 0
  for (const [position, { record }] of [...walk(endpoint.attempts, true)]) {
    if (removed >= limit) break
    if (!isMeant(record.deliveryId, record.callId)) continue
    dropAttempt(state, endpoint, position)
    removed += 1
  }
  return removed
}

/** Those whose delivery is kept no more. */
function eraseAttempts(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const endpoint of state.ofAccount.get(what.accountId) ?? []) {
    removed += eraseAttemptsOf(state, endpoint, (_, callId) => concerns(what, callId), limit - removed)
  }
  return removed
}

function eraseCalls(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const callId of what.callIds ?? [...(state.calls.get(what.accountId)?.keys() ?? [])]) {
    if (removed >= limit) break
    if (forgetCall(state, what.accountId, callId)) removed += 1
  }
  return removed
}

/** The call, and that it was a leg of others. False: nothing was known of it. */
function forgetCall(state: State, accountId: string, callId: string): boolean {
  const calls = state.calls.get(accountId)
  const call = calls?.get(callId)
  for (const other of call?.others ?? []) {
    const known = calls!.get(other)
    if (known?.others) known.others = known.others.filter((leg) => leg !== callId)
  }
  removeInner(state.calls, accountId, callId)
  return call !== undefined
}

function eraseKeys(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const [key, { callId }] of [...(state.keys.get(what.accountId) ?? [])]) {
    if (removed >= limit) break
    if (!concerns(what, callId)) continue
    removeInner(state.keys, what.accountId, key)
    removed += 1
  }
  return removed
}

function eraseDeleted(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const endpoint of [...(state.ofAccount.get(what.accountId) ?? [])]) {
    if (removed >= limit || endpoint.webhook.deletedMs === undefined) continue
    forget(state, endpoint)
    removed += 1
  }
  return removed
}

/** Deliveries are kept in the order of their positions. */
export function mentions(
  state: State,
  accountId: string,
  text: string,
  cursor = 0,
  limit = Number.POSITIVE_INFINITY,
): Mentions {
  const callIds = new Set<string>()
  let looked = 0
  for (const { position, delivery, event } of state.rows.values()) {
    if (position <= cursor) continue
    const isOurs = delivery.accountId === accountId || delivery.eventAccountId === accountId
    if (isOurs && delivery.callId !== undefined && event.bodies.some((body) => isMentioned(body, text))) {
      callIds.add(delivery.callId)
    }
    looked += 1
    if (looked >= limit) return { callIds: [...callIds], cursor: position }
  }
  return { callIds: [...callIds], cursor: undefined }
}
