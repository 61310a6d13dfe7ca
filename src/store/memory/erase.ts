/** Erasure of calls and accounts, and the text search for calls to erase. */

import type { Erasure, Mentions } from '../../delivery/erasure-store.js'
import { isMentioned } from '../effective-state.js'
import {
  ERASURE_STEPS,
  type ErasedCalls,
  type ErasureStep,
  erasedCallsOf,
  hasStep,
  isCovered,
  isDeliveryCovered,
} from '../engine/erasure.js'
import { recordChange } from './changes.js'
import { removeRow } from './history.js'
import { leaveLane } from './lanes.js'
import { notifyListeners } from './notify.js'
import { removeEndpoint } from './retention.js'
import { type Call, deleteInner, type Row, type State } from './state.js'

/** Removes up to `limit` rows of one step; returns their number. */
type Step = (state: State, what: ErasedCalls, limit: number) => number

/** The version is raised with each waiting delivery, in the same run; attempts go with theirs; the store has no inbox. */
const STEPS: Readonly<Record<ErasureStep, Step>> = {
  version: () => 0,
  deliveries: eraseDeliveries,
  attempts: () => 0,
  calls: eraseCalls,
  idempotencyKeys: eraseKeys,
  inbox: () => 0,
  deletedWebhooks: eraseDeleted,
}

export function erase(state: State, erasure: Erasure, limit: number): number {
  const what = erasedCallsOf(erasure)
  let left = limit
  for (const step of ERASURE_STEPS) {
    if (left > 0 && hasStep(erasure, step)) left -= STEPS[step](state, what, left)
  }
  if (left < limit) notifyListeners(state)
  return limit - left
}

function eraseDeliveries(state: State, what: ErasedCalls, limit: number): number {
  let removed = 0
  for (const row of state.rows.values()) {
    if (removed >= limit) break
    const { source } = row
    if (!isDeliveryCovered(what, source)) continue
    removed += 1
    if (row.state === 'waiting') dropWaiting(state, row)
    removeRow(state, row)
    const { accountId, callId } = source
    if (callId === undefined) continue
    if (accountId === what.accountId) forgetCall(state, accountId, callId)
    else forgetForeignCall(state, accountId, callId)
  }
  return removed
}

/** Removes a waiting delivery from its lane, and tells its owner. */
function dropWaiting(state: State, row: Row): void {
  const { endpoint, position, source } = row
  leaveLane(row)
  endpoint.waitingCount -= 1
  recordChange(state, endpoint.shard, { removed: { webhookId: source.webhookId, position } })
}

function eraseCalls(state: State, what: ErasedCalls, limit: number): number {
  for (const { id, accountId, callId, rows } of state.unmatchedEvents)
    if (rows === 0 && accountId === what.accountId && isCovered(what, callId)) state.events.delete(id)
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
  for (const other of call?.others ?? []) removeLeg(calls!.get(other), callId)
  deleteInner(state.calls, accountId, callId)
  return call !== undefined
}

/**
 * Removes what is stored for an account about a call because of another account's events. The numbers and rows of the account's own
 * events stay.
 */
function forgetForeignCall(state: State, accountId: string, callId: string): void {
  const calls = state.calls.get(accountId)
  const call = calls?.get(callId)
  if (!calls || !call) return
  for (const other of call.others ?? []) {
    const otherCall = calls.get(other)
    removeLeg(otherCall, callId)
    if (otherCall && isUnused(otherCall)) deleteInner(state.calls, accountId, other)
  }
  call.others = undefined
  if (isUnused(call)) deleteInner(state.calls, accountId, callId)
}

function removeLeg(call: Call | undefined, callId: string): void {
  call?.others?.delete(callId)
}

const isUnused = ({ sequence, rows, others }: Call) =>
  sequence === 0 && rows === 0 && (others === undefined || others.size === 0)

function eraseKeys(state: State, what: ErasedCalls, limit: number): number {
  let removed = 0
  for (const [key, { callId }] of [...(state.keys.get(what.accountId) ?? [])]) {
    if (removed >= limit) break
    if (!isCovered(what, callId)) continue
    deleteInner(state.keys, what.accountId, key)
    removed += 1
  }
  return removed
}

function eraseDeleted(state: State, what: ErasedCalls, limit: number): number {
  let removed = 0
  for (const endpoint of [...(state.endpointsByAccount.get(what.accountId) ?? [])]) {
    if (removed >= limit || endpoint.webhook.deletedMs === undefined) continue
    removeEndpoint(state, endpoint)
    removed += 1
  }
  return removed
}

/** Relies on `state.rows` being in the order of ordinals, which are the cursors. */
export function mentions(
  state: State,
  accountId: string,
  text: string,
  cursor = 0,
  limit = Number.POSITIVE_INFINITY,
): Mentions {
  const callIds = new Set<string>()
  let scanned = 0
  for (const row of state.rows.values()) {
    if (row.ordinal <= cursor) continue
    const { callId, accountId: owner, eventAccountId } = row.source
    const isOurs = owner === accountId || eventAccountId === accountId
    if (isOurs && callId !== undefined && !callIds.has(callId) && hasMention(row, text)) callIds.add(callId)
    scanned += 1
    if (scanned >= limit) return { callIds: [...callIds], cursor: row.ordinal }
  }
  return { callIds: [...callIds], cursor: undefined }
}

/** Every body of the event is searched, not only that of the delivery. */
function hasMention({ event }: Row, text: string): boolean {
  return event.bodies.some((body) => isMentioned(body, text))
}
