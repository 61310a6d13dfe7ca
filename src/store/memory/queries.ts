import type { StoredAttempt } from '../../delivery/attempt-record.js'
import type {
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  FoundDeliveries,
  StoredDelivery,
} from '../../delivery/delivery-queries.js'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { effectiveState, toStoredAttempt } from '../effective-state.js'
import { readiness } from './lanes.js'
import { canClaim } from './leases.js'
import { mergedWalk } from './merge.js'
import { createPositionLog, type PositionLog, walk } from './position-log.js'
import type { AttemptEntry, Endpoint, Row, State } from './state.js'

/** The contract's read methods over the memory store's state. */

export function ready(state: State, owner: string, storeMs: number): readonly ReadyEndpoint[] {
  const found: ReadyEndpoint[] = []
  for (const endpoint of state.endpoints.values()) {
    if (endpoint.lanes.size === 0 || !canClaim(state, owner, endpoint.shard, storeMs)) continue
    const endpointReady = readiness(endpoint)
    if (endpointReady.dueMs !== undefined) found.push(endpointReady)
  }
  return found
}

export function stale(state: State, owner: string, limit: number, storeMs: number): readonly Delivery[] {
  const found: Delivery[] = []
  for (const endpoint of state.stale) {
    let hasStale = false
    const isOwned = canClaim(state, owner, endpoint.shard, storeMs)
    for (const queue of endpoint.queues) {
      if (queue.epoch >= endpoint.webhook.epoch) continue
      for (let row = queue.oldest; row; row = row.waitNext) {
        if (found.length >= limit) return found
        hasStale = true
        if (!isOwned) break
        found.push(row.delivery)
      }
    }
    if (!hasStale) state.stale.delete(endpoint)
  }
  return found
}

export function delivery(state: State, accountId: string, deliveryId: string): StoredDelivery | undefined {
  const row = state.rows.get(deliveryId)
  return row?.delivery.accountId === accountId ? toStored([row])[0] : undefined
}

export function deliveries(state: State, query: DeliveryQuery): readonly StoredDelivery[] {
  const endpoint = state.endpoints.get(query.webhookId)
  if (endpoint?.webhook.accountId !== query.accountId) return []
  const found: Row[] = []
  for (const [, row] of walk(endpoint.deliveries, query.ascending === true, query.cursor)) {
    if (found.length >= query.limit) break
    const { state: effective, acceptedMs } = effectiveState(row.delivery, endpoint.webhook.epoch)
    if (query.states && !query.states.includes(effective)) continue
    if (isWithin(acceptedMs, query)) found.push(row)
  }
  return toStored(found)
}

export function search(state: State, query: DeliverySearch): FoundDeliveries {
  const { accountId, webhookId, callId, states, cursor = Number.POSITIVE_INFINITY, limit } = query
  const found: Row[] = []
  for (const row of state.rows.values()) {
    const { delivery, endpoint } = row
    if (row.position >= cursor) continue
    if (accountId !== undefined && delivery.accountId !== accountId) continue
    if (webhookId !== undefined && delivery.webhookId !== webhookId) continue
    if (callId !== undefined && delivery.callId !== callId) continue
    if (states && !states.includes(effectiveState(delivery, endpoint.webhook.epoch).state)) continue
    if (isWithin(delivery.acceptedMs, query)) found.push(row)
  }
  const page = found.sort((a, b) => b.position - a.position).slice(0, limit)
  const deliveries = toStored(page)
  return found.length > limit ? { deliveries, cursor: page.at(-1)!.position } : { deliveries }
}

/** Records of a webhook that a search for its last success examines. */
const MAX_EXAMINED = 1000

export function lastSuccesses(state: State, webhookIds: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const webhookId of webhookIds) {
    let examined = 0
    for (const [, { record }] of walk(
      state.endpoints.get(webhookId)?.attempts ?? createPositionLog<AttemptEntry>(),
      false,
    )) {
      if (record.result === 'success') found.set(webhookId, record.atMs)
      examined += 1
      if (record.result === 'success' || examined === MAX_EXAMINED) break
    }
  }
  return found
}

export function attempts(state: State, query: AttemptQuery): readonly StoredAttempt[] {
  const found: StoredAttempt[] = []
  const logs = logsOf(state, query)
  const ascending = query.ascending === true
  const [only] = logs
  const entries =
    only && logs.length === 1
      ? walk(only, ascending, query.cursor)
      : mergedWalk(logs, ascending, query.cursor)
  for (const [position, { record, row }] of entries) {
    if (found.length >= query.limit) break
    if (query.webhookId !== undefined && record.webhookId !== query.webhookId) continue
    if (query.deliveryId !== undefined && record.deliveryId !== query.deliveryId) continue
    if (query.callIds && (record.callId === undefined || !query.callIds.includes(record.callId))) continue
    if (isWithin(record.atMs, query)) found.push(toStoredAttempt(record, position, requestOf(row)))
  }
  return found
}

/** The smallest set of logs that contains every match, all of this account. */
function logsOf(state: State, query: AttemptQuery): readonly PositionLog<AttemptEntry>[] {
  const row = query.deliveryId === undefined ? undefined : state.rows.get(query.deliveryId)
  const webhookId = query.webhookId ?? row?.delivery.webhookId
  if (webhookId !== undefined) {
    const endpoint = state.endpoints.get(webhookId)
    return endpoint?.webhook.accountId === query.accountId ? [endpoint.attempts] : []
  }
  const calls = state.calls.get(query.accountId)
  if (query.callIds && !query.callIds.some((callId) => calls?.get(callId)?.retainedRows)) return []
  return (state.endpointsByAccount.get(query.accountId) ?? []).map((endpoint: Endpoint) => endpoint.attempts)
}

function requestOf({ delivery, event }: Row) {
  return { httpVerb: delivery.httpVerb, body: event.bodies[delivery.variant]! }
}

function isWithin(ms: number, range: { readonly fromMs?: number; readonly toMs?: number }): boolean {
  return ms >= (range.fromMs ?? Number.NEGATIVE_INFINITY) && ms <= (range.toMs ?? Number.POSITIVE_INFINITY)
}

/** Rows as readers see them, each with the number of deliveries ahead of it. Walks every lane once, however many of its rows are given. */
function toStored(rows: readonly Row[]): StoredDelivery[] {
  const ahead = new Map<Row, number>()
  for (const lane of new Set(rows.flatMap((row) => row.lane ?? []))) {
    let count = 0
    for (let row: Row | undefined = lane.head; row; row = row.laneNext) {
      const cancelled = effectiveState(row.delivery, row.endpoint.webhook.epoch).state === 'cancelled'
      ahead.set(row, cancelled ? 0 : count)
      if (!cancelled) count += 1
    }
  }
  return rows.map((row) => ({
    position: row.position,
    ahead: ahead.get(row) ?? 0,
    ...effectiveState(row.delivery, row.endpoint.webhook.epoch),
  }))
}
