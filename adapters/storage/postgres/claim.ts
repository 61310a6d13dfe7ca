/**
 * Claims deliveries in two statements: one scans the requested endpoints, then `claim-candidates.ts` and
 * `claim-split.ts` decide, and one claims the selected heads. What has changed in between is left out and scanned again
 * by the next claim.
 */
import { randomInt } from 'node:crypto'
import type { Claim, ClaimRequest, ClaimResult, ReadyEndpoint, Webhook } from 'hookswitch/store'
import { shardOf } from 'hookswitch/store'
import { int2Array, int4Array, textArray } from './binary-arrays.js'
import {
  claimValues,
  mergeRequests,
  type RequestedEndpoints,
  type ScannedEndpoint,
  scannedEndpoints,
  selectClaims,
} from './claim-candidates.js'
import { createWebhookCache } from './claim-webhook-cache.js'
import { isOutcomeUnknown } from './errors.js'
import type { InFlightCache } from './in-flight-cache.js'
import { deliveryWith, endpointOf } from './rows.js'
import type { Deps } from './session-deps.js'
import { type ClaimedRow, claimStatements, type ScanRow } from './sql/claim.js'

export interface ClaimDeps extends Pick<Deps, 'session' | 'schema'> {
  readonly inFlight: Pick<InFlightCache, 'add'>
  /** Reads endpoints in any shard. */
  currentEndpoints(webhookIds: readonly string[]): Promise<readonly ReadyEndpoint[]>
  /** It is unknown whether a claim was committed. Its token finds the deliveries that it may have left in flight. */
  onOutcomeUnknown(token: number): void
}

const TOKENS = 2 ** 47

/** Runs one claim at a time, so that two claims of this node do not compete for the same heads. */
export function createClaimer({ session, schema, inFlight, currentEndpoints, onOutcomeUnknown }: ClaimDeps) {
  const sql = claimStatements(schema)
  const webhookCache = createWebhookCache()
  let last: Promise<unknown> = Promise.resolve()

  async function claimNow(request: ClaimRequest): Promise<ClaimResult> {
    const requested = mergeRequests(request.endpoints)
    if (requested.size === 0) return { claims: [], webhooks: new Map(), endpoints: [] }
    const scanned = scannedEndpoints(await scan(request, requested))
    const count = selectClaims(scanned, requested, request)
    const result = resultOf(scanned, count === 0 ? [] : await claimSelected(request, scanned))
    return scanned.size === requested.size ? result : withOthers(result, requested)
  }

  function scan({ owner, now }: ClaimRequest, requested: RequestedEndpoints): Promise<readonly ScanRow[]> {
    const ids = [...requested.keys()]
    const slots = Array.from(requested.values(), (endpoint) => Math.max(0, endpoint.slots))
    const shards = [...new Set(ids.map(shardOf))]
    return session.query<ScanRow>(sql.scan, [
      textArray(ids),
      int4Array(slots),
      int4Array(ids.map(webhookCache.revisionOf)),
      int2Array(shards),
      owner,
      now,
    ])
  }

  async function claimSelected(
    { owner, now }: ClaimRequest,
    scanned: ReadonlyMap<string, ScannedEndpoint>,
  ): Promise<readonly ClaimedRow[]> {
    const token = randomInt(1, TOKENS)
    try {
      return await session.query<ClaimedRow>(sql.claim, claimValues(scanned.values(), token, owner, now))
    } catch (thrown) {
      if (isOutcomeUnknown(thrown)) onOutcomeUnknown(token)
      throw thrown
    }
  }

  function resultOf(scanned: ReadonlyMap<string, ScannedEndpoint>, rows: readonly ClaimedRow[]): ClaimResult {
    const byId = new Map(rows.map((row) => [row.id, row]))
    const claims: Claim[] = []
    const webhooks = new Map<string, Webhook>()
    const endpoints: ReadyEndpoint[] = []
    for (const { row, heads, selected } of scanned.values()) {
      const webhook = webhookCache.webhookOf(row)
      let headMs: number | null = null
      for (const { id, dueMs } of heads) {
        if (!byId.has(id) && (headMs === null || dueMs < headMs)) headMs = dueMs
      }
      endpoints.push(endpointOf(row, headMs))
      for (const { id } of selected) {
        const claimed = byId.get(id)
        if (!claimed) continue
        const delivery = deliveryWith(row, claimed)
        const { body, traceparent } = claimed
        inFlight.add(row.webhookId, claimed)
        claims.push(traceparent === null ? { delivery, body } : { delivery, body, traceparent })
        webhooks.set(webhook.id, webhook)
      }
    }
    webhookCache.evict()
    return { claims, webhooks, endpoints }
  }

  /** Reports the endpoints of other nodes as idle: their owners know when they are due. */
  async function withOthers(
    { claims, webhooks, endpoints }: ClaimResult,
    requested: RequestedEndpoints,
  ): Promise<ClaimResult> {
    const own = new Set(endpoints.map(({ webhookId }) => webhookId))
    const others = await currentEndpoints([...requested.keys()].filter((webhookId) => !own.has(webhookId)))
    const idle = others.map((endpoint) => ({ ...endpoint, failing: false, dueMs: undefined }))
    return { claims, webhooks, endpoints: [...endpoints, ...idle] }
  }

  return {
    claim(request: ClaimRequest): Promise<ClaimResult> {
      const claimed = last.then(() => claimNow(request))
      last = claimed.catch(() => {})
      return claimed
    },
    /** Resolves when the claims so far have ended. */
    idle: async () => void (await last),
  }
}
