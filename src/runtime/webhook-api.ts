/**
 * `hs.webhooks`: webhooks as the host manages them. Nothing here authorizes: the host is trusted. The HTTP API checks its
 * callers, then calls the same, or `webhooks/manage` below it to create, replace, patch and delete.
 */

import { type StoredAttempt, withCurrentReason } from '../delivery/attempt-record.js'
import type { CallHistory } from '../delivery/call-history.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { sentenceOf } from '../delivery/explain.js'
import { DELIVERY_STATES } from '../delivery/lifecycle.js'
import { type MatchReport, reportMatches } from '../delivery/match-report.js'
import { previewRequest, type RequestPreview } from '../delivery/preview.js'
import { replayDelivery } from '../delivery/replay.js'
import { sendTest } from '../delivery/test-delivery.js'
import { checkOptionNames, invalidInput, notFound, unknownFields } from '../errors.js'
import { readWebhookHealth, type WebhookHealth } from '../stats/endpoint-health.js'
import { ENDPOINT_STATES, type ListedEndpoint, listEndpoints, MAX_ENDPOINTS } from '../stats/endpoint-list.js'
import type { StatsSeries } from '../stats/series.js'
import { statisticsOff } from '../stats/statistics.js'
import { type Defined, defined } from '../values/defined.js'
import type { CheckedAddress } from '../webhooks/address-check.js'
import {
  createWebhook,
  findWebhook,
  listWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  reenableWebhooks,
  removeWebhook,
  replaceWebhook,
  resumeWebhook,
  rotateSigningSecret,
} from '../webhooks/manage.js'
import { SETTING_NAMES } from '../webhooks/settings.js'
import type { UncheckedWebhook, WebhookView } from '../webhooks/view.js'
import type { WebhookSettings } from '../webhooks/webhook.js'
import { readCallHistory } from './call-history.js'
import type { Core } from './core.js'
import { asShown, explain, listDeliveries, readParts } from './delivery-views.js'

