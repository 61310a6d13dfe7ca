/**
 * `hs.webhooks`: webhooks as the host manages them. The host is trusted, so nothing here authorizes; the HTTP API calls
 * the operations of `webhooks/manage` itself (`runtime/api-backend`).
 */
import { type StoredAttempt, withCurrentReason } from '../delivery/attempt-record.js'
import type {
  DeliveryQuery,
  DeliverySearch,
  FoundDeliveries,
  StoredDelivery,
} from '../delivery/delivery-queries.js'
import { explainDelivery } from '../delivery/explain.js'
import type { DeliveryState } from '../delivery/lifecycle.js'
import { type ReplayRequest, replayDeliveries } from '../delivery/replay.js'
import { sendTest } from '../delivery/test-delivery.js'
import { invalidInput, notFound } from '../errors.js'
import {
  type EndpointListRequest,
  type EndpointPage,
  listEndpoints,
  MAX_ENDPOINTS,
} from '../stats/endpoint-list.js'
import type { StatsRange, StatsSeries } from '../stats/series.js'
import { statisticsOff } from '../stats/statistics.js'
import {
  type ChangeOptions,
  createWebhook,
  findWebhook,
  listUnhealthy,
  listWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  reenableWebhooks,
  removeWebhook,
  replaceWebhook,
  rotateSigningSecret,
  type UnhealthyPage,
  type UnhealthyRequest,
} from '../webhooks/manage.js'
import { isSettingName } from '../webhooks/settings.js'
import type { UncheckedWebhook, WebhookView } from '../webhooks/view.js'
import type { WebhookSettings } from '../webhooks/webhook.js'
import type { Core } from './core.js'

