import type { StoredAttempt } from '../../delivery/attempt-record.js'
import type {
  AttemptLogPage,
  AttemptLogQuery,
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  EndpointActivity,
  FoundDeliveries,
  LoggedAttempt,
  ReplayableQuery,
  StoredDelivery,
} from '../../delivery/delivery-queries.js'
import { TEST_LANE } from '../../delivery/delivery-queries.js'
import type { BodyKey } from '../../delivery/delivery-store.js'
import { isTerminal } from '../../delivery/lifecycle.js'
import {
  deliveryBounds,
  firstPosition,
  type ListPart,
  type PartQuery,
  partOf,
} from '../../delivery/list-part.js'
import { partiesOf } from '../../delivery/payload.js'
import { effectiveState, toStoredAttempt } from '../effective-state.js'
import { dueMsForReaders } from '../engine/readers.js'
import { countAhead } from './lanes.js'
import { mergedWalk } from './merge.js'
import { nthFrom, type PositionLog, valueAt, walk } from './position-log.js'
import { bodyOf, deliveryOf, effectiveStateName } from './readers.js'
import { replaysOf } from './replay-marks.js'
import type { Endpoint, Row, State } from './state.js'

/** The contract's read methods over the memory store's state. */

export function delivery(
  state: State,
  accountId: string | undefined,
  deliveryId: string,
): StoredDelivery | undefined {
  const row = state.rows.get(deliveryId)
  const isOfAccount = row && (accountId === undefined || row.source.accountId === accountId)
  return isOfAccount ? toStored([row])[0] : undefined
}

export function deliveries(state: State, query: DeliveryQuery): readonly StoredDelivery[] {
  const endpoint = state.endpoints.get(query.webhookId)
  if (endpoint?.webhook.accountId !== query.accountId) return []
  const ascending = query.ascending === true
  const { cursor, end } = deliveryBounds(query)
  const found: Row[] = []
  for (const [position, row] of walk(endpoint.deliveries, ascending, cursor)) {
    if (found.length >= query.limit || isBehind(position, end, ascending)) break
    if (query.states && !query.states.includes(effectiveStateName(row))) continue
    if (query.onlyOriginals && row.source.replayOf !== undefined) continue
    if (isWithin(row.accepted.ms, query)) found.push(row)
  }
  return toStored(found)
}

const isBehind = (position: number, end: number | undefined, ascending: boolean) =>
  end !== undefined && (ascending ? position > end : position < end)

/** Rows of a part. */
const PART_ROWS = 20_000

export function listPart(state: State, query: PartQuery): ListPart {
  const { list, accountId, webhookId, ascending = false, rows = PART_ROWS } = query
  const endpoint = webhookId === undefined ? undefined : state.endpoints.get(webhookId)
  const isOfAccount = endpoint?.webhook.accountId === accountId
  if (list === 'deliveries') {
    const bounds = deliveryBounds(query)
    return partOf(
      bounds,
      isOfAccount ? nthFrom(endpoint.deliveries, ascending, bounds.cursor, rows) : undefined,
      ascending,
    )
  }
  const last = state.lastOrdinal + 1
  const bounds = ascending
    ? { cursor: query.cursor ?? 0, end: last }
    : { cursor: Math.min(query.cursor ?? last, last), end: 0 }
  if (endpoint) return partOf(bounds, nthFrom(endpoint.attempts, ascending, bounds.cursor, rows), ascending)
  // The part begins with the account's next attempt. So many numbers have no more attempts.
  let next: number | undefined
  for (const { attempts } of state.endpointsByAccount.get(accountId) ?? []) {
    const position = nthFrom(attempts, ascending, bounds.cursor, 1)
    if (position !== undefined && (next === undefined || isBehind(next, position, ascending))) next = position
  }
  return partOf(bounds, next === undefined ? undefined : next + (rows - 1) * (ascending ? 1 : -1), ascending)
}

export function countReplayable(state: State, query: ReplayableQuery): ReadonlyMap<string, number> {
  const states = new Set(query.states.filter(isTerminal))
  const hooks = query.hooks && new Set(query.hooks)
  const { reason, includeRecovered } = query
  const counts = new Map<string, number>()
  for (const webhookId of new Set(query.webhookIds)) {
    const endpoint = state.endpoints.get(webhookId)
    if (!endpoint) continue
    let count = 0
    for (const [, row] of walk(endpoint.deliveries, true, firstPosition(query.fromMs) - 1)) {
      const { source } = row
      if (!states.has(effectiveStateName(row)) || !isWithin(row.accepted.ms, query)) continue
      if (source.replayOf !== undefined || source.lane.startsWith(TEST_LANE)) continue
      if (hooks && !hooks.has(source.hook)) continue
      if (reason !== undefined && reasonOf(row) !== reason) continue
      if (includeRecovered || !replaysOf(row)?.hasRecovered) count += 1
    }
    if (count > 0) counts.set(webhookId, count)
  }
  return counts
}

