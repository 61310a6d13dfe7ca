import { isTerminal } from '../../delivery/lifecycle.js'
import { pruneCalls } from './calls.js'
import { dropAttempt, front, oldestInAll, removeRow } from './history.js'
import { oldest, type PositionLog, removeAt, valueAt, walk } from './position-log.js'
import { deleteInner, type Endpoint, type Row, type State } from './state.js'

/** Removes expired rows, oldest first, so that a batch scans little more than it removes. */
export function prune(
  state: State,
  limits: { readonly attemptsPerWebhook: number; readonly beforeMs: number; readonly limit: number },
  now: number,
): number {
  const { attemptsPerWebhook, beforeMs, limit } = limits
  let left = limit
  for (const endpoint of state.endpoints.values()) {
    while (left > 0 && endpoint.deliveredAttempts > attemptsPerWebhook)
      left -= removeWhole(state, front(endpoint.delivered))
    if (left > 0 && isRemovable(endpoint, now)) {
      removeEndpoint(state, endpoint)
      left -= 1
    }
  }
  for (const endpoint of state.endpoints.values()) {
    for (const log of [endpoint.delivered, endpoint.deliveredWithoutRecords, endpoint.otherEnds]) {
      for (const row of endedBefore(log, beforeMs, left)) left -= removeWhole(state, row)
    }
    for (const [position, row] of recordedBefore(endpoint, beforeMs, left)) {
      dropAttempt(state, row, position)
      left -= 1
    }
  }
  for (; left > 0 && state.keyQueue.size > 0; left -= 1) {
    const position = oldest(state.keyQueue)!
    const { accountId, key, untilMs } = valueAt(state.keyQueue, position)!
    if (untilMs > now) break
    removeAt(state.keyQueue, position)
    // The key may have been reused after its window.
    if (state.keys.get(accountId)?.get(key)?.untilMs === untilMs) deleteInner(state.keys, accountId, key)
  }
  // The last delivery may have had more attempts than were left.
  if (left <= 0) return limit
  return limit - left + pruneCalls(state, left, now)
}

/** Returns the number of rows: attempts, or the delivery itself where it has none. */
function removeWhole(state: State, row: Row): number {
  const { recordCount } = row
  removeRow(state, row)
  return Math.max(1, recordCount)
}

/** The oldest deliveries of this log that ended before a time, and few that have waited long are skipped. */
function endedBefore(log: PositionLog<Row>, beforeMs: number, limit: number): Row[] {
  const found: Row[] = []
  if (limit <= 0 || log.size === 0 || front(log).accepted.ms >= beforeMs) return found
  for (const [, row] of walk(log, true)) {
    if (row.accepted.ms >= beforeMs) break
    if (row.ended!.ms < beforeMs && found.push(row) >= limit) break
  }
  return found
}

/** The oldest attempts of deliveries that ended later. Those of waiting ones are kept. */
function recordedBefore({ attempts }: Endpoint, beforeMs: number, limit: number): [number, Row][] {
  const found: [number, Row][] = []
  if (limit <= 0 || attempts.size === 0) return found
  for (const [position, row] of walk(attempts, true)) {
    if (row.recordAt(position).atMs >= beforeMs) break
    if (isTerminal(row.state) && found.push([position, row]) >= limit) break
  }
  return found
}

/** Removes ended deliveries: the oldest that were delivered first, then the oldest of the rest. */
export function pruneOldest(state: State, limit: number): number {
  const delivered = oldestInAll(
    state,
    (endpoint) => [endpoint.delivered, endpoint.deliveredWithoutRecords],
    limit,
  )
  const others = oldestInAll(state, (endpoint) => [endpoint.otherEnds], limit - delivered.length)
  for (const [, row] of [...delivered, ...others]) removeRow(state, row)
  return delivered.length + others.length
}

/** How long a deleted webhook is retained, ms: an acceptance in progress may still refer to it. */
const DELETED_RETENTION_MS = 60_000

/** Deleted long enough ago, without any delivery left. */
function isRemovable({ webhook, deliveries }: Endpoint, now: number): boolean {
  const { deletedMs = now } = webhook
  return now - deletedMs > DELETED_RETENTION_MS && deliveries.size === 0
}

export function removeEndpoint(state: State, endpoint: Endpoint): void {
  const { id, accountId } = endpoint.webhook
  state.endpoints.delete(id)
  const others = state.endpointsByAccount.get(accountId)!.filter((sibling) => sibling !== endpoint)
  if (others.length > 0) state.endpointsByAccount.set(accountId, others)
  else state.endpointsByAccount.delete(accountId)
}
