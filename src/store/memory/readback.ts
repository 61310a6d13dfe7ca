import type { StoredAttempt } from '../../delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../../delivery/delivery-queries.js'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { asRead, readAttempt } from '../reading.js'
import { readiness } from './lanes.js'
import { mayClaim } from './leases.js'
import { mergedWalk } from './merge.js'
import { type PositionLog, walk } from './position-log.js'
import type { Endpoint, Kept, Row, State } from './state.js'

export function ready(state: State, owner: string, storeMs: number): readonly ReadyEndpoint[] {
  const found: ReadyEndpoint[] = []
  for (const endpoint of state.endpoints.values()) {
    if (endpoint.lanes.size === 0 || !mayClaim(state, owner, endpoint.shard, storeMs)) continue
    const standing = readiness(endpoint)
    if (standing.dueMs !== undefined) found.push(standing)
  }
  return found
}

export function stale(state: State, owner: string, limit: number, storeMs: number): readonly Delivery[] {
  const found: Delivery[] = []
  for (const endpoint of state.stale) {
    let any = false
    const mine = mayClaim(state, owner, endpoint.shard, storeMs)
    for (const queue of endpoint.queues) {
      if (queue.epoch >= endpoint.webhook.epoch) continue
      for (let row = queue.oldest; row; row = row.waitBehind) {
        if (found.length >= limit) return found
        any = true
        if (!mine) break
        found.push(row.delivery)
      }
    }
    if (!any) state.stale.delete(endpoint)
  }
  return found
}

export function delivery(state: State, accountId: string, deliveryId: string): StoredDelivery | undefined {
  const row = state.rows.get(deliveryId)
  return row?.delivery.accountId === accountId ? stored([row])[0] : undefined
}

export function deliveries(state: State, query: DeliveryQuery): readonly StoredDelivery[] {
  const endpoint = state.endpoints.get(query.webhookId)
  if (endpoint?.webhook.accountId !== query.accountId) return []
  const found: Row[] = []
  for (const [, row] of walk(endpoint.deliveries, query.ascending === true, query.cursor)) {
    if (found.length >= query.limit) break
    const { state: readState, acceptedMs } = asRead(row.delivery, endpoint.webhook.epoch)
    if (query.states && !query.states.includes(readState)) continue
    if (isWithin(acceptedMs, query)) found.push(row)
  }
  return stored(found)
}

export function attempts(state: State, query: AttemptQuery): readonly StoredAttempt[] {
  const found: StoredAttempt[] = []
  const logs = logsOf(state, query)
  const ascending = query.ascending === true
  const [only] = logs
  const kept =
    only && logs.length === 1
      ? walk(only, ascending, query.cursor)
      : mergedWalk(logs, ascending, query.cursor)
  for (const [position, { record, row }] of kept) {
    if (found.length >= query.limit) break
    if (query.webhookId !== undefined && record.webhookId !== query.webhookId) continue
    if (query.deliveryId !== undefined && record.deliveryId !== query.deliveryId) continue
    if (query.callIds && (record.callId === undefined || !query.callIds.includes(record.callId))) continue
    if (isWithin(record.atMs, query)) found.push(readAttempt(record, position, sentOf(row)))
  }
  return found
}

/** The fewest logs that hold all that is asked for, of this account only. */
function logsOf(state: State, query: AttemptQuery): readonly PositionLog<Kept>[] {
  const row = query.deliveryId === undefined ? undefined : state.rows.get(query.deliveryId)
  const webhookId = query.webhookId ?? row?.delivery.webhookId
  if (webhookId !== undefined) {
    const endpoint = state.endpoints.get(webhookId)
    return endpoint?.webhook.accountId === query.accountId ? [endpoint.attempts] : []
  }
  const calls = state.calls.get(query.accountId)
  if (query.callIds && !query.callIds.some((callId) => calls?.get(callId)?.kept)) return []
  return (state.ofAccount.get(query.accountId) ?? []).map((endpoint: Endpoint) => endpoint.attempts)
}

function sentOf({ delivery, event }: Row) {
  return { httpVerb: delivery.httpVerb, body: event.bodies[delivery.variant]! }
}

function isWithin(ms: number, range: { readonly fromMs?: number; readonly toMs?: number }): boolean {
  return ms >= (range.fromMs ?? Number.NEGATIVE_INFINITY) && ms <= (range.toMs ?? Number.POSITIVE_INFINITY)
}

/** Rows as they are read, each with what is ahead of it: every lane is walked once, however many rows it has. */
function stored(rows: readonly Row[]): StoredDelivery[] {
  const ahead = new Map<Row, number>()
  for (const lane of new Set(rows.flatMap((row) => row.lane ?? []))) {
    let count = 0
    for (let row: Row | undefined = lane.head; row; row = row.laneBehind) {
      const cancelled = asRead(row.delivery, row.endpoint.webhook.epoch).state === 'cancelled'
      ahead.set(row, cancelled ? 0 : count)
      if (!cancelled) count += 1
    }
  }
  return rows.map((row) => ({
    position: row.position,
    ahead: ahead.get(row) ?? 0,
    ...asRead(row.delivery, row.endpoint.webhook.epoch),
  }))
}