/** As `effectiveState` returns it. */
const reasonOf = (row: Row) => (row.state === 'waiting' ? effectiveStateName(row) : row.reason)

/** Found rows that are not sorted before all are, however small the page is. */
const MIN_SORTED = 1_000

export function search(state: State, query: DeliverySearch): FoundDeliveries {
  const { accountId, webhookId, callId, states, cursor = Number.POSITIVE_INFINITY, limit } = query
  const isOfCall = accountId !== undefined && callId !== undefined
  if (isOfCall && !state.calls.get(accountId)?.get(callId)?.rows) return { deliveries: [] }
  let found: Row[] = []
  let hasMore = false
  let sortAt = 2 * limit + MIN_SORTED
  // Sorting all that match takes long where they are many.
  const keepNewest = () => {
    found.sort((a, b) => b.position - a.position)
    let end = Math.min(limit, found.length)
    while (end > 0 && found[end]?.position === found[end - 1]!.position) end += 1
    hasMore ||= end < found.length
    found = found.slice(0, end)
    // The deliveries of one event stay together, however many they are.
    sortAt = Math.max(sortAt, 2 * end)
  }
  for (const row of state.rows.values()) {
    const { source } = row
    if (row.position >= cursor) continue
    if (accountId !== undefined && source.accountId !== accountId) continue
    if (webhookId !== undefined && source.webhookId !== webhookId) continue
    if (callId !== undefined && source.callId !== callId) continue
    if (states && !states.includes(effectiveStateName(row))) continue
    if (!isWithin(row.accepted.ms, query)) continue
    if (found.push(row) >= sortAt) keepNewest()
  }
  keepNewest()
  const deliveries = toStored(found)
  return hasMore ? { deliveries, cursor: found.at(-1)!.position } : { deliveries }
}

export function eventOf(state: State, accountId: string | undefined, eventId: string) {
  const event = state.events.get(eventId)
  if (!event?.rows) return undefined
  const { position, accountId: eventAccountId, hook, callId } = event
  const found = { accountId: eventAccountId, hook, ...(callId !== undefined && { callId }) }
  if (accountId === undefined) return found
  for (const { deliveries, replays } of state.endpointsByAccount.get(accountId) ?? [])
    if (valueAt(deliveries, position) || replays?.has(position)) return found
  return undefined
}

/** Records of a webhook that a search for its last success examines. */
const MAX_EXAMINED = 1000

export function lastSuccesses(state: State, webhookIds: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const webhookId of webhookIds) {
    let examined = 0
    const log = state.endpoints.get(webhookId)?.attempts
    if (!log) continue
    for (const [position, row] of walk(log, false)) {
      const record = row.recordAt(position)
      if (record.result === 'success') found.set(webhookId, record.atMs)
      examined += 1
      if (record.result === 'success' || examined === MAX_EXAMINED) break
    }
  }
  return found
}

export function activity(
  state: State,
  webhookIds: readonly string[],
  maxPending: number,
): ReadonlyMap<string, EndpointActivity> {
  const found = new Map<string, EndpointActivity>()
  for (const webhookId of webhookIds) {
    const endpoint = state.endpoints.get(webhookId)
    if (endpoint) found.set(webhookId, activityOf(endpoint, maxPending))
  }
  return found
}

function activityOf({ waitingCount, deliveries, attempts }: Endpoint, maxPending: number): EndpointActivity {
  let pending = 0
  let left = waitingCount
  let oldestDueMs: number | undefined
  let oldestAcceptedMs: number | undefined
  for (const [, row] of walk(deliveries, true)) {
    if (left === 0 || pending === maxPending) break
    if (row.state === 'waiting') left -= 1
    if (effectiveStateName(row) !== 'waiting') continue
    pending += 1
    oldestAcceptedMs = Math.min(row.accepted.ms, oldestAcceptedMs ?? row.accepted.ms)
    const dueMs = dueMsForReaders(row.due?.ms ?? 0, row.accepted.ms, 0)!
    if (oldestDueMs === undefined || dueMs < oldestDueMs) oldestDueMs = dueMs
  }
  const oldest = oldestDueMs === undefined ? {} : { oldestDueMs, oldestAcceptedMs: oldestAcceptedMs! }
  let examined = 0
  for (const [position, row] of walk(attempts, false)) {
    const { attempt, atMs, result, status, cause } = row.recordAt(position)
    if (attempt !== undefined) {
      const why = { ...(status !== undefined && { status }), ...(cause !== undefined && { cause }) }
      return { pending, ...oldest, last: { atMs, result, ...why } }
    }
    examined += 1
    if (examined === MAX_EXAMINED) break
  }
  return { pending, ...oldest }
}