/** Settings of a webhook as a host passes them. `name`, `uri` and `hook` are required to create a webhook. */
export type WebhookInput = Partial<WebhookSettings> & {
  /** Further keys of the host, stored and returned unchanged. Default: none. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Changes to a webhook as JSON Merge Patch (RFC 7396): a key that is absent stays, `null` removes it. */
export type WebhookPatch = { readonly [Key in keyof WebhookInput]?: WebhookInput[Key] | null }

/** One page of a list. */
export interface PageOptions {
  /** Maximum number of entries to return, at least 1. Default 50. */
  readonly limit?: number
  /** Continue behind this `position` of the previous page. Default: start at the beginning. */
  readonly cursor?: number
  /** True: oldest first. Default false. */
  readonly ascending?: boolean
  /** Earliest time, inclusive, in Unix milliseconds. Default: no limit. */
  readonly fromMs?: number
  /** Latest time, inclusive, in Unix milliseconds. Default: no limit. */
  readonly toMs?: number
}

/** Which attempts to list. */
export interface AttemptListOptions extends PageOptions {
  /** Only attempts for any of these calls. Default: all calls. */
  readonly callIds?: readonly string[]
  /** Only attempts of this delivery. Default: all deliveries. */
  readonly deliveryId?: string
}

/** Which deliveries to list. */
export interface DeliveryListOptions extends PageOptions {
  /** Only deliveries in any of these states. Default: all states. */
  readonly states?: readonly DeliveryState[]
}

/** `hs.webhooks`. Every method may also reject with `StoreUnavailable` or `Closing`. */
export interface WebhookApi {
  /** Creates a webhook. Throws `InvalidInput`, `NotFound` for the account. */
  create(accountId: string, input: WebhookInput): Promise<WebhookView>
  /** An account's webhooks, sorted by name, then id. */
  list(accountId: string): Promise<readonly WebhookView[]>
  /** One webhook. Throws `NotFound`. */
  read(accountId: string, webhookId: string): Promise<WebhookView>
  /** Replaces all settings; an absent key returns to its default. Throws `NotFound`, `InvalidInput`, `RevisionConflict`. */
  replace(
    accountId: string,
    webhookId: string,
    input: WebhookInput,
    options?: ChangeOptions,
  ): Promise<WebhookView>
  /** Merges changes into the settings (RFC 7396). Throws `NotFound`, `InvalidInput`, `RevisionConflict`. */
  patch(
    accountId: string,
    webhookId: string,
    patch: WebhookPatch,
    options?: ChangeOptions,
  ): Promise<WebhookView>
  /**
   * Deletes a webhook and cancels its pending deliveries; its attempts stay readable. Resolves to the webhook as it was
   * before. Throws `NotFound`, `RevisionConflict`.
   */
  remove(accountId: string, webhookId: string, options?: ChangeOptions): Promise<WebhookView>
  /** Enables the webhooks of these accounts that the service disabled; resolves to their number. */
  reenable(accountIds: readonly string[]): Promise<number>
  /** The current signing secret, `whsec_…` (Standard Webhooks 1.0.0). Throws `NotFound`. */
  secret(accountId: string, webhookId: string): Promise<string>
  /** Creates a new signing secret; requests carry a signature of the previous one too for 24 h. Throws `NotFound`. */
  rotateSecret(accountId: string, webhookId: string): Promise<string>
  /** Sends the sample of the webhook's hook; resolves to the delivery's id. Throws `NotFound`, `QueueFull`. */
  test(accountId: string, webhookId: string): Promise<string>
  /** Repeats ended deliveries as new ones; resolves to their ids. Throws `NotFound`, `Conflict`, `QueueFull`. */
  replay(accountId: string, webhookId: string, request: ReplayRequest): Promise<readonly string[]>
  /** Recent attempts of one webhook, or of all webhooks of the account, newest first. Throws `InvalidInput`. */
  attempts(
    accountId: string,
    webhookId?: string,
    options?: AttemptListOptions,
  ): Promise<readonly StoredAttempt[]>
  /** Deliveries of a webhook, newest first. Throws `InvalidInput`. */
  deliveries(
    accountId: string,
    webhookId: string,
    options?: DeliveryListOptions,
  ): Promise<readonly StoredDelivery[]>
  /** One delivery. Throws `NotFound`. */
  delivery(accountId: string, deliveryId: string): Promise<StoredDelivery>
  /**
   * Attempts of a webhook, or of all webhooks of the account, over time. Throws `NotFound` for the webhook, `InvalidInput`,
   * `Unsupported` with the option `statistics: false`.
   */
  stats(accountId: string, webhookId?: string, range?: StatsRange): Promise<StatsSeries>
  /**
   * An account's webhooks with state, backlog, last attempt and the attempts of the last 24 hours, sorted by name, then id.
   * `next` is the `after` of the next page; absent: there are no more. Throws `InvalidInput`.
   */
  health(accountId: string, options?: EndpointListRequest): Promise<EndpointPage>
  /**
   * Webhooks of all accounts that fail, are paused, or were disabled by the service; sorted by id. `nextId` is the
   * `afterId` of the next page; absent: there are no more. Throws `InvalidInput`.
   */
  unhealthy(options?: Partial<UnhealthyRequest>): Promise<UnhealthyPage>
  /**
   * Searches deliveries of all accounts, newest first. `cursor` leads to the next page; absent: there are no more. Throws
   * `InvalidInput`.
   */
  search(query?: Partial<DeliverySearch>): Promise<FoundDeliveries>
  /** One sentence that says why a delivery is not finished, or how it ended. Throws `NotFound`. */
  explain(accountId: string, deliveryId: string): Promise<string>
}

const DEFAULT_LIMIT = 50

/** @throws `InvalidInput` naming `limit` */
function withLimit<Options extends Pick<PageOptions, 'limit'>>(
  options: Options,
): Options & { readonly limit: number } {
  const { limit = DEFAULT_LIMIT } = options
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw invalidInput([
      { path: 'limit', rule: 'minimum', message: 'must be a whole number of at least 1', target: 1 },
    ])
  }
  return { ...options, limit }
}

const tooLarge = (path: string, target: number) =>
  invalidInput([{ path, rule: 'maximum', message: `must be at most ${target}`, target }])

/** @throws `InvalidInput` naming every unknown key, because a misspelt field would otherwise be lost */
function toInput(fields: WebhookInput | WebhookPatch): UncheckedWebhook {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw invalidInput([{ path: '', rule: 'type', message: 'a webhook must be an object', target: 'object' }])
  }
  const { extra, ...settings } = fields
  const unknown = Object.keys(settings).filter((key) => !isSettingName(key))
  if (unknown.length > 0) {
    throw invalidInput(
      unknown.map((path) => ({ path, rule: 'error', message: 'is not a field of a webhook' })),
    )
  }
  return { settings, ...(extra && { extra }) }
}

/**
 * Binds the webhook operations to a running instance.
 *
 * @param core returns the running instance; throws while there is none
 * @param limits the limit of pending deliveries, for tests and replays; read at each call
 */
