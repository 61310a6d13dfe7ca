import type { AttemptRecord } from '../../delivery/attempt-record.js'
import { pruneCalls } from './calls.js'
import { mergedWalk } from './merge.js'
import { append, oldest, type PositionLog, removeAt, valueAt } from './position-log.js'
import { type Endpoint, nextPosition, type Row, removeInner, type State } from './state.js'

/**
 * What is over and still kept: attempts and ended deliveries. Memory is bounded, so the oldest go as soon as a
 * webhook has more than its number of them, or all webhooks together have more than theirs.
 *
 * This is what a delivery costs after its end, and everything old is cold memory: so there is one log for each webhook
 * and none for all, and a row leads to its event and its call without a look-up.
 */
export function keepAttempt(state: State, row: Row, record: AttemptRecord, now: number): void {
  const { endpoint, call } = row
  append(endpoint.attempts, nextPosition(state), { record, row })
  state.attempts += 1
  if (call) {
    call.kept += 1
    if (now > call.lastMs) call.lastMs = now
  }
  if (endpoint.attempts.size > state.limits.attemptsPerWebhook) dropOldestAttempt(state, endpoint)
  if (state.attempts > state.limits.attemptsInAll) {
    const tooMany = excess(state.attempts, state.limits.attemptsInAll)
    for (const { row } of oldestOf(state, (one) => one.attempts, tooMany))
      dropOldestAttempt(state, row.endpoint)
  }
}

export function keepEnded(state: State, row: Row): void {
  const { ended } = row.endpoint
  row.endedPosition = nextPosition(state)
  append(ended, row.endedPosition, row)
  state.ended += 1
  if (ended.size > state.limits.attemptsPerWebhook) dropEnded(state, front(ended))
  if (state.ended > state.limits.attemptsInAll) {
    const tooMany = excess(state.ended, state.limits.attemptsInAll)
    for (const old of oldestOf(state, (one) => one.ended, tooMany)) dropEnded(state, old)
  }
}

/** Some more than must go: finding the oldest of all webhooks looks at each of them. */
function excess(count: number, limit: number): number {
  return count - limit + Math.floor(limit / 100)
}

/** The oldest entries of all webhooks together, so many. */
function oldestOf<T>(state: State, logOf: (endpoint: Endpoint) => PositionLog<T>, count: number): T[] {
  const found: T[] = []
  const logs = Array.from(state.endpoints.values(), logOf)
  for (const [, value] of mergedWalk(logs, true)) if (found.push(value) >= count) break
  return found
}

/** Removes what nobody needs, oldest first, so that a batch looks at little more than what it removes. */
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
    if (removed < limit && isForgotten(endpoint, now)) {
      forget(state, endpoint)
      removed += 1
    }
  }
  for (const endpoint of state.endpoints.values()) {
    for (; removed < limit && endpoint.attempts.size > 0; removed += 1) {
      if (front(endpoint.attempts).record.atMs >= beforeMs) break
      dropOldestAttempt(state, endpoint)
    }
    for (; removed < limit && endpoint.ended.size > 0; removed += 1) {
      const row = front(endpoint.ended)
      if (row.delivery.endedMs! >= beforeMs) break
      dropEnded(state, row)
    }
  }
  for (; removed < limit && state.keyQueue.size > 0; removed += 1) {
    const position = oldest(state.keyQueue)!
    const { accountId, key, untilMs } = valueAt(state.keyQueue, position)!
    if (untilMs > now) break
    removeAt(state.keyQueue, position)
    // The key may have been used again since.
    if (state.keys.get(accountId)?.get(key)?.untilMs === untilMs) removeInner(state.keys, accountId, key)
  }
  return removed + pruneCalls(state, limit - removed, now)
}

/** An acceptance under way may still name a webhook that was deleted a moment ago. */
const FORGET_AFTER_MS = 60_000

/** Deleted, and nothing is left that could be read of it. */
function isForgotten({ webhook, deliveries, attempts }: Endpoint, now: number): boolean {
  const { deletedMs = now } = webhook
  return now - deletedMs > FORGET_AFTER_MS && deliveries.size === 0 && attempts.size === 0
}

export function forget(state: State, endpoint: Endpoint): void {
  const { id, accountId } = endpoint.webhook
  state.endpoints.delete(id)
  state.stale.delete(endpoint)
  const others = state.ofAccount.get(accountId)!.filter((one) => one !== endpoint)
  if (others.length > 0) state.ofAccount.set(accountId, others)
  else state.ofAccount.delete(accountId)
}

const front = <T>(log: PositionLog<T>): T => valueAt(log, oldest(log)!)!

function dropOldestAttempt(state: State, endpoint: Endpoint): void {
  dropAttempt(state, endpoint, oldest(endpoint.attempts)!)
}

export function dropAttempt(state: State, endpoint: Endpoint, position: number): void {
  const { call } = removeAt(endpoint.attempts, position)!.row
  state.attempts -= 1
  if (call) call.kept -= 1
}

export function dropEnded(state: State, row: Row): void {
  removeAt(row.endpoint.ended, row.endedPosition)
  removeRow(state, row)
  state.ended -= 1
}

/** A delivery is kept no more; it is in no lane and no queue. */
export function removeRow(state: State, { endpoint, position, delivery, call }: Row): void {
  removeAt(endpoint.deliveries, position)
  state.rows.delete(delivery.id)
  if (call) call.kept -= 1
}
