import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { notFound } from '../../src/errors.js'
import type { Service } from '../../src/http/service.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { mergePatch } from '../../src/webhooks/merge.js'
import type { WebhookInput, WebhookView } from '../../src/webhooks/view.js'
import {
  API_KEY,
  account,
  CHILD,
  HOOK,
  NODE,
  NOW,
  OWN,
  REQUEST_ID,
  TOKEN,
  thrown,
  VERSION,
  webhook,
} from './records.js'

export interface World {
  readonly service: Service
  /** What the service was asked, in order: the verb, then its arguments. */
  readonly asked: unknown[][]
  readonly webhooks: Map<string, WebhookView>
  readonly attempts: StoredAttempt[]
  readonly deliveries: StoredDelivery[]
}

/** Rows of a page as a store gives them. */
function select<Row extends { position: number }>(
  rows: readonly Row[],
  query: AttemptQuery | DeliveryQuery,
  atMs: (row: Row) => number,
): Row[] {
  const { cursor, ascending = false, fromMs = -Infinity, toMs = Infinity, limit } = query
  const sign = ascending ? 1 : -1
  return rows
    .filter((row) => cursor === undefined || sign * (row.position - cursor) > 0)
    .filter((row) => atMs(row) >= fromMs && atMs(row) <= toMs)
    .sort((a, b) => sign * (a.position - b.position))
    .slice(0, limit)
}

/** A service in memory that says what it was asked; `faults` makes verbs throw. */
export function fakeWorld(
  options: { readonly ingest?: boolean; readonly faults?: Readonly<Record<string, unknown>> } = {},
): World {
  const asked: unknown[][] = []
  const webhooks = new Map([[HOOK, webhook()]])
  const attempts: StoredAttempt[] = []
  const deliveries: StoredDelivery[] = []
  const heard = (verb: string, ...args: unknown[]) => {
    asked.push([verb, ...args])
    if (options.faults && verb in options.faults) throw options.faults[verb]
  }
  const find = (accountId: string, id: string) => {
    const found = webhooks.get(id)
    if (!found || found.accountId !== accountId) throw notFound(id)
    return found
  }
  const keep = (view: WebhookView) => {
    webhooks.set(view.id, view)
    return view
  }
  const change = (accountId: string, id: string, options: { revision?: number } = {}) => {
    const found = find(accountId, id)
    if (options.revision !== undefined && options.revision !== found.revision)
      throw thrown('RevisionConflict')
    return found
  }
  const viewOf = (base: WebhookView, { settings, extra }: WebhookInput, revision: number) =>
    ({ ...base, ...settings, ...(extra && { extra }), revision }) as WebhookView

  const service: Service = {
    node: NODE,
    version: VERSION,
    now: () => NOW,
    newId: () => REQUEST_ID,
    auth: {
      async signIn(login, from) {
        heard('signIn', login, from)
        if ('apiKey' in login ? login.apiKey !== API_KEY : login.credentials !== 'c'.repeat(32)) {
          throw thrown('InvalidCredentials')
        }
        const userId = 'apiKey' in login ? {} : { userId: 'user-1' }
        return { token: 'new-token', expiresMs: NOW + 1, account, ...userId }
      },
      async authenticate(token) {
        heard('authenticate', token)
        if (token !== TOKEN) throw thrown('InvalidCredentials')
        return { accountId: OWN, token, expiresMs: NOW + 1 }
      },
      async signOut(token) {
        heard('signOut', token)
      },
    },
    accounts: {
      async authorize(caller, accountId) {
        heard('authorize', caller.accountId, accountId)
        if (accountId !== OWN && accountId !== CHILD) throw thrown('Forbidden')
      },
      async readApiKey(accountId) {
        heard('readApiKey', accountId)
        return API_KEY
      },
      async rotateApiKey(accountId) {
        heard('rotateApiKey', accountId)
        return 'b'.repeat(64)
      },
      async descendants(accountId) {
        heard('descendants', accountId)
        return [CHILD]
      },
    },
    webhooks: {
      catalogue: () => catalogueOf(),
      async list(accountId) {
        heard('list', accountId)
        return [...webhooks.values()].filter((one) => one.accountId === accountId)
      },
      async create(accountId, input) {
        heard('create', accountId, input)
        return keep(viewOf(webhook({ id: 'created', accountId }), input, 1))
      },
      async read(accountId, id) {
        heard('read', accountId, id)
        return find(accountId, id)
      },
      async replace(accountId, id, input, options) {
        heard('replace', accountId, id, input, options)
        const found = change(accountId, id, options)
        return keep(viewOf(webhook({ id, accountId }), input, found.revision + 1))
      },
      async patch(accountId, id, input, options) {
        heard('patch', accountId, id, input, options)
        const found = change(accountId, id, options)
        const settings = mergePatch({ ...found }, input.settings) as Record<string, unknown>
        return keep(viewOf(found, { ...input, settings }, found.revision + 1))
      },
      async remove(accountId, id, options) {
        heard('remove', accountId, id, options)
        const found = change(accountId, id, options)
        webhooks.delete(id)
        return found
      },
      async reenable(accountIds) {
        heard('reenable', accountIds)
      },
      async readSecret(accountId, id) {
        heard('readSecret', accountId, id)
        find(accountId, id)
        return 'whsec_old'
      },
      async rotateSecret(accountId, id) {
        heard('rotateSecret', accountId, id)
        find(accountId, id)
        return 'whsec_new'
      },
      async test(accountId, id) {
        heard('test', accountId, id)
        find(accountId, id)
        return 'delivery-test'
      },
      async replay(accountId, id, wish) {
        heard('replay', accountId, id, wish)
        find(accountId, id)
        return ['delivery-again']
      },
    },
    deliveries: {
      async list(query) {
        heard('deliveries', query)
        return select(deliveries, query, (row) => row.acceptedMs)
      },
      async read(accountId, id) {
        heard('delivery', accountId, id)
        const found = deliveries.find((one) => one.id === id)
        if (!found) throw notFound(id)
        return found
      },
      async explain(one) {
        heard('explain', one.id)
        return `about ${one.id}`
      },
      async attempts(query) {
        heard('attempts', query)
        const of = attempts.filter(
          (one) => query.webhookId === undefined || one.webhookId === query.webhookId,
        )
        return select(of, query, (row) => row.atMs)
      },
      async legs(accountId, callId) {
        heard('legs', accountId, callId)
        return callId === 'unknown' ? [] : [callId, 'other-leg']
      },
    },
    ...(options.ingest === true && {
      async ingest(accountId: string, events: readonly unknown[]) {
        heard('ingest', accountId, events)
        return events.map((_, index) => `event-${index + 1}`)
      },
    }),
  }
  return { service, asked, webhooks, attempts, deliveries }
}