export function createWebhookApi(core: () => Core, limits: { readonly maxPending: number }): WebhookApi {
  const deps = () => core().webhooks

  async function readDelivery(accountId: string, deliveryId: string): Promise<StoredDelivery> {
    const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
    if (!delivery) throw notFound(deliveryId, 'delivery')
    return delivery
  }

  return {
    async create(accountId, fields) {
      const input = toInput(fields)
      // A webhook of an account that does not exist would never be called.
      if ((await core().auth.lineages.lineage(accountId)).length === 0)
        throw notFound(String(accountId), 'account')
      return createWebhook(deps(), accountId, input)
    },
    list: async (accountId) => listWebhooks(deps(), accountId),
    read: async (accountId, webhookId) => readWebhook(deps(), accountId, webhookId),
    replace: async (accountId, webhookId, fields, options) =>
      replaceWebhook(deps(), accountId, webhookId, toInput(fields), options),
    patch: async (accountId, webhookId, patch, options) =>
      patchWebhook(deps(), accountId, webhookId, toInput(patch), options),
    remove: async (accountId, webhookId, options) => removeWebhook(deps(), accountId, webhookId, options),
    reenable: async (accountIds) => reenableWebhooks(deps(), accountIds),
    secret: async (accountId, webhookId) => readSigningSecret(deps(), accountId, webhookId),
    rotateSecret: async (accountId, webhookId) => rotateSigningSecret(deps(), accountId, webhookId),
    async test(accountId, webhookId) {
      const { accept, store, catalogue } = core()
      const sampleOf = (hook: string) => catalogue.find(({ id }) => id === hook)?.sample[0]
      return sendTest(
        { ...accept, webhooks: store.webhooks, sampleOf },
        accountId,
        webhookId,
        limits.maxPending,
      )
    },
    async replay(accountId, webhookId, request) {
      const { accept, store } = core()
      return replayDeliveries(
        { ...accept, webhooks: store.webhooks, deliveries: store.deliveries },
        accountId,
        webhookId,
        request,
        limits.maxPending,
      )
    },
    async attempts(accountId, webhookId, options = {}) {
      const query = { ...withLimit(options), accountId, ...(webhookId !== undefined && { webhookId }) }
      const attempts = await core().store.deliveries.attempts(query)
      return attempts.map(withCurrentReason)
    },
    deliveries: async (accountId, webhookId, options = {}) =>
      listDeliveries(core(), { ...withLimit(options), accountId, webhookId }),
    delivery: async (accountId, deliveryId) => asShown(core(), await readDelivery(accountId, deliveryId)),
    async stats(accountId, webhookId, range = {}) {
      const { statistics } = core()
      if (webhookId !== undefined) await findWebhook(deps(), accountId, webhookId)
      if (!statistics) throw statisticsOff()
      return statistics.read({ accountId, webhookId: webhookId ?? '' }, range)
    },
    async health(accountId, options = {}) {
      const request = withLimit(options)
      if (request.limit > MAX_ENDPOINTS) throw tooLarge('limit', MAX_ENDPOINTS)
      return listEndpoints(core().endpointList, accountId, request)
    },
    unhealthy: async (options = {}) => listUnhealthy(deps(), withLimit(options)),
    search: async (query = {}) => searchDeliveries(core(), withLimit(query)),
    async explain(accountId, deliveryId) {
      return explain(core(), await readDelivery(accountId, deliveryId))
    },
  }
}

/** Calls of the store after which a search returns what it has: rare matches must not keep a request waiting. */
const MAX_SEARCH_STEPS = 20

/** States in which the store may have a delivery that is in flight, which only its node knows. */
const MAY_BE_IN_FLIGHT: readonly DeliveryState[] = ['waiting', 'cancelled']

/** The states that the store has for these. `isExact`: the store selects just what is wanted. */
function storedStates(states: readonly DeliveryState[] | undefined) {
  if (!states) return { isExact: true, query: {} }
  const isExact = MAY_BE_IN_FLIGHT.every((state) => states.includes(state) === states.includes('in_flight'))
  const stored = new Set(states.flatMap((state) => (state === 'in_flight' ? MAY_BE_IN_FLIGHT : state)))
  return { isExact, query: { states: [...stored] } }
}

/** Selects deliveries that this node is sending, newest first. */
async function listInFlight(core: Core, query: DeliverySearch): Promise<readonly StoredDelivery[]> {
  const { accountId, webhookId, callId, fromMs = 0, toMs = Number.POSITIVE_INFINITY } = query
  const wanted = [...core.dispatcher.inFlightDeliveries()].filter(
    (one) =>
      (accountId === undefined || one.accountId === accountId) &&
      (webhookId === undefined || one.webhookId === webhookId) &&
      (callId === undefined || one.callId === callId) &&
      one.acceptedMs >= fromMs &&
      one.acceptedMs <= toMs,
  )
  const rows = await Promise.all(wanted.map((one) => core.store.deliveries.delivery(one.accountId, one.id)))
  return rows
    .flatMap((row) => (row ? [asShown(core, row)] : []))
    .filter(
      ({ state, position }) => state === 'in_flight' && position < (query.cursor ?? Number.POSITIVE_INFINITY),
    )
    .sort((a, b) => b.position - a.position)
    .slice(0, query.limit)
}

