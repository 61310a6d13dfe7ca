import type { AttemptRecord } from '../../delivery/attempt-record.js'
import { addToCall, pruneCalls, removeFromCall } from './calls.js'
import { append, oldest, removeAt, valueAt } from './position-log.js'
import { type Endpoint, nextPosition, type Row, removeInner, type State } from './state.js'

/**
 * What is over and still kept: attempts and ended deliveries. Memory is bounded, so the oldest go as soon as a
 * webhook has more than its number of them, or all webhooks together have more than theirs.
 */
export function keepAttempt(state: State, endpoint: Endpoint, record: AttemptRecord, now: number): void {
  const position = nextPosition(state)
  append(endpoint.attempts, position, record)
  append(state.attempts, position, endpoint)
  addToCall(state, position, record, now)
  if (endpoint.attempts.size > state.limits.attemptsPerWebhook) dropOldestAttempt(state, endpoint)
  if (state.attempts.size > state.limits.attemptsInAll) {
    dropOldestAttempt(state, valueAt(state.attempts, oldest(state.attempts)!)!)
  }
}

export function keepEnded(state: State, row: Row): void {
  row.endedPosition = nextPosition(state)
  append(row.endpoint.ended, row.endedPosition, row)
  append(state.ended, row.endedPosition, row)
  if (row.endpoint.ended.size > state.limits.attemptsPerWebhook) {
    dropEnded(state, valueAt(row.endpoint.ended, oldest(row.endpoint.ended)!)!)
  }
  if (state.ended.size > state.limits.attemptsInAll) {
    dropEnded(state, valueAt(state.ended, oldest(state.ended)!)!)
  }
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
  for (; removed < limit && state.attempts.size > 0; removed += 1) {
    const position = oldest(state.attempts)!
    const endpoint = valueAt(state.attempts, position)!
    if (valueAt(endpoint.attempts, position)!.atMs >= beforeMs) break
    dropOldestAttempt(state, endpoint)
  }
  for (; removed < limit && state.ended.size > 0; removed += 1) {
    const row = valueAt(state.ended, oldest(state.ended)!)!
    if (row.delivery.endedMs! >= beforeMs) break
    dropEnded(state, row)
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

function dropOldestAttempt(state: State, endpoint: Endpoint): void {
  const position = oldest(endpoint.attempts)!
  const record = removeAt(endpoint.attempts, position)!
  removeAt(state.attempts, position)
  removeFromCall(state, position, record)
}

export function dropEnded(state: State, row: Row): void {
  removeAt(state.ended, row.endedPosition)
  removeAt(row.endpoint.ended, row.endedPosition)
  removeAt(row.endpoint.deliveries, row.position)
  state.rows.delete(row.delivery.id)
  row.event.references -= 1
  if (row.event.references === 0) state.events.delete(row.event.id)
}
