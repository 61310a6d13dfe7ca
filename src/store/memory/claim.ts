import type { Claim, ClaimRequest, ClaimResult, ReadyEndpoint } from '../../delivery/delivery-store.js'
import { isProbed } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { applyClaim } from '../transitions.js'
import { currentQueue, readiness, stopWaiting } from './lanes.js'
import { canClaim } from './leases.js'
import type { Endpoint, Queue, Row, State } from './state.js'

/** Claims due heads of the named endpoints whose shards this node may claim from. */
export function claim(state: State, request: ClaimRequest): ClaimResult {
  const { owner, limit, now } = request
  const claims: Claim[] = []
  const webhooks = new Map<string, Webhook>()
  const endpoints: ReadyEndpoint[] = []
  for (const { webhookId, slots, retriesFirst = false } of request.endpoints) {
    const endpoint = state.endpoints.get(webhookId)
    if (!endpoint) continue
    const { webhook, origin } = endpoint
    if (!canClaim(state, owner, endpoint.shard, now)) {
      // Reported idle: its present owner schedules it.
      endpoints.push({ webhookId, accountId: webhook.accountId, origin, failing: false, dueMs: undefined })
      continue
    }
    const count = claims.length
    claimFrom(state, endpoint, Math.min(slots, limit - count), retriesFirst, now, claims)
    if (claims.length > count) webhooks.set(webhookId, webhook)
    endpoints.push(readiness(endpoint))
  }
  return { claims, webhooks, endpoints }
}

/** First attempts get half of the slots; retries get the rest; either kind uses the slots that the other leaves free. */
function claimFrom(
  state: State,
  endpoint: Endpoint,
  slots: number,
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
    claimOldest(state, queue, Math.min(slots, 1), now, claims)
    return
  }
  const max = claims.length + slots
  const half = retriesFirst ? Math.floor(slots / 2) : Math.ceil(slots / 2)
  claimDue(state, queue.firstAttempts, claims.length + half, now, claims)
  claimDue(state, queue.retries, max, now, claims)
  claimDue(state, queue.firstAttempts, max, now, claims)
}

function claimOldest(state: State, queue: Queue, slots: number, now: number, claims: Claim[]): void {
  const [first, retry] = [queue.firstAttempts[0]?.dueMs, queue.retries[0]?.dueMs]
  const retryFirst = retry !== undefined && (first === undefined || retry <= first)
  claimDue(state, retryFirst ? queue.retries : queue.firstAttempts, claims.length + slots, now, claims)
}

function claimDue(state: State, heap: readonly Row[], max: number, now: number, claims: Claim[]): void {
  while (claims.length < max) {
    const row = heap[0]
    if (!row || row.dueMs > now) return
    stopWaiting(row)
    const shard = state.shards[row.endpoint.shard]!
    row.delivery = applyClaim(row.delivery)
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