const isInFlightOnly = (states: readonly DeliveryState[] | undefined) =>
  states !== undefined && states.length > 0 && states.every((state) => state === 'in_flight')

/** Deliveries of a webhook as callers see them. */
export async function listDeliveries(core: Core, query: DeliveryQuery): Promise<readonly StoredDelivery[]> {
  const { states, limit, ascending } = query
  if (isInFlightOnly(states)) {
    // Seen from its end, an ascending list is a descending one.
    const { cursor, ...all } = query
    const found = await listInFlight(core, ascending ? { ...all, limit: Number.MAX_SAFE_INTEGER } : query)
    if (!ascending) return found
    return found
      .toReversed()
      .filter(({ position }) => position > (cursor ?? 0))
      .slice(0, limit)
  }
  const stored = storedStates(states)
  const found: StoredDelivery[] = []
  let { cursor } = query
  for (let step = 0; ; step++) {
    if (step > 0) await core.clock.yield()
    const rows = await core.store.deliveries.deliveries({
      ...query,
      ...stored.query,
      ...(cursor !== undefined && { cursor }),
    })
    for (const row of rows) {
      const shown = asShown(core, row)
      if (stored.isExact || states!.includes(shown.state)) found.push(shown)
    }
    cursor = rows.at(-1)?.position
    if (stored.isExact || rows.length < limit || found.length >= limit) return found.slice(0, limit)
  }
}

/** Searches until a page is full, or for a limited number of steps. */
export async function searchDeliveries(core: Core, query: DeliverySearch): Promise<FoundDeliveries> {
  const { store, clock } = core
  const { states } = query
  if (isInFlightOnly(states)) return { deliveries: await listInFlight(core, query) }
  const stored = storedStates(states)
  const deliveries: StoredDelivery[] = []
  let { cursor } = query
  for (let step = 0; step < MAX_SEARCH_STEPS; step++) {
    if (step > 0) await clock.yield()
    const limit = query.limit - deliveries.length
    const found = await store.deliveries.search({
      ...query,
      ...stored.query,
      limit,
      ...(cursor !== undefined && { cursor }),
    })
    for (const row of found.deliveries) {
      const shown = asShown(core, row)
      if (stored.isExact || states!.includes(shown.state)) deliveries.push(shown)
    }
    cursor = found.cursor
    if (cursor === undefined || deliveries.length >= query.limit) break
  }
  return cursor === undefined ? { deliveries } : { deliveries, cursor }
}

/** Two clocks always differ a little. A smaller difference than this is not shown. */
const MIN_AHEAD_MS = 1_000

/** How far store time is ahead of the wall clock, ms. */
function storeAheadMs({ dispatcher, clock }: Core): number {
  const aheadMs = dispatcher.now() - clock.now()
  return Math.abs(aheadMs) < MIN_AHEAD_MS ? 0 : aheadMs
}

function delayed(delivery: StoredDelivery, ms: number): StoredDelivery {
  return delivery.dueMs === undefined || ms === 0 ? delivery : { ...delivery, dueMs: delivery.dueMs + ms }
}

/**
 * The delivery as callers see it: with what this node knows of it, such as that it is in flight, and with its due time by the
 * wall clock of this node, with which they compare it.
 */
export function asShown(core: Core, delivery: StoredDelivery): StoredDelivery {
  return delayed(core.dispatcher.withQueueState(delivery), -storeAheadMs(core))
}

/** Undoes what `asShown` does to the due time. */
export function toStoreTime(core: Core, delivery: StoredDelivery): StoredDelivery {
  return delayed(delivery, storeAheadMs(core))
}

/** One sentence about the current state of a delivery, whose due time is store time. */
export async function explain(core: Core, delivery: StoredDelivery): Promise<string> {
  const { store, dispatcher, caps } = core
  return explainDelivery(delivery, {
    webhook: await store.deliveries.webhookOf(delivery.webhookId),
    now: dispatcher.now(),
    limitReached: dispatcher.limitReached(delivery.webhookId),
    caps,
  })
}