/** Settings of a webhook as a host passes them. `name`, `uri` and `hook` are required to create a webhook. */
export type WebhookInput = { readonly [Key in keyof WebhookSettings]?: WebhookSettings[Key] | undefined } & {
  /** Further keys of the host, stored and returned unchanged. Default: none. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** Changes to a webhook as JSON Merge Patch (RFC 7396): a key that is absent stays, `null` removes it. */
export type WebhookPatch = { readonly [Key in keyof WebhookInput]?: WebhookInput[Key] | null | undefined }

/** One page of a list. */
export interface PageOptions {
  /** Maximum number of entries to return, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined
  /** Continue behind this `position` of the previous page. Default: start at the beginning. */
  readonly cursor?: number | undefined
  /** True: oldest first. Default false. */
  readonly ascending?: boolean | undefined
  /** Earliest time, inclusive, in Unix milliseconds. Default: no limit. */
  readonly fromMs?: number | undefined
  /** Latest time, inclusive, in Unix milliseconds. Default: no limit. */
  readonly toMs?: number | undefined
}

/** `hs.webhooks`. Every method may also reject with `InvalidOption` for an unknown option, `StoreUnavailable` or `Closing`. */
export interface WebhookApi {
  /** Creates a webhook. Throws `InvalidInput`, `NotFound` for the account. */
  create(accountId: string, input: WebhookInput): Promise<WebhookView>
  /** An account's webhooks, sorted by name, then id. */
  list(accountId: string): Promise<readonly WebhookView[]>
  /** One webhook. Throws `NotFound`. */
  read(accountId: string, webhookId: string): Promise<WebhookView>
  /**
   * Replaces all settings; an absent key returns to its default. `revision`, here and below: the one that the webhook must
   * have. Default: any. Throws `NotFound`, `InvalidInput`, `RevisionConflict`.
   */
  replace(
    accountId: string,
    webhookId: string,
    input: WebhookInput,
    options?: { readonly revision?: number | undefined },
  ): Promise<WebhookView>
  /** Merges changes into the settings (RFC 7396). Throws `NotFound`, `InvalidInput`, `RevisionConflict`. */
  patch(
    accountId: string,
    webhookId: string,
    patch: WebhookPatch,
    options?: { readonly revision?: number | undefined },
  ): Promise<WebhookView>
  /**
   * Deletes a webhook and cancels its pending deliveries; its attempts stay readable. Resolves to the webhook as it was
   * before. Throws `NotFound`, `RevisionConflict`.
   */
  remove(
    accountId: string,
    webhookId: string,
    options?: { readonly revision?: number | undefined },
  ): Promise<WebhookView>
  /** Enables the webhooks of these accounts that the service disabled; resolves to their number. */
  reenable(accountIds: readonly string[]): Promise<number>
  /** The current signing secret, `whsec_…` (Standard Webhooks 1.0.0). Throws `NotFound`. */
  secret(accountId: string, webhookId: string): Promise<string>
  /** Creates a new signing secret; requests carry a signature of the previous one too for 24 h. Throws `NotFound`. */
  rotateSecret(accountId: string, webhookId: string): Promise<string>
  /** Sends the sample of the webhook's hook; resolves to the delivery's id. Throws `NotFound`, `QueueFull`. */
  test(accountId: string, webhookId: string): Promise<string>
  /**
   * Repeats one ended delivery as a new one, and resolves to its id; `hs.replays` repeats many. Throws `NotFound`, `Conflict`,
   * `QueueFull`.
   */
  replay(accountId: string, webhookId: string, deliveryId: string): Promise<string>
  /**
   * Ends the pause of a webhook: its waiting deliveries are due now, retries included: one request first, then twice as many
   * with each round that was answered. If the receiver still fails, a new pause begins. Changes nothing if the webhook is not
   * paused. Throws `NotFound`, `Conflict` for a webhook that is disabled.
   */
  resume(accountId: string, webhookId: string): Promise<WebhookView>
  /** Recent attempts of one webhook, or of all webhooks of the account, newest first. Throws `InvalidInput`. */
  attempts(
    accountId: string,
    webhookId?: string,
    options?: PageOptions & {
      /** Only attempts for any of these calls. Default: all calls. */
      readonly callIds?: readonly string[] | undefined
      /** Only attempts of this delivery. Default: all deliveries. */
      readonly deliveryId?: string | undefined
    },
  ): Promise<readonly StoredAttempt[]>
  /** Deliveries of a webhook, newest first. Throws `InvalidInput`. */
  deliveries(
    accountId: string,
    webhookId: string,
    options?: PageOptions & {
      /** Only deliveries in any of these states. Default: all states. */
      readonly states?: readonly StoredDelivery['state'][] | undefined
    },
  ): Promise<readonly StoredDelivery[]>
  /** One delivery. Throws `NotFound`. */
  delivery(accountId: string, deliveryId: string): Promise<StoredDelivery>
  /**
   * Attempts of a webhook, or of all webhooks of the account, over time: in slots of `step` seconds, 60 or 3600 (default), from
   * `fromMs` (default: 24 hours before `toMs`, 1 hour with 60) to `toMs` (default: now), in Unix milliseconds; at most 900
   * slots. Throws `NotFound` for the webhook, `InvalidInput`, `Unsupported` with the option `statistics: false`.
   */
  stats(
    accountId: string,
    webhookId?: string,
    range?: {
      readonly step?: 60 | 3600 | undefined
      readonly fromMs?: number | undefined
      readonly toMs?: number | undefined
    },
  ): Promise<StatsSeries>
  /**
   * An account's webhooks with state, backlog, last attempt and the attempts of the last 24 hours, sorted by name, then id.
   * `next` is the `after` of the next page; absent: there are no more. Throws `InvalidInput`.
   */
  health(
    accountId: string,
    options?: {
      /** Only webhooks in these states. Default: all of them. */
      readonly states?: readonly ListedEndpoint['state'][] | undefined
      /** Only webhooks whose name, URL, group or id contains this text, in any case. Default: all of them. */
      readonly search?: string | undefined
      /** Maximum number of webhooks, 1 to 200. Default 50. */
      readonly limit?: number | undefined
      /** Continue behind the `next` of the previous page. Default: start at the beginning. */
      readonly after?: readonly [name: string, id: string] | undefined
    },
  ): Promise<{
    readonly endpoints: readonly ListedEndpoint[]
    readonly next?: readonly [name: string, id: string]
  }>
  /** The health of one webhook, with its last attempt and what was not delivered. Throws `NotFound`. */
  healthOf(accountId: string, webhookId: string): Promise<WebhookHealth>
  /**
   * Whether each webhook of the account would get an event, and if not, why; sorted by name, then id. Of the event, only
   * `hook` is required; filters see the fields that it has. Throws `InvalidInput`, `NotFound` for an `accountId` in it that
   * is not below the account.
   */
  match(accountId: string, event: Readonly<Record<string, unknown>>): Promise<readonly MatchReport[]>
  /**
   * The request that a webhook with these settings would send for the sample of `hook`; nothing is sent or stored. The
   * values of custom headers are placeholders. Default of `hook`: that of a test. Throws `InvalidInput`.
   */
  preview(accountId: string, input: WebhookInput, hook?: string): Promise<RequestPreview>
  /**
   * Whether requests could be sent to a URL: connects as an attempt would, TLS included, and sends nothing; at most 5 s. At
   * most 10 checks of an account a minute and 2 at once, on this node. Throws `InvalidInput`, `NotFound` for the account,
   * `TooManyChecks`.
   */
  checkAddress(accountId: string, input: { readonly uri: string }): Promise<CheckedAddress>
  /**
   * The history of a call and its other legs: events with their deliveries to webhooks of the account, and the numbers of
   * those that no webhook got. Throws `NotFound`.
   */
  call(accountId: string, callId: string): Promise<CallHistory>
  /** One sentence that says why a delivery is not finished, or how it ended. Throws `NotFound`. */
  explain(accountId: string, deliveryId: string): Promise<string>
}

const REVISION = ['revision']
const DEFAULT_LIMIT = 50

/** Rows of one page: attempts have bodies of up to 16 KiB, and all of them are in memory at once. */
const MAX_LIMIT = 1_000

/** The options of every call that returns a page of attempts or deliveries. */
export const PAGE_OPTIONS = [
  'limit',
  'cursor',
  'ascending',
  'fromMs',
  'toMs',
] as const satisfies readonly (keyof PageOptions)[]

const hasRange = ({ fromMs, toMs }: PageOptions) => fromMs !== undefined || toMs !== undefined

/** The options that are numbers, besides `limit`. */
const PAGE_NUMBERS: readonly string[] = ['cursor', 'fromMs', 'toMs']
/** The options that are texts. */
const PAGE_TEXTS: readonly string[] = ['accountId', 'webhookId', 'callId', 'deliveryId', 'afterId', 'search']

/**
 * Options with their limit.
 *
 * @param call name of the call, for messages
 * @param known names of its options
 * @param allStates values that `states` may have. Default: the states of deliveries
 * @throws `InvalidOption` for an unknown option, `InvalidInput` naming the option whose value is wrong
 */
export function withLimit<Options extends Pick<PageOptions, 'limit'>>(
  call: string,
  options: Options,
  known: readonly (keyof Options & string)[],
  allStates: readonly string[] = DELIVERY_STATES,
): Defined<Options> & { readonly limit: number } {
  checkOptionNames(call, options, known)
  const { limit = DEFAULT_LIMIT } = options
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw invalidInput([
      { path: 'limit', rule: 'minimum', message: 'must be a whole number of at least 1', target: 1 },
    ])
  }
  if (limit > MAX_LIMIT) throw tooLarge('limit', MAX_LIMIT)
  const { states, ...given } = options as { readonly states?: unknown } & Record<string, unknown>
  for (const [path, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (PAGE_NUMBERS.includes(path) && (typeof value !== 'number' || Number.isNaN(value)))
      throw wrongType(path, numberMessage(path), 'number')
    if (PAGE_TEXTS.includes(path) && typeof value !== 'string')
      throw wrongType(path, 'must be a text', 'string')
    if (path === 'ascending' && typeof value !== 'boolean')
      throw wrongType(path, 'must be true or false', 'boolean')
  }
  if (
    states !== undefined &&
    !(Array.isArray(states) && states.every((state) => allStates.includes(state)))
  ) {
    const message = `must be an array of ${allStates.join(', ')}`
    throw invalidInput([{ path: 'states', rule: 'enum', message }])
  }
  return { ...defined(options), limit }
}

const numberMessage = (path: string) =>
  path === 'cursor' ? 'must be a number' : 'must be a time in Unix milliseconds'

const wrongType = (path: string, message: string, target: string) =>
  invalidInput([{ path, rule: 'type', message, target }])

const tooLarge = (path: string, target: number) =>
  invalidInput([{ path, rule: 'maximum', message: `must be at most ${target}`, target }])

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** @throws `InvalidInput` naming the field */
function checkIds(path: string, ids: unknown): void {
  if (!isTexts(ids)) throw wrongType(path, 'must be an array of ids', 'array')
}

/** @throws `InvalidInput` naming every unknown key, because a misspelt field would otherwise be lost */
function toInput(fields: WebhookInput | WebhookPatch): UncheckedWebhook {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw invalidInput([
      {
        path: '',
        rule: 'type',
        message: 'a webhook must be an object, after the id of its account',
        target: 'object',
      },
    ])
  }
  const { extra, ...settings } = fields
  const unknown = unknownFields(settings, 'a webhook', SETTING_NAMES)
  if (unknown.length > 0) throw invalidInput(unknown)
  if (extra !== undefined && extra !== null && (typeof extra !== 'object' || Array.isArray(extra))) {
    throw invalidInput([{ path: 'extra', rule: 'type', message: 'must be an object', target: 'object' }])
  }
  return { settings: defined(settings), ...(extra !== undefined && { extra }) }
}

