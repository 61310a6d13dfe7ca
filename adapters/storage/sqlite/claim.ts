/** Claims due heads: the SQL of `DeliveryStore.claim`. */
import {
  applyClaim,
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  isProbed,
  type ReadyEndpoint,
  type Webhook,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { CachedEndpoint } from './endpoints.js'
import { prepareChange, prepareQuery } from './query.js'
import { COLUMNS, type DeliveryRow } from './rows.js'
import { IN_FLIGHT, RETRY, UNTRIED } from './state-codes.js'

/** A due head with its event's first body and trace context. */
interface DueRow extends DeliveryRow {
  readonly traceparent: string | null
  readonly body: string
}

/** Upper bound of claims cached until they are settled; further ones are read again. */
const MAX_CACHED_CLAIMS = 10_000

export const DUE_SQL = `select ${COLUMNS}, e.traceparent, e.body
  from hookswitch_delivery d indexed by hookswitch_delivery_queue join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.epoch = ? and d.state = ? and d.due_ms is not null and d.due_ms <= ? and d.state <= 1
  order by d.due_ms, d.position limit ? + 0`

export function createClaim(context: EngineContext): (request: ClaimRequest) => ClaimResult {
  const { db, state, endpoints, eventBodies, rows, inFlight } = context
  const due = prepareQuery<DueRow>(db, DUE_SQL)
  const update = prepareChange(
    db,
    `update hookswitch_delivery set state = ${IN_FLIGHT}, due_ms = null, fence = ?, term = ? where position = ?`,
  )

  /** First attempts get half of the slots; slots that either kind leaves unused go to the other. */
  function claimFrom(
    endpoint: CachedEndpoint,
    slots: number,
    retriesFirst: boolean,
    now: number,
    claims: Claim[],
  ): void {
    // A deleted endpoint and a paused one are not due.
    if (slots <= 0 || (endpoints.dueMsOf(endpoint) ?? Number.POSITIVE_INFINITY) > now) return
    if (isProbed(endpoint.webhook.health)) {
      const isRetry = endpoint.retryDueMs <= endpoint.untriedDueMs
      claimDue(endpoint, isRetry ? RETRY : UNTRIED, 1, now, claims)
      return
    }
    const maxClaims = claims.length + slots
    const hasRetries = endpoint.retryDueMs <= now
    const half = retriesFirst ? Math.floor(slots / 2) : Math.ceil(slots / 2)
    if (endpoint.untriedDueMs <= now) claimDue(endpoint, UNTRIED, hasRetries ? half : slots, now, claims)
    if (!hasRetries) return
    const wereAllTaken = claimDue(endpoint, RETRY, maxClaims - claims.length, now, claims)
    if (!wereAllTaken) claimDue(endpoint, UNTRIED, maxClaims - claims.length, now, claims)
  }

  /** Returns whether as many were due as requested. */
  function claimDue(
    endpoint: CachedEndpoint,
    kind: number,
    count: number,
    now: number,
    claims: Claim[],
  ): boolean {
    if (count <= 0) return true
    const found = due.all(endpoint.key, endpoint.webhook.epoch, kind, now, count)
    for (const row of found) claims.push(claimOne(row, endpoint))
    if (found.length > 0) {
      if (kind === UNTRIED) endpoint.untriedDueMs = Number.NaN
      else endpoint.retryDueMs = Number.NaN
    }
    return found.length === count
  }

  function claimOne(row: DueRow, endpoint: CachedEndpoint): Claim {
    const located = rows.fromRow(row, endpoint)
    const delivery = applyClaim(located.delivery)
    located.delivery = delivery
    update(delivery.fence, state.term, row.position)
    if (inFlight.size < MAX_CACHED_CLAIMS) inFlight.set(delivery.id, located)
    const body = row.variant === 0 ? row.body : eventBodies.variantBody(row.event, row.variant)
    const { traceparent } = row
    return traceparent === null ? { delivery, body } : { delivery, body, traceparent }
  }

  return ({ owner, endpoints: requested, limit, now }) => {
    state.storeMs = now
    const claims: Claim[] = []
    const webhooks = new Map<string, Webhook>()
    const readiness: ReadyEndpoint[] = []
    for (const { webhookId, slots, retriesFirst = false } of requested) {
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint) continue
      const { webhook, origin } = endpoint
      if (state.owner !== owner) {
        // This node no longer owns the file, so nothing here is due for it.
        const { accountId } = webhook
        readiness.push({ webhookId, accountId, origin, failing: false, dueMs: undefined })
        continue
      }
      const count = claims.length
      claimFrom(endpoint, Math.min(slots, limit - count), retriesFirst, now, claims)
      if (claims.length > count) webhooks.set(webhookId, webhook)
      readiness.push(endpoints.readiness(endpoint))
    }
    return { claims, webhooks, endpoints: readiness }
  }
}
