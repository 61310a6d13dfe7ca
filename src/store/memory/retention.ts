import type { AttemptRecord } from '../../delivery/attempt-record.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import { pruneCalls } from './calls.js'
import { mergedWalk } from './merge.js'
import { append, oldest, type PositionLog, removeAt, valueAt } from './position-log.js'
import { deleteInner, type Endpoint, nextOrdinal, type Row, type State } from './state.js'

/**
 * Retention of attempts and ended deliveries, and `prune`. Memory is bounded: the oldest are removed as soon as one
 * webhook, or all webhooks together, exceed their limit.
 *
 * Old entries are cold memory, so access is minimised: there is one log per webhook and none over all webhooks, and a
 * row points to its event and its call.
 */

/** Stores an attempt record; removes the oldest ones above the limits. */
export function addAttempt(state: State, row: Row, record: AttemptRecord, now: number): void {
  const { endpoint, call } = row
  if (row.record) {
    row.olderRecords ??= []
    row.olderRecords.push({ position: row.recordPosition, record: row.record })
  }
  row.record = record
  row.recordPosition = nextOrdinal(state)
  append(endpoint.attempts, row.recordPosition, row)
  state.attemptCount += 1
  if (call && now > call.lastMs) call.lastMs = now
  if (endpoint.attempts.size > state.limits.attemptsPerWebhook) dropOldestAttempt(state, endpoint)
  if (state.attemptCount > state.limits.attemptsInAll) {
    const surplus = excess(state.attemptCount, state.limits.attemptsInAll)
    for (const old of oldestInAll(state, (one) => one.attempts, surplus))
      dropOldestAttempt(state, old.endpoint)
  }
}

/** Keeps a delivery that ended without a record; removes the oldest ones above the limits. */
export function addSlimEnd(state: State, row: Row): void {
  const { slimEnds } = row.endpoint
  row.slimPosition = nextOrdinal(state)
  append(slimEnds, row.slimPosition, row)
  state.slimCount += 1
  if (slimEnds.size > state.limits.attemptsPerWebhook) dropSlimEnd(state, front(slimEnds))
  if (state.slimCount > state.limits.attemptsInAll) {
    const surplus = excess(state.slimCount, state.limits.attemptsInAll)
    for (const old of oldestInAll(state, (one) => one.slimEnds, surplus)) dropSlimEnd(state, old)
  }
}

/** How many to remove: 1 % of the limit more than necessary, because finding the oldest of all scans every webhook. */
function excess(count: number, limit: number): number {
  return count - limit + Math.floor(limit / 100)
}

/** The `count` oldest entries over all webhooks. */
function oldestInAll<T>(state: State, logOf: (endpoint: Endpoint) => PositionLog<T>, count: number): T[] {
  const found: T[] = []
  const logs = Array.from(state.endpoints.values(), logOf)
  for (const [, value] of mergedWalk(logs, true)) if (found.push(value) >= count) break
  return found
}

/** Removes expired rows, oldest first, so that a batch scans little more than it removes. */
export function prune(
  state: State,
  limits: { readonly attemptsPerWebhook: number; readonly beforeMs: number; readonly limit: number },
  now: number,
): number {
  const { attemptsPerWebhook, beforeMs, limit } = limits
  let removed = 0
  for (const endpoint of state.endpoints.values()) {
    while (removed < limit && endpoint.attempts.size > attemptsPerWebhook) {
      dropOldestAttempt(state, endpoint)
      removed += 1
    }
    if (removed < limit && isRemovable(endpoint, now)) {
      removeEndpoint(state, endpoint)
      removed += 1
    }
  }
  for (const endpoint of state.endpoints.values()) {
    for (; removed < limit && endpoint.attempts.size > 0; removed += 1) {
      const row = front(endpoint.attempts)
      if (row.recordAt(oldest(endpoint.attempts)!).atMs >= beforeMs) break
      dropOldestAttempt(state, endpoint)
    }
    for (; removed < limit && endpoint.slimEnds.size > 0; removed += 1) {
      const row = front(endpoint.slimEnds)
      if (row.ended!.ms >= beforeMs) break
      dropSlimEnd(state, row)
    }
  }
  for (; removed < limit && state.keyQueue.size > 0; removed += 1) {
    const position = oldest(state.keyQueue)!
    const { accountId, key, untilMs } = valueAt(state.keyQueue, position)!
    if (untilMs > now) break
    removeAt(state.keyQueue, position)
    // The key may have been reused after its window.
    if (state.keys.get(accountId)?.get(key)?.untilMs === untilMs) deleteInner(state.keys, accountId, key)
  }
  return removed + pruneCalls(state, limit - removed, now)
}

/** How long a deleted webhook is retained, ms: an acceptance in progress may still refer to it. */
const DELETED_RETENTION_MS = 60_000

/** Deleted long enough ago, without any delivery or attempt left. */
function isRemovable({ webhook, deliveries, attempts }: Endpoint, now: number): boolean {
  const { deletedMs = now } = webhook
  return now - deletedMs > DELETED_RETENTION_MS && deliveries.size === 0 && attempts.size === 0
}

export function removeEndpoint(state: State, endpoint: Endpoint): void {
  const { id, accountId } = endpoint.webhook
  state.endpoints.delete(id)
  const others = state.endpointsByAccount.get(accountId)!.filter((one) => one !== endpoint)
  if (others.length > 0) state.endpointsByAccount.set(accountId, others)
  else state.endpointsByAccount.delete(accountId)
}

const front = <T>(log: PositionLog<T>): T => valueAt(log, oldest(log)!)!

function dropOldestAttempt(state: State, endpoint: Endpoint): void {
  dropAttempt(state, endpoint, oldest(endpoint.attempts)!)
}

/** Removes a record, and its delivery with the last record. */
export function dropAttempt(state: State, endpoint: Endpoint, position: number): void {
  const row = removeAt(endpoint.attempts, position)!
  state.attemptCount -= 1
  if (position === row.recordPosition) row.record = undefined
  else {
    const older = row.olderRecords!.filter((one) => one.position !== position)
    row.olderRecords = older.length > 0 ? older : undefined
  }
  removeIfDone(state, row)
}

function dropSlimEnd(state: State, row: Row): void {
  forgetSlimEnd(state, row)
  removeIfDone(state, row)
}

function forgetSlimEnd(state: State, row: Row): void {
  if (row.slimPosition === 0) return
  removeAt(row.endpoint.slimEnds, row.slimPosition)
  row.slimPosition = 0
  state.slimCount -= 1
}

function removeIfDone(state: State, row: Row): void {
  if (row.isStored && !row.hasRecords && row.slimPosition === 0 && isTerminal(row.state))
    removeRow(state, row)
}

/** Removes a delivery that is in no lane, whatever is left of its records. */
export function removeRow(state: State, row: Row): void {
  const { endpoint, position, source, call, event } = row
  forgetSlimEnd(state, row)
  row.isStored = false
  removeAt(endpoint.deliveries, position)
  state.rows.delete(source.id)
  if (call) call.rows -= 1
  event.rows -= 1
  if (event.rows === 0) state.events.delete(event.id)
}
