/** Webhooks as an operator looks at them: state, backlog, last attempt, and the attempts of the last 24 hours. */

import type { FailureCause } from 'hookswitch/adapter'
import type { EndpointActivity } from '../delivery/delivery-queries.js'
import type { DeliveryReads } from '../delivery/delivery-store.js'
import type { Clock } from '../ports.js'
import { type EndpointHealth, endpointHealthOf } from '../webhooks/health.js'
import {
  findUnhealthy,
  troubledSinceMs,
  type UnhealthyRequest,
  type UnhealthySelection,
  type UnhealthyState,
} from '../webhooks/manage.js'
import type { Webhook } from '../webhooks/webhook.js'
import { positionOf, type WebhookStore } from '../webhooks/webhook-store.js'
import { slotOf } from './slots.js'
import type { StatsStore, StatsTotals } from './stats-store.js'

/** State of a webhook in the list. `idle`: `ok`, and without an attempt in the last 24 hours. */
type ListedEndpointState = ListedEndpoint['state']

/** Every state of a webhook in a list. */
export const ENDPOINT_STATES: readonly ListedEndpointState[] = ['ok', 'failing', 'paused', 'disabled', 'idle']
/** The states of a webhook whose events are not delivered as they should be. */
export const UNHEALTHY_STATES: readonly UnhealthyState[] = ['failing', 'paused', 'disabled']

/** One webhook of the list. Times in Unix milliseconds. */
export interface ListedEndpoint {
  /** The webhook's id. */
  readonly id: string
  /** The webhook's account. */
  readonly accountId: string
  /** The webhook's label. */
  readonly name: string
  /** The URL that receives the requests. */
  readonly uri: string
  /** The webhook's group, if it has one. */
  readonly group?: string
  /** Whether events reach it. */
  readonly state: EndpointHealth['state'] | 'idle'
  /** Why the service disabled it. */
  readonly disableReason?: string
  /** Failures since the last success; those in an outage of this service do not count. */
  readonly failuresInRow: number
  /** Time of the first failure since the last success. */
  readonly failingSinceMs?: number
  /** End of the pause; only with the state `paused`. */
  readonly pausedUntilMs?: number
  /** When a probe last found that no connection can be made. */
  readonly checkedMs?: number
  /** Why that probe could not connect. */
  readonly checkCause?: FailureCause
  /** Why it is paused; absent: it is not, or its receiver asked for that. */
  readonly pause?: {
    /** `unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them. */
    readonly kind: 'unavailable' | 'rejected'
    /** Probes that have failed. */
    readonly probes: number
    /** When it began, store time, in Unix milliseconds. */
    readonly sinceMs: number
  }
  /** Why the last attempt got no usable answer, or a later probe could not connect. Absent: it had an answer. */
  readonly cause?: string
  /** Deliveries that were given up or became too old since the last success. */
  readonly exhausted: number
  /** Deliveries that wait or are in flight, at most 1,000. */
  readonly pending: number
  /** True: there may be more than 1,000. */
  readonly isPendingCapped: boolean
  /** When the first of these deliveries is or was due. Absent: there are none. */
  readonly oldestDueMs?: number
  /** When the first of these deliveries was accepted, in Unix milliseconds. Absent: there are none. */
  readonly oldestAcceptedMs?: number
  /** The newest of the stored attempts. Absent: there is none among the newest 1,000 records. */
  readonly last?: {
    /** When it was sent, in Unix milliseconds. */
    readonly atMs: number
    /** `success`: the receiver responded 2xx. */
    readonly result: 'success' | 'failure'
    /** HTTP status code of the response. Absent without a response. */
    readonly status?: number
    /** Why it failed: a code of `FAILURE_CAUSES`. Absent where that is unknown. */
    readonly cause?: string
  }
  /** Attempts of each of the last 24 hours, the present one last. Absent with the option `statistics: false`. */
  readonly spark?: { readonly ok: readonly number[]; readonly failed: readonly number[] }
}

/** Which webhooks of an account to list. */
interface EndpointListRequest {
  /** Only webhooks in these states. Default: all of them. */
  readonly states?: readonly ListedEndpoint['state'][]
  /** Only webhooks whose name, URL, group or id contains this text, in any case. Default: all of them. */
  readonly search?: string
  /** Maximum number of webhooks, 1 to 200. Default 50. */
  readonly limit?: number
  /** Continue behind the `next` of the previous page. Default: start at the beginning. */
  readonly after?: readonly [name: string, id: string]
}

/** One page of an account's webhooks. */
interface EndpointPage {
  /** The webhooks, sorted by name, then id. Possibly fewer than `limit` although more follow. */
  readonly endpoints: readonly ListedEndpoint[]
  /** `after` of the next page; absent: there are no more. */
  readonly next?: readonly [name: string, id: string]
}