/** The first sample of a kind of event, if it is in the catalogue. */
const sampleOf =
  ({ catalogue }: Core) =>
  (hook: string) =>
    catalogue.find(({ id }) => id === hook)?.sample[0]

/** The request of the sample of an event. Throws `InvalidInput`. */
export function previewOf(
  core: Core,
  accountId: string,
  input: UncheckedWebhook,
  hook: string | undefined,
): RequestPreview {
  const { accept, webhookDeps, userAgent } = core
  return previewRequest(
    { ...accept, ...webhookDeps, sampleOf: sampleOf(core), userAgent },
    accountId,
    input,
    hook,
  )
}

/**
 * Binds the webhook operations to a running instance.
 *
 * @param core returns the running instance; throws while there is none
 */
export function createWebhookApi(core: () => Core): WebhookApi {
  const deps = () => core().webhookDeps

  async function assertAccount(accountId: string): Promise<void> {
    if ((await core().auth.lineages.lineage(accountId)).length === 0) throw notFound(accountId, 'account')
  }

  async function readDelivery(accountId: string, deliveryId: string): Promise<StoredDelivery> {
    const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
    if (!delivery) throw notFound(deliveryId, 'delivery')
    return delivery
  }

  return {
    async create(accountId, fields) {
      const input = toInput(fields)
      // A webhook of an account that does not exist would never be called.
      await assertAccount(accountId)
      return createWebhook(deps(), accountId, input)
    },
    list: async (accountId) => listWebhooks(deps(), accountId),
    read: async (accountId, webhookId) => readWebhook(deps(), accountId, webhookId),
    async replace(accountId, webhookId, fields, options) {
      checkOptionNames('webhooks.replace', options, REVISION)
      return replaceWebhook(deps(), accountId, webhookId, toInput(fields), options)
    },
    async patch(accountId, webhookId, patch, options) {
      checkOptionNames('webhooks.patch', options, REVISION)
      return patchWebhook(deps(), accountId, webhookId, toInput(patch), options)
    },
    async remove(accountId, webhookId, options) {
      checkOptionNames('webhooks.remove', options, REVISION)
      return removeWebhook(deps(), accountId, webhookId, options)
    },
    async reenable(accountIds) {
      checkIds('accountIds', accountIds)
      return reenableWebhooks(deps(), accountIds)
    },
    secret: async (accountId, webhookId) => readSigningSecret(deps(), accountId, webhookId),
    rotateSecret: async (accountId, webhookId) => rotateSigningSecret(deps(), accountId, webhookId),
    async test(accountId, webhookId) {
      const { accept, store } = core()
      return sendTest(
        { ...accept, webhooks: store.webhooks, sampleOf: sampleOf(core()) },
        accountId,
        webhookId,
      )
    },
    async replay(accountId, webhookId, deliveryId) {
      const { accept, store } = core()
      const deps = { ...accept, webhooks: store.webhooks, deliveries: store.deliveries }
      return replayDelivery(deps, accountId, webhookId, deliveryId)
    },
    resume: async (accountId, webhookId) => resumeWebhook(deps(), accountId, webhookId),
    async attempts(accountId, webhookId, options = {}) {
      const page = withLimit('webhooks.attempts', options, [...PAGE_OPTIONS, 'callIds', 'deliveryId'])
      if (page.callIds !== undefined) checkIds('callIds', page.callIds)
      const query = { ...page, accountId, ...(webhookId !== undefined && { webhookId }) }
      const { attempts } = core().store.deliveries
      const isSparse = hasRange(page) && page.callIds === undefined && page.deliveryId === undefined
      return (await readParts(core(), 'attempts', query, isSparse, attempts)).map(withCurrentReason)
    },
    async deliveries(accountId, webhookId, options = {}) {
      const page = withLimit('webhooks.deliveries', options, [...PAGE_OPTIONS, 'states'])
      const query = { ...page, accountId, webhookId }
      const isSparse = hasRange(page) || page.states !== undefined
      return readParts(core(), 'deliveries', query, isSparse, (part) => listDeliveries(core(), part))
    },
    delivery: async (accountId, deliveryId) => asShown(core(), await readDelivery(accountId, deliveryId)),
    async stats(accountId, webhookId, range = {}) {
      checkOptionNames('webhooks.stats', range, ['step', 'fromMs', 'toMs'])
      const { statistics } = core()
      if (webhookId !== undefined) await findWebhook(deps(), accountId, webhookId)
      if (!statistics) throw statisticsOff()
      return statistics.read({ accountId, webhookId: webhookId ?? '' }, defined(range))
    },
    async health(accountId, options = {}) {
      const known = ['states', 'search', 'limit', 'after'] as const
      const request = withLimit('webhooks.health', options, known, ENDPOINT_STATES)
      if (request.limit > MAX_ENDPOINTS) throw tooLarge('limit', MAX_ENDPOINTS)
      const { after } = request
      if (after !== undefined && !(isTexts(after) && after.length === 2))
        throw invalidInput([{ path: 'after', rule: 'error', message: "must be the 'next' of a page" }])
      return listEndpoints(core().endpoints, accountId, request)
    },
    healthOf: async (accountId, webhookId) => {
      const health = await readWebhookHealth(core().endpoints, accountId, webhookId)
      const { lastAttempt } = health
      return lastAttempt ? { ...health, lastAttempt: withCurrentReason(lastAttempt) } : health
    },
    async match(accountId, event) {
      const { accept, store } = core()
      return reportMatches({ ...accept, webhooks: store.webhooks }, accountId, event)
    },
    async checkAddress(accountId, input) {
      checkOptionNames('webhooks.checkAddress', input ?? null, ['uri'])
      const { uri } = input
      await assertAccount(accountId)
      return core().checkAddress(accountId, uri)
    },
    preview: async (accountId, input, hook) => previewOf(core(), accountId, toInput(input), hook),
    async call(accountId, callId) {
      const history = await readCallHistory(core(), accountId, callId)
      if (!history) throw notFound(callId, 'call')
      return history
    },
    async explain(accountId, deliveryId) {
      return sentenceOf(await explain(core(), await readDelivery(accountId, deliveryId), false))
    },
  }
}