export const eventBodies = (state: State, keys: readonly BodyKey[]): readonly (string | undefined)[] =>
  keys.map(({ eventId, variant }) => state.events.get(eventId)?.bodies[variant])

export function attempts(state: State, query: AttemptQuery): readonly StoredAttempt[] {
  const found: StoredAttempt[] = []
  const logs = logsOf(state, query)
  const callIds = query.callIds && new Set(query.callIds)
  const ascending = query.ascending === true
  const [only] = logs
  const entries =
    only && logs.length === 1
      ? walk(only, ascending, query.cursor)
      : mergedWalk(logs, ascending, query.cursor)
  for (const [position, row] of entries) {
    if (found.length >= query.limit || isBehind(position, query.end, ascending)) break
    const record = row.recordAt(position)
    if (query.webhookId !== undefined && record.webhookId !== query.webhookId) continue
    if (query.deliveryId !== undefined && record.deliveryId !== query.deliveryId) continue
    if (callIds && (record.callId === undefined || !callIds.has(record.callId))) continue
    if (query.onlyFailures && record.result !== 'failure') continue
    if (query.hooks && !query.hooks.includes(record.hook)) continue
    if (isWithin(record.atMs, query)) found.push(toStoredAttempt(record, position, requestOf(row)))
  }
  return found
}

export function attemptLog(state: State, { accountIds, after, limit }: AttemptLogQuery): AttemptLogPage {
  const found: LoggedAttempt[] = []
  if (after === undefined) return { attempts: found, position: state.lastOrdinal }
  const logs = [...new Set(accountIds)].flatMap((accountId) =>
    (state.endpointsByAccount.get(accountId) ?? []).map((endpoint: Endpoint) => endpoint.attempts),
  )
  for (const [position, row] of mergedWalk(logs, true, after)) {
    const call = partiesOf(bodyOf(row))
    if (found.push({ ...row.recordAt(position), position, ...(call && { call }) }) >= limit)
      return { attempts: found, position }
  }
  return { attempts: found, position: state.lastOrdinal }
}

/** The smallest set of logs that contains every match, all of this account. */
function logsOf(state: State, query: AttemptQuery): readonly PositionLog<Row>[] {
  const row = query.deliveryId === undefined ? undefined : state.rows.get(query.deliveryId)
  const webhookId = query.webhookId ?? row?.source.webhookId
  if (webhookId !== undefined) {
    const endpoint = state.endpoints.get(webhookId)
    return endpoint?.webhook.accountId === query.accountId ? [endpoint.attempts] : []
  }
  const calls = state.calls.get(query.accountId)
  if (query.callIds && !query.callIds.some((callId) => calls?.get(callId)?.rows)) return []
  return (state.endpointsByAccount.get(query.accountId) ?? []).map((endpoint: Endpoint) => endpoint.attempts)
}

function requestOf(row: Row) {
  return { httpVerb: row.source.httpVerb, body: bodyOf(row) }
}

function isWithin(ms: number, range: { readonly fromMs?: number; readonly toMs?: number }): boolean {
  return ms >= (range.fromMs ?? Number.NEGATIVE_INFINITY) && ms <= (range.toMs ?? Number.POSITIVE_INFINITY)
}

/** Rows as readers see them, each with the number of deliveries ahead of it. */
function toStored(rows: readonly Row[]): StoredDelivery[] {
  const aheadOf = countAhead(rows)
  return rows.map((row) => {
    const ahead = aheadOf.get(row) ?? 0
    const delivery = deliveryOf(row)
    if (row.state === 'waiting') {
      const dueMs = dueMsForReaders(row.due?.ms ?? 0, row.accepted.ms, ahead)
      if (dueMs !== undefined) delivery.dueMs = dueMs
    }
    const { sequence } = row.event
    const replays = replaysOf(row)
    return {
      position: row.position,
      ahead,
      sequence,
      ...(replays && { replays }),
      ...effectiveState(delivery, row.endpoint.webhook.epoch),
    }
  })
}