export interface EndpointListDeps {
  readonly webhooks: WebhookStore
  readonly deliveries: Pick<DeliveryReads, 'activity'>
  /** Deliveries that wait for a webhook, as far as this node knows; `undefined`: another node has them. */
  waitingFor(webhook: Pick<Webhook, 'id' | 'accountId'>): number | undefined
  /** Absent: nothing is counted. */
  readonly stats?: StatsStore | undefined
  readonly clock: Clock
  /** Store time, ms. */
  storeNow(): number
}

/** Maximum number of webhooks of a page. */
export const MAX_ENDPOINTS = 200
/** Deliveries of a webhook that are counted at most. */
const MAX_COUNTED = 1_000

/** Webhooks read from the store at once. */
const BATCH_SIZE = 500
/** Webhooks examined for one page: a rare match must not keep a request waiting. */
const MAX_SCANNED = 20_000
/** Webhooks whose activity is read for one page. */
const MAX_EXAMINED = 2_000

const HOURS = 24
const HOUR_MS = 3_600_000

/** Lists the webhooks of an account, page by page. @param request with a `limit` of at most 200 */
export async function listEndpoints(
  deps: EndpointListDeps,
  accountId: string,
  request: EndpointListRequest & { readonly limit: number },
): Promise<EndpointPage> {
  const { states, limit, search } = request
  const isMatch = searchFilter(search)
  const onlyTroubled = states?.every((state) => state !== 'ok' && state !== 'idle') ?? false
  const onlyIdle = states?.every((state) => state === 'idle') ?? false
  const batchSize = states || search ? BATCH_SIZE : limit + 1
  const endpoints: ListedEndpoint[] = []
  let { after } = request
  let [scanned, examined] = [0, 0]
  for (;;) {
    const batch = await deps.webhooks.page(accountId, {
      ascending: true,
      limit: batchSize,
      onlyTroubled,
      ...(after && { after }),
    })
    for (let index = 0; index < batch.length; ) {
      const part: Webhook[] = []
      const left = limit - endpoints.length
      while (index < batch.length && part.length < (onlyIdle ? batchSize : left)) {
        const webhook = batch[index]!
        if (isMatch(webhook) && mayBeIn(webhook, states, deps.storeNow())) part.push(webhook)
        index += 1
      }
      const examinable = onlyIdle ? (await withoutRecentAttempt(deps, part)).slice(0, left) : part
      // What is behind a full page is examined again for the next one.
      if (onlyIdle && examinable.length === left) index = batch.indexOf(examinable.at(-1)!) + 1
      for (const endpoint of await toEndpoints(deps, examinable))
        if (!states || states.includes(endpoint.state)) endpoints.push(endpoint)
      examined += part.length
      after = positionOf(batch[index - 1]!)
      if (endpoints.length < limit && examined < MAX_EXAMINED) continue
      const hasMore = index < batch.length || batch.length === batchSize
      return hasMore ? { endpoints, next: after } : { endpoints }
    }
    scanned += batch.length
    if (batch.length < batchSize) return { endpoints }
    if (scanned >= MAX_SCANNED && after) return { endpoints, next: after }
    await deps.clock.yield()
  }
}

/** Selects webhooks that need attention, also by why their last attempt failed. */
export interface TroubleSelection extends UnhealthySelection {
  /** Only webhooks with this cause: a code of `FAILURE_CAUSES`, or a status as `503`. Default: any. */
  readonly cause?: string | undefined
}

/** A page of the webhooks that a selection finds in all accounts, sorted by id. */
interface TroubledWebhooks {
  readonly webhooks: readonly Webhook[]
  /** `afterId` of the next page; absent: there are no more. */
  readonly nextId?: string
}

/** Finds the webhooks of all accounts that fail, are paused, or were disabled by the service. */
export async function findTroubled(
  deps: EndpointListDeps,
  { cause, limit, ...request }: TroubleSelection & UnhealthyRequest,
): Promise<TroubledWebhooks> {
  if (cause === undefined) return findUnhealthy(deps, { ...request, limit })
  const found: Webhook[] = []
  for (let { afterId } = request; ; await deps.clock.yield()) {
    const { webhooks, nextId } = await findUnhealthy(deps, { ...request, limit: BATCH_SIZE, afterId })
    const activity = await deps.deliveries.activity(
      webhooks.map(({ id }) => id),
      1,
    )
    const matching = webhooks.filter((webhook) => hasCause(webhook, activity.get(webhook.id), cause))
    const left = limit - found.length
    found.push(...matching.slice(0, left))
    if (matching.length <= left && nextId === undefined) return { webhooks: found }
    if (found.length === limit) return { webhooks: found, nextId: found.at(-1)!.id }
    afterId = nextId
  }
}

