import type { Claim, ClaimRequest, ClaimResult, ReadyEndpoint } from '../../delivery/delivery-store.js'
import { isProbed } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { claimed } from '../transitions.js'
import { currentQueue, readiness, stopWaiting } from './lanes.js'
import { mayClaim } from './leases.js'
import type { Endpoint, Queue, Row, State } from './state.js'

export function claim(state: State, request: ClaimRequest): ClaimResult {
  const { owner, limit, now } = request
  const claims: Claim[] = []
  const webhooks = new Map<string, Webhook>()
  const endpoints: ReadyEndpoint[] = []
  for (const { webhookId, room, retriesFirst = false } of request.endpoints) {
    const endpoint = state.endpoints.get(webhookId)
    if (!endpoint) continue
    const { webhook, origin } = endpoint
    if (!mayClaim(state, owner, endpoint.shard, now)) {
      // Nothing to wait for: whoever owns it now is told of its own.
      endpoints.push({ webhookId, accountId: webhook.accountId, origin, failing: false, dueMs: undefined })
      continue
    }
    const count = claims.length
    take(state, endpoint, Math.min(room, limit - count), retriesFirst, now, claims)
    if (claims.length > count) webhooks.set(webhookId, webhook)
    endpoints.push(readiness(endpoint))
  }
  return { claims, webhooks, endpoints }
}

/** First attempts get half of the room; what either kind leaves free goes to the other. */
function take(
  state: State,
  endpoint: Endpoint,
  room: number,
  retriesFirst: boolean,
  now: number,
  claims: Claim[],
): void {
  const { webhook } = endpoint
  if (webhook.deletedMs !== undefined) return
  if ((webhook.health?.pausedUntilMs ?? 0) > now) return
  const queue = currentQueue(endpoint)
  if (!queue) return
  if (isProbed(webhook.health)) {
    takeOldest(state, queue, Math.min(room, 1), now, claims)
    return
  }
  const full = claims.length + room
  const half = retriesFirst ? Math.floor(room / 2) : Math.ceil(room / 2)
  takeDue(state, queue.firstAttempts, claims.length + half, now, claims)
  takeDue(state, queue.retries, full, now, claims)
  takeDue(state, queue.firstAttempts, full, now, claims)
}

function takeOldest(state: State, queue: Queue, room: number, now: number, claims: Claim[]): void {
  const [first, retry] = [queue.firstAttempts[0]?.dueMs, queue.retries[0]?.dueMs]
  const retryFirst = retry !== undefined && (first === undefined || retry <= first)
  takeDue(state, retryFirst ? queue.retries : queue.firstAttempts, claims.length + room, now, claims)
}

function takeDue(state: State, heap: readonly Row[], full: number, now: number, claims: Claim[]): void {
  while (claims.length < full) {
    const row = heap[0]
    if (!row || row.dueMs > now) return
    stopWaiting(row)
    const shard = state.shards[row.endpoint.shard]!
    row.delivery = claimed(row.delivery)
    row.term = shard.term
    shard.inFlight.add(row)
    const { bodies, traceparent } = row.event
    const body = bodies[row.delivery.variant]!
    claims.push(
      traceparent === undefined
        ? { delivery: row.delivery, body }
        : { delivery: row.delivery, body, traceparent },
    )
  }
}
