import { authenticate } from './auth/authenticate.js'
import { authorize } from './auth/authorize.js'
import { signIn } from './auth/sign-in.js'
import { signOut } from './auth/sign-out.js'
import type { Core } from './core.js'
import type { ReplayLimits } from './delivery/replay-limits.js'
import { notFound } from './errors.js'
import { explain, type HostWebhooks } from './host-webhooks.js'
import type { Service } from './http/service.js'
import type { Published } from './publish.js'
import { VERSION } from './version.js'
import type { CatalogueEntry } from './webhooks/catalogue.js'
import { createWebhook, patchWebhook, readWebhook, replaceWebhook } from './webhooks/manage.js'

/** What does not need a running instance. */
export interface ServiceFacts {
  readonly node: string
  readonly catalogue: readonly CatalogueEntry[]
  /** Absent: events do not come in over HTTP. */
  readonly publish?: (
    events: readonly unknown[],
    traceparent: string | undefined,
  ) => Promise<readonly Published[]>
  /** How often tests and replays may be asked for. */
  readonly replays: ReplayLimits
  now(): number
  newId(): string
}

/**
 * What the HTTP face asks of the core, bound to it.
 *
 * @param core the running instance; throws when there is none
 */
export function httpService(core: () => Core, webhooks: HostWebhooks, facts: ServiceFacts): Service {
  const { node, catalogue, now, newId, publish, replays } = facts
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
      readSecret: webhooks.secret,
      rotateSecret: webhooks.rotateSecret,
      async test(accountId, id) {
        replays.admit(`${accountId}/${id}`)
        return webhooks.test(accountId, id)
      },
      async replay(accountId, id, request) {
        replays.admit(`${accountId}/${id}`)
        return webhooks.replay(accountId, id, request)
      },
    },
    deliveries: {
      list: async (query) => (await readable(core(), query)).deliveries(query),
      async read(accountId, deliveryId) {
        const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
        if (!delivery) throw notFound(deliveryId)
        return delivery
      },
      explain: async (delivery) => explain(core(), delivery),
      attempts: async (query) => (await readable(core(), query)).attempts(query),
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

/** The first batch at once; before each further one of a long list, all the others have their turn. */
async function readable({ store, clock }: Core, query: { readonly cursor?: number }) {
  if (query.cursor !== undefined) await clock.yield()
  return store.deliveries
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