/** The cause as lists show it, or the status of the last answer. */
function hasCause({ health }: Webhook, activity: EndpointActivity | undefined, cause: string): boolean {
  const { last } = activity ?? {}
  const shown = health?.checkCause ?? last?.cause ?? (last?.status === undefined ? '' : String(last.status))
  return shown === cause
}

/** One page of the webhooks of all accounts that need attention, sorted by id. */
interface UnhealthyEndpointPage {
  /** The webhooks. */
  readonly endpoints: readonly ListedEndpoint[]
  /** `afterId` of the next page; absent: there are no more. */
  readonly nextId?: string
}

/** Lists the webhooks of all accounts that fail, are paused, or were disabled by the service. */
export async function listUnhealthyEndpoints(
  deps: EndpointListDeps,
  request: TroubleSelection & UnhealthyRequest,
): Promise<UnhealthyEndpointPage> {
  const { webhooks, nextId } = await findTroubled(deps, request)
  const endpoints = await toEndpoints(deps, webhooks)
  return nextId === undefined ? { endpoints } : { endpoints, nextId }
}

/** Webhooks of all accounts that need attention and are examined to sort them. */
const MAX_SORTED = 5_000
/** Webhooks whose backlog is read at once. */
const BACKLOGS_AT_ONCE = 500

/** How many deliveries wait for each of these webhooks; those of other nodes are counted up to 1,000. */
export async function countWaiting(
  deps: Pick<EndpointListDeps, 'deliveries' | 'waitingFor' | 'clock'>,
  webhooks: readonly Pick<Webhook, 'id' | 'accountId'>[],
): Promise<ReadonlyMap<string, number>> {
  const waiting = new Map<string, number>()
  const elsewhere: string[] = []
  for (const webhook of webhooks) {
    const count = deps.waitingFor(webhook)
    if (count === undefined) elsewhere.push(webhook.id)
    else waiting.set(webhook.id, count)
  }
  for (let start = 0; start < elsewhere.length; start += BACKLOGS_AT_ONCE) {
    await deps.clock.yield()
    const ids = elsewhere.slice(start, start + BACKLOGS_AT_ONCE)
    const activity = await deps.deliveries.activity(ids, MAX_COUNTED)
    for (const [id, { pending }] of activity) waiting.set(id, pending)
  }
  return waiting
}

/** The place of a webhook in the order by impact. */
export interface ImpactPlace {
  /** Store time at which the impacts of all pages are computed, ms. */
  readonly atMs: number
  readonly impact: number
  readonly id: string
}

/** A webhook with its impact. */
export interface RankedEndpoint extends ListedEndpoint {
  readonly impact: number
}

/** A page of the webhooks of all accounts that need attention, those with the largest impact first. */
interface RankedEndpoints {
  readonly endpoints: readonly RankedEndpoint[]
  /** `after` of the next page. Absent: there are no more. */
  readonly next?: ImpactPlace
  /** True: this is the last page, and there are webhooks that were not examined. */
  readonly isTruncated: boolean
}

/**
 * How much a webhook hurts: the events that its receiver lacks, which wait or were given up since its last success, plus
 * 1, times the seconds since it receives none.
 */
function impactOf(webhook: Webhook, waiting: number, atMs: number): number {
  const lacking = waiting + (webhook.health?.exhausted ?? 0) + 1
  return lacking * Math.max(1, Math.round((atMs - (troubledSinceMs(webhook) ?? atMs)) / 1_000))
}

/**
 * Lists the webhooks of all accounts that fail, are paused, or were disabled by the service, those first that hurt most. The
 * first 5,000 that are selected, in the order of ids, are compared. Each page compares them anew: what changes between two pages
 * may be missing, or be there twice.
 *
 * @param request `limit`: at most 200
 */
export async function listByImpact(
  deps: EndpointListDeps,
  { limit, after, ...selection }: TroubleSelection & { readonly limit: number; readonly after?: ImpactPlace },
): Promise<RankedEndpoints> {
  const { webhooks, nextId } = await findTroubled(deps, { ...selection, limit: MAX_SORTED })
  const waiting = await countWaiting(deps, webhooks)
  const atMs = after?.atMs ?? Math.floor(deps.storeNow())
  const ranked = webhooks
    .map((webhook) => ({ webhook, impact: impactOf(webhook, waiting.get(webhook.id) ?? 0, atMs) }))
    .filter(
      ({ webhook: { id }, impact }) =>
        !after || impact < after.impact || (impact === after.impact && id > after.id),
    )
    // Webhooks of one impact stay in the order of their ids.
    .sort((a, b) => b.impact - a.impact)
  const page = ranked.slice(0, limit)
  const endpoints = await toEndpoints(
    deps,
    page.map(({ webhook }) => webhook),
  )
  const last = page.at(-1)
  const hasMore = ranked.length > page.length && last !== undefined
  return {
    endpoints: endpoints.map((endpoint, index) => ({ ...endpoint, impact: page[index]!.impact })),
    ...(hasMore && { next: { atMs, impact: last.impact, id: last.webhook.id } }),
    isTruncated: !hasMore && nextId !== undefined,
  }
}

