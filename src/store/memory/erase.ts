/** Erasure of calls and accounts, and the text search for calls to erase. */

import type { Erasure, Mentions } from '../../delivery/erasure-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { isMentioned } from '../effective-state.js'
import { promote } from '../transitions.js'
import { becomeDue, leaveLane, stopWaiting } from './lanes.js'
import { notifyListeners } from './notify.js'
import { walk } from './position-log.js'
import { dropAttempt, dropEnded, removeEndpoint, removeRow } from './retention.js'
import { deleteInner, type Endpoint, type Row, type State } from './state.js'

/** Erases deliveries with their attempts and events first, then attempts, calls and keys that have no delivery. */
export function erase(state: State, erasure: Erasure, limit: number, now: number): number {
  let left = limit
  const run = (kind: (state: State, what: Erasure, limit: number, now: number) => number) => {
    if (left > 0) left -= kind(state, erasure, left, now)
  }
  run(eraseDeliveries)
  run(eraseAttempts)
  run(eraseCalls)
  run(eraseKeys)
  if (!erasure.callIds) run(eraseDeleted)
  return limit - left
}

const covers = ({ callIds }: Erasure, callId: string | undefined): boolean =>
  !callIds || (callId !== undefined && callIds.includes(callId))

function eraseDeliveries(state: State, what: Erasure, limit: number, now: number): number {
  let removed = 0
  for (const row of state.rows.values()) {
    if (removed >= limit) break
    const { accountId, eventAccountId, callId, id } = row.delivery
    if (accountId !== what.accountId && eventAccountId !== what.accountId) continue
    if (!covers(what, callId)) continue
    if (callId !== undefined) forgetCall(state, accountId, callId)
    eraseAttemptsOf(state, row.endpoint, (deliveryId) => deliveryId === id)
    removed += 1
    if (isTerminal(row.delivery.state)) dropEnded(state, row)
    else dropPending(state, row, now)
  }
  return removed
}

/** Removes a pending delivery and promotes the next of its lane. */
function dropPending(state: State, row: Row, now: number): void {
  const { endpoint } = row
  if (row.delivery.state === 'waiting') stopWaiting(row)
  else state.shards[endpoint.shard]!.inFlight.delete(row)
  const nextHead = leaveLane(row)
  if (nextHead) becomeDue(nextHead, promote(nextHead.delivery, now))
  state.pendingCount -= 1
  removeRow(state, row)
  // Its owner may have scheduled it: it must read the ready endpoints again.
  notifyListeners(state, undefined)
}

function eraseAttemptsOf(
  state: State,
  endpoint: Endpoint,
  matches: (deliveryId: string, callId: string | undefined) => boolean,
  limit = Number.POSITIVE_INFINITY,
): number {
  let removed = 0
  for (const [position, { record }] of [...walk(endpoint.attempts, true)]) {
    if (removed >= limit) break
    if (!matches(record.deliveryId, record.callId)) continue
    dropAttempt(state, endpoint, position)
    removed += 1
  }
  return removed
}

/** Attempts whose delivery has been removed already. */
function eraseAttempts(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const endpoint of state.endpointsByAccount.get(what.accountId) ?? []) {
    removed += eraseAttemptsOf(state, endpoint, (_, callId) => covers(what, callId), limit - removed)
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

/** Removes the call, also from the legs of other calls. False: it did not exist. */
function forgetCall(state: State, accountId: string, callId: string): boolean {
  const calls = state.calls.get(accountId)
  const call = calls?.get(callId)
  for (const other of call?.others ?? []) {
    const otherCall = calls!.get(other)
    if (otherCall?.others) otherCall.others = otherCall.others.filter((leg) => leg !== callId)
  }
  deleteInner(state.calls, accountId, callId)
  return call !== undefined
}

function eraseKeys(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const [key, { callId }] of [...(state.keys.get(what.accountId) ?? [])]) {
    if (removed >= limit) break
    if (!covers(what, callId)) continue
    deleteInner(state.keys, what.accountId, key)
    removed += 1
  }
  return removed
}

function eraseDeleted(state: State, what: Erasure, limit: number): number {
  let removed = 0
  for (const endpoint of [...(state.endpointsByAccount.get(what.accountId) ?? [])]) {
    if (removed >= limit || endpoint.webhook.deletedMs === undefined) continue
    removeEndpoint(state, endpoint)
    removed += 1
  }
  return removed
}

/** Relies on `state.rows` being in the order of positions. */
export function mentions(
  state: State,
  accountId: string,
  text: string,
  cursor = 0,
  limit = Number.POSITIVE_INFINITY,
): Mentions {
  const callIds = new Set<string>()
  let scanned = 0
  for (const { position, delivery, event } of state.rows.values()) {
    if (position <= cursor) continue
    const isOurs = delivery.accountId === accountId || delivery.eventAccountId === accountId
    if (isOurs && delivery.callId !== undefined && event.bodies.some((body) => isMentioned(body, text))) {
      callIds.add(delivery.callId)
    }
    scanned += 1
    if (scanned >= limit) return { callIds: [...callIds], cursor: position }
  }
  return { callIds: [...callIds], cursor: undefined }
}
