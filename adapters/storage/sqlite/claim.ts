import {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  claimed,
  isProbed,
  type ReadyEndpoint,
  type Webhook,
} from 'hookswitch/store'
import type { Endpoint } from './endpoints.js'
import { change, query } from './query.js'
import { COLUMNS, type StoredRow } from './rows.js'
import { IN_FLIGHT, RETRY, UNTRIED } from './states.js'
import type { Tools } from './tools.js'

/** A due head, with what is sent of its event. */
interface DueRow extends StoredRow {
  readonly traceparent: string | null
  readonly body: string
}

/** Claims that are remembered until they are settled; further ones are read again. */
const REMEMBERED = 10_000

export const DUE_SQL = `select ${COLUMNS}, e.traceparent, e.body
  from hookswitch_delivery d indexed by hookswitch_delivery_queue join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.epoch = ? and d.state = ? and d.due_ms is not null and d.due_ms <= ? and d.state <= 1
  order by d.due_ms, d.position limit ? + 0`

export function claimer(tools: Tools): (request: ClaimRequest) => ClaimResult {
  const { db, memory, endpoints, bodies, rows, inFlight } = tools
  const due = query<DueRow>(db, DUE_SQL)
  const update = change(
    db,
    `update hookswitch_delivery set state = ${IN_FLIGHT}, due_ms = null, fence = ?, term = ? where position = ?`,
  )

  /** First attempts get half of the room; what either kind leaves free goes to the other. */
  function take(endpoint: Endpoint, room: number, retriesFirst: boolean, now: number, claims: Claim[]): void {
    // Neither one that is deleted is due, nor one that pauses.
    if (room <= 0 || (endpoints.dueMsOf(endpoint) ?? Number.POSITIVE_INFINITY) > now) return
    if (isProbed(endpoint.webhook.health)) {
      const isRetry = endpoint.retryDueMs <= endpoint.untriedDueMs
      takeDue(endpoint, isRetry ? RETRY : UNTRIED, 1, now, claims)
      return
    }
    const full = claims.length + room
    const anyRetries = endpoint.retryDueMs <= now
    const half = retriesFirst ? Math.floor(room / 2) : Math.ceil(room / 2)
    if (endpoint.untriedDueMs <= now) takeDue(endpoint, UNTRIED, anyRetries ? half : room, now, claims)
    if (!anyRetries) return
    const wasFull = takeDue(endpoint, RETRY, full - claims.length, now, claims)
    if (!wasFull) takeDue(endpoint, UNTRIED, full - claims.length, now, claims)
  }

  /** True: there was as much as was asked for. */
  function takeDue(endpoint: Endpoint, kind: number, count: number, now: number, claims: Claim[]): boolean {
    if (count <= 0) return true
    const found = due.all(endpoint.key, endpoint.webhook.epoch, kind, now, count)
    for (const stored of found) claims.push(claimOne(stored, endpoint))
    if (found.length > 0) {
      if (kind === UNTRIED) endpoint.untriedDueMs = Number.NaN
      else endpoint.retryDueMs = Number.NaN
    }
    return found.length === count
  }

  function claimOne(stored: DueRow, endpoint: Endpoint): Claim {
    const row = rows.of(stored, endpoint)
    const delivery = claimed(row.delivery)
    row.delivery = delivery
    update(delivery.fence, memory.term, stored.position)
    if (inFlight.size < REMEMBERED) inFlight.set(delivery.id, row)
    const body = stored.variant === 0 ? stored.body : bodies.other(stored.event, stored.variant)
    const { traceparent } = stored
    return traceparent === null ? { delivery, body } : { delivery, body, traceparent }
  }

  return ({ owner, endpoints: named, limit, now }) => {
    memory.storeMs = now
    const claims: Claim[] = []
    const webhooks = new Map<string, Webhook>()
    const standing: ReadyEndpoint[] = []
    for (const { webhookId, room, retriesFirst = false } of named) {
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint) continue
      const { webhook, origin } = endpoint
      if (memory.owner !== owner) {
        // Nothing to wait for: whoever owns it now is told of its own.
        const { accountId } = webhook
        standing.push({ webhookId, accountId, origin, failing: false, dueMs: undefined })
        continue
      }
      const count = claims.length
      take(endpoint, Math.min(room, limit - count), retriesFirst, now, claims)
      if (claims.length > count) webhooks.set(webhookId, webhook)
      standing.push(endpoints.readiness(endpoint))
    }
    return { claims, webhooks, endpoints: standing }
  }
}