function searchFilter(search: string | undefined): (webhook: Webhook) => boolean {
  if (!search) return () => true
  const wanted = search.toLowerCase()
  return ({ id, settings: { name, uri, group = '' } }) =>
    [name, uri, group, id].some((text) => text.toLowerCase().includes(wanted))
}

/** Whether the webhook can have one of the states; `ok` and `idle` differ in the attempts only. */
function mayBeIn(webhook: Webhook, states: readonly ListedEndpointState[] | undefined, now: number): boolean {
  if (!states) return true
  const { state } = endpointHealthOf(webhook, now)
  return states.includes(state) || (state === 'ok' && states.includes('idle'))
}

/** Leaves out what cannot be idle, by one look-up each. */
async function withoutRecentAttempt(
  { deliveries, clock }: EndpointListDeps,
  webhooks: readonly Webhook[],
): Promise<readonly Webhook[]> {
  const ids = webhooks.map(({ id }) => id)
  const activity = await deliveries.activity(ids, 1)
  const sinceMs = clock.now() - HOURS * HOUR_MS
  return webhooks.filter(({ id }) => (activity.get(id)?.last?.atMs ?? 0) < sinceMs)
}

/** As `ListedEndpoint`, of one webhook. */
export async function toEndpoint(deps: EndpointListDeps, webhook: Webhook): Promise<ListedEndpoint> {
  return (await toEndpoints(deps, [webhook]))[0]!
}

async function toEndpoints(
  { deliveries, stats, clock, storeNow }: EndpointListDeps,
  webhooks: readonly Webhook[],
): Promise<readonly ListedEndpoint[]> {
  if (webhooks.length === 0) return []
  const nowMs = clock.now()
  const lastHour = slotOf(3600, nowMs)
  const slots = Array.from({ length: HOURS }, (_, index) => lastHour - (HOURS - 1 - index) * HOUR_MS)
  const series = webhooks.map(({ id, accountId }) => ({ accountId, webhookId: id }))
  const [activity, sparks] = await Promise.all([
    deliveries.activity(
      webhooks.map(({ id }) => id),
      MAX_COUNTED,
    ),
    stats?.totals({ series, step: 3600, slots }),
  ])
  return webhooks.map((webhook, index) =>
    listed(webhook, activity.get(webhook.id), sparks?.[index], nowMs, storeNow()),
  )
}

function listed(
  webhook: Webhook,
  activity: EndpointActivity | undefined,
  spark: StatsTotals | undefined,
  nowMs: number,
  storeMs: number,
): ListedEndpoint {
  const { id, accountId, settings, disableReason, health } = webhook
  const { name, uri, group } = settings
  const { state, failuresInRow, failingSinceMs, pausedUntilMs, checkedMs, checkCause } = endpointHealthOf(
    webhook,
    storeMs,
  )
  const { pending = 0, oldestDueMs, oldestAcceptedMs, last } = activity ?? {}
  const cause = checkCause ?? last?.cause
  const pause = state === 'paused' ? health?.pause : undefined
  const isIdle =
    state === 'ok' &&
    (last === undefined || last.atMs < nowMs - HOURS * HOUR_MS) &&
    !spark?.ok.some((count) => count > 0) &&
    !spark?.failed.some((count) => count > 0)
  return {
    id,
    accountId,
    name,
    uri,
    ...(group !== undefined && { group }),
    state: isIdle ? 'idle' : state,
    ...(disableReason !== undefined && { disableReason }),
    failuresInRow,
    ...(failingSinceMs !== undefined && { failingSinceMs }),
    ...(pausedUntilMs !== undefined && { pausedUntilMs }),
    ...(checkedMs !== undefined && { checkedMs }),
    ...(checkCause !== undefined && { checkCause }),
    ...(pause && { pause }),
    ...(cause !== undefined && { cause }),
    exhausted: health?.exhausted ?? 0,
    pending,
    isPendingCapped: pending >= MAX_COUNTED,
    ...(oldestDueMs !== undefined && { oldestDueMs }),
    ...(oldestAcceptedMs !== undefined && { oldestAcceptedMs }),
    ...(last && { last }),
    ...(spark && { spark }),
  }
}
