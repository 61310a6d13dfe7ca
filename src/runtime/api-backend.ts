import { authenticate } from '../auth/authenticate.js'
import { authorize } from '../auth/authorize.js'
import { signIn } from '../auth/sign-in.js'
import { signOut } from '../auth/sign-out.js'
import type { ReplayRateLimiter } from '../delivery/replay-rate-limiter.js'
import { notFound } from '../errors.js'
import type { ApiBackend } from '../http/api-backend.js'
import { VERSION } from '../version.js'
import type { CatalogueEntry } from '../webhooks/catalogue.js'
import {
  createWebhook,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  replaceWebhook,
} from '../webhooks/manage.js'
import type { Core } from './core.js'
import type { Published } from './publish.js'
import { explain, toStoreTime, toWallTime, type WebhookApi } from './webhook-api.js'

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
  /** Limits tests and replays per webhook. */
  readonly replays: ReplayRateLimiter
  now(): number
  newId(): string
}

/**
 * Binds the operations behind the HTTP API to a running instance. The HTTP layer authorizes; nothing here does.
 *
 * @param core returns the running instance; throws while there is none
 */
export function createApiBackend(core: () => Core, webhooks: WebhookApi, deps: ApiBackendDeps): ApiBackend {
  const { node, catalogue, now, newId, publish, replays } = deps
  return {
    node,
    version: VERSION,
    now,
    newId,
    auth: {
      signIn: async (login, from) => signIn(core().auth, login, from),
      authenticate: (token) => authenticate(core().auth, token),
      signOut: async (token) => signOut(core().auth, token),
    },
    accounts: {
      authorize: (caller, accountId) => authorize(core().auth, caller, accountId),
      readApiKey: async (accountId) => core().accounts.readApiKey(accountId),
      rotateApiKey: async (accountId) => core().accounts.rotateApiKey(accountId),
      descendants: async (accountId) => core().accounts.descendants(accountId),
    },
    webhooks: {
      catalogue: () => catalogue,
      list: webhooks.list,
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
        replays.consume(`${accountId}/${id}`)
        return webhooks.test(accountId, id)
      },
      async replay(accountId, id, request) {
        replays.consume(`${accountId}/${id}`)
        return webhooks.replay(accountId, id, request)
      },
    },
    deliveries: {
      async list(query) {
        const rows = await (await yieldBetweenBatches(core(), query)).deliveries(query)
        return rows.map((row) => toWallTime(core(), row))
      },
      async read(accountId, deliveryId) {
        const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
        if (!delivery) throw notFound(deliveryId, 'delivery')
        return toWallTime(core(), delivery)
      },
      explain: async (delivery) => explain(core(), toStoreTime(core(), delivery)),
      attempts: async (query) => (await yieldBetweenBatches(core(), query)).attempts(query),
      legs: async (accountId, callId) => core().store.deliveries.legs(accountId, callId),
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
