import type { AccountRules } from '../accounts/edit-account.js'
import { authenticate } from '../auth/authenticate.js'
import { type AuthorityOptions, rightsOf } from '../auth/authority.js'
import { authorize } from '../auth/authorize.js'
import { signIn } from '../auth/sign-in.js'
import { signOut } from '../auth/sign-out.js'
import type { ReplayRateLimiter } from '../delivery/replay-rate-limiter.js'
import { notFound } from '../errors.js'
import type { ApiBackend } from '../http/api-backend.js'
import { listEndpoints, listUnhealthyEndpoints } from '../stats/endpoint-list.js'
import type { Yielding } from '../values/yielding.js'
import { VERSION } from '../version.js'
import type { CatalogueEntry } from '../webhooks/catalogue.js'
import {
  createWebhook,
  pageWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  replaceWebhook,
} from '../webhooks/manage.js'
import type { Core } from './core.js'
import { asShown, explain, listDeliveries, toStoreTime } from './delivery-views.js'
import type { EraseRequest, EraseResult } from './erase.js'
import { createOperatorApi } from './operator-api.js'
import type { Published } from './publish.js'
import type { ReplayApi } from './replay-api.js'
import { previewOf, type WebhookApi } from './webhook-api.js'

/** Dependencies of the API backend that exist before the instance is started. */
export interface ApiBackendDeps {
  /** Opaque id of this process. */
  readonly node: string
  readonly catalogue: readonly CatalogueEntry[]
  /** Absent: events are not accepted over HTTP. */
  readonly publish?: (
    events: readonly unknown[],
    traceparent: string | undefined,
  ) => Promise<readonly Published[]>
  /** Throws `TooLarge`. */
  checkEventCount(count: number): void
  readonly authority: AuthorityOptions
  readonly accountRules: AccountRules
  /** `hs.erase`. */
  readonly erase: (request: EraseRequest) => Promise<EraseResult>
  /** `hs.replays`. */
  readonly replays: ReplayApi
  /** Limits tests, replays and resumptions: per webhook, and replays of an account per account. */
  readonly replayLimiter: ReplayRateLimiter
  readonly yieldWhenDue: Yielding['whenDue']
  now(): number
  newId(): string
}

/**
 * Binds the operations behind the HTTP API to a running instance. The HTTP layer authorizes; nothing here does.
 *
 * @param core returns the running instance; throws while there is none
 */
export function createApiBackend(core: () => Core, webhooks: WebhookApi, deps: ApiBackendDeps): ApiBackend {
  const { node, catalogue, now, newId, publish, replays, replayLimiter, authority, accountRules, erase } =
    deps
  const { checkEventCount, yieldWhenDue } = deps
  const operator = createOperatorApi(core)
  return {
    node,
    version: VERSION,
    now,
    newId,
    checkEventCount,
    yieldWhenDue,
    auth: {
      signIn: async (login, from) => signIn(core().auth, login, from),
      authenticate: (token) => authenticate(core().auth, token),
      signOut: async (token) => signOut(core().auth, token),
    },
    accounts: {
      authorize: async (caller, target, access) => authorize(core().auth, caller, target, access),
      rightsOf: (caller) => rightsOf(caller, authority),
      isOperatorAccount: (accountId) => authority.operators.includes(accountId),
      lineage: async (accountId) => core().auth.lineages.lineage(accountId),
      erase,
      readApiKey: async (accountId) => core().accounts.readApiKey(accountId),
      rotateApiKey: async (accountId) => core().accounts.rotateApiKey(accountId),
      descendants: async (accountId) => core().accounts.descendants(accountId),
    },
    admin: {
      rules: accountRules,
      lineage: async (...args) => core().admin.lineage(...args),
      page: async (...args) => core().admin.page(...args),
      countDescendants: async (...args) => core().admin.countDescendants(...args),
      create: async (...args) => core().admin.create(...args),
      edit: async (...args) => core().admin.edit(...args),
      move: async (...args) => core().admin.move(...args),
      remove: async (...args) => core().admin.remove(...args),
      wasRemoved: async (...args) => core().admin.wasRemoved(...args),
      users: async (...args) => core().admin.users(...args),
      user: async (...args) => core().admin.user(...args),
      createUser: async (...args) => core().admin.createUser(...args),
      editUser: async (...args) => core().admin.editUser(...args),
      removeUser: async (...args) => core().admin.removeUser(...args),
    },
    webhooks: {
      catalogue: () => catalogue,
      page: async (accountId, query) => pageWebhooks(core().webhooks, accountId, query),
      lastSuccesses: async (webhookIds) => core().store.deliveries.lastSuccesses(webhookIds),
      unhealthy: async (request) => listUnhealthyEndpoints(core().endpointList, request),
      endpoints: async (accountId, request) => listEndpoints(core().endpointList, accountId, request),
      stats: webhooks.stats,
      create: async (accountId, input) => createWebhook(core().webhooks, accountId, input),
      read: (accountId, id) => readWebhook(core().webhooks, accountId, id),
      replace: async (accountId, id, input, options) =>
        replaceWebhook(core().webhooks, accountId, id, input, options),
      patch: async (accountId, id, input, options) =>
        patchWebhook(core().webhooks, accountId, id, input, options),
      remove: webhooks.remove,
      reenable: async (accountIds) => {
        await webhooks.reenable(accountIds)
      },
      readSecret: async (accountId, id) => readSigningSecret(core().webhooks, accountId, id),
      rotateSecret: webhooks.rotateSecret,
      async test(accountId, id) {
        replayLimiter.consume(`${accountId}/${id}`)
        return webhooks.test(accountId, id)
      },
      async replay(accountId, id, deliveryId) {
        replayLimiter.consume(`${accountId}/${id}`)
        return webhooks.replay(accountId, id, deliveryId)
      },
      match: webhooks.match,
      preview: async (accountId, input, hook) => previewOf(core(), accountId, input, hook),
      async resume(accountId, id) {
        replayLimiter.consume(`${accountId}/${id}`)
        return webhooks.resume(accountId, id)
      },
    },
    deliveries: {
      async list(query) {
        await yieldBetweenBatches(core(), query)
        return listDeliveries(core(), query)
      },
      search: operator.search,
      async read(accountId, deliveryId) {
        const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
        if (!delivery) throw notFound(deliveryId, 'delivery')
        return asShown(core(), delivery)
      },
      explain: async (delivery, isListed) => explain(core(), toStoreTime(core(), delivery), isListed),
      attempts: async (query) => (await yieldBetweenBatches(core(), query)).attempts(query),
      call: webhooks.call,
      legs: async (accountId, callId) => core().store.deliveries.legs(accountId, callId),
    },
    replays: {
      ...replays,
      async start(request) {
        const { accountId, webhookId } = request
        if (webhookId !== undefined) replayLimiter.consume(`${accountId}/${webhookId}`)
        else if (accountId !== undefined) replayLimiter.consume(accountId)
        return replays.start(request)
      },
    },
    overview: operator.overview,
    streams: {
      open: async (request, caller) => core().streams.open(request, caller),
      check: async (request) => core().streams.check(request),
    },
    ...(publish && {
      ingest: async (accountId: string, events: readonly unknown[], traceparent?: string) => {
        const inputs = events.map((event) => (isObject(event) ? { ...event, accountId } : event))
        return (await publish(inputs, traceparent)).map(({ eventId }) => eventId)
      },
    }),
  }
}

/** Lets other work run before each further batch of a long list; the first batch is read at once. */
async function yieldBetweenBatches({ store, clock }: Core, query: { readonly cursor?: number }) {
  if (query.cursor !== undefined) await clock.yield()
  return store.deliveries
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
