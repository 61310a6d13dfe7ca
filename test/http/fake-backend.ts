/** An in-memory API backend that records its calls and can be made to fail. */
import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { ReplayJob } from '../../src/delivery/replay-job.js'
import { notFound } from '../../src/errors.js'
import type { ApiBackend } from '../../src/http/api-backend.js'
import type { ListedEndpoint } from '../../src/stats/endpoint-list.js'
import type { StatsSeries } from '../../src/stats/series.js'
import { contentOf, type StreamEntry } from '../../src/stream/subscriber.js'
import { jsonMergePatch } from '../../src/values/json-merge-patch.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import type { UncheckedWebhook, WebhookView } from '../../src/webhooks/view.js'
import { compareSortKeys, type SortKey } from '../../src/wire/cursor.js'
import {
  API_KEY,
  account,
  CHILD_ACCOUNT,
  errorWithCode,
  NODE,
  NOW,
  OWN_ACCOUNT,
  parentAccount,
  REQUEST_ID,
  replayJob,
  TOKEN,
  user,
  VERSION,
  WEBHOOK_ID,
  webhook,
} from './records.js'

export interface FakeBackend {
  readonly backend: ApiBackend
  /** The calls in order: method name, then arguments. */
  readonly calls: unknown[][]
  readonly webhooks: Map<string, WebhookView>
  readonly attempts: StoredAttempt[]
  readonly deliveries: StoredDelivery[]
  /** Newest first: one of the own account, one of all accounts. */
  readonly replays: ReplayJob[]
}

const STATISTICS: StatsSeries = {
  step: 3600,
  startMs: [3_600_000],
  ok: [2],
  failed: [1],
  outcomes: { timeout: [1] },
  latencyMs: { p50: [3], p95: [null], p99: [4] },
  completeToMs: 60_000,
}

export const endpointOf = ({ id, accountId, name, uri, health }: WebhookView): ListedEndpoint => ({
  id,
  accountId,
  name,
  uri,
  state: health.state,
  failuresInRow: health.failuresInRow,
  exhausted: 0,
  pending: 0,
  isPendingCapped: false,
})

/** Returns the rows of one query, as a store does. */
function selectRows<Row extends { position: number }>(
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

/** Creates a fake backend; `faults` maps method names to the values that they throw. */
export function createFakeBackend(
  options: {
    readonly ingest?: boolean
    readonly operator?: boolean
    readonly faults?: Readonly<Record<string, unknown>>
  } = {},
): FakeBackend {
  const calls: unknown[][] = []
  const webhooks = new Map([[WEBHOOK_ID, webhook()]])
  const attempts: StoredAttempt[] = []
  const deliveries: StoredDelivery[] = []
  const replays = [replayJob(2), replayJob(1, { request: {}, state: 'completed', endedMs: NOW + 9000 })]
  const record = (method: string, ...args: unknown[]) => {
    calls.push([method, ...args])
    if (options.faults && method in options.faults) throw options.faults[method]
  }
  const find = (accountId: string, id: string) => {
    const found = webhooks.get(id)
    if (!found || found.accountId !== accountId) throw notFound(id)
    return found
  }
  const findReplay = (id: string, accountId: string | undefined) => {
    const found = replays.find((one) => one.id === id)
    if (!found || (accountId !== undefined && found.request.accountId !== accountId)) throw notFound(id)
    return found
  }
  const store = (view: WebhookView) => {
    webhooks.set(view.id, view)
    return view
  }
  const change = (accountId: string, id: string, options: { revision?: number } = {}) => {
    const found = find(accountId, id)
    if (options.revision !== undefined && options.revision !== found.revision)
      throw errorWithCode('RevisionConflict')
    return found
  }
  const viewOf = (base: WebhookView, { settings, extra }: UncheckedWebhook, revision: number) =>
    ({ ...base, ...settings, ...(extra && { extra }), revision }) as WebhookView

  const backend: ApiBackend = {
    node: NODE,
    version: VERSION,
    now: () => NOW,
    newId: () => REQUEST_ID,
    checkEventCount() {},
    yieldWhenDue: () => undefined,
    auth: {
      async signIn(login, from) {
        record('signIn', login, from)
        if ('apiKey' in login ? login.apiKey !== API_KEY : login.credentials !== 'c'.repeat(32)) {
          throw errorWithCode('InvalidCredentials')
        }
        const userId = 'apiKey' in login ? {} : { userId: 'user-1' }
        return { token: 'new-token', expiresMs: NOW + 1, account, ...userId }
      },
      async authenticate(token) {
        record('authenticate', token)
        if (token !== TOKEN) throw errorWithCode('InvalidCredentials')
        return { accountId: OWN_ACCOUNT, token, expiresMs: NOW + 1 }
      },
      async signOut(token) {
        record('signOut', token)
      },
    },
    accounts: {
      async authorize(caller, { accountId }, access) {
        record('authorize', caller.accountId, accountId)
        if (access === 'operator' && options.operator === false) throw errorWithCode('Forbidden')
        if (accountId !== OWN_ACCOUNT && accountId !== CHILD_ACCOUNT) throw errorWithCode('Forbidden')
        return true
      },
      rightsOf: () => ({ isAdmin: true, isOperator: false, isReadOnly: false }),
      isOperatorAccount: () => false,
      async lineage(accountId) {
        record('lineage', accountId)
        return [account]
      },
      async erase(request) {
        record('erase', request)
        return { rows: 3 }
      },
      async readApiKey(accountId) {
        record('readApiKey', accountId)
        return API_KEY
      },
      async rotateApiKey(accountId) {
        record('rotateApiKey', accountId)
        return 'b'.repeat(64)
      },
      async descendants(accountId) {
        record('descendants', accountId)
        return [CHILD_ACCOUNT]
      },
    },
    admin: {
      rules: {
        uniqueAccountNames: true,
        accountRealmSuffix: 'hookswitch.invalid',
        defaultTimezone: 'Etc/UTC',
        subaccounts: true,
      },
      async lineage(accountId) {
        record('admin.lineage', accountId)
        return [{ ...account, id: accountId, parentId: parentAccount.id }, parentAccount]
      },
      async page(query) {
        record('admin.page', query)
        return [account]
      },
      countDescendants: async (accountIds) => accountIds.map(() => 2),
      async create(parentId, input, isOperator) {
        record('admin.create', parentId, input, isOperator)
        return account
      },
      async edit(accountId, input, options) {
        record('admin.edit', accountId, input, options)
        return account
      },
      async move(accountId, to) {
        record('admin.move', accountId, to)
        return account
      },
      async remove(accountId, revision) {
        record('admin.remove', accountId, revision)
        return [account]
      },
      wasRemoved: async () => false,
      async users(accountId, query) {
        record('admin.users', accountId, query)
        return [user]
      },
      async user(accountId, userId) {
        record('admin.user', accountId, userId)
        return user
      },
      async createUser(accountId, input, mayChooseId) {
        record('admin.createUser', accountId, input, mayChooseId)
        return user
      },
      async editUser(accountId, userId, input, options) {
        record('admin.editUser', accountId, userId, input, options)
        return user
      },
      async removeUser(accountId, userId, revision) {
        record('admin.removeUser', accountId, userId, revision)
        return user
      },
    },
    webhooks: {
      catalogue: () => catalogueOf(),
      async page(accountId, query) {
        record('page', accountId, query)
        const { after, ascending, limit } = query
        const sign = ascending ? 1 : -1
        const keyOf = ({ name, id }: WebhookView): SortKey => [name, id]
        return [...webhooks.values()]
          .filter((one) => one.accountId === accountId)
          .filter((one) => !after || sign * compareSortKeys(keyOf(one), after) > 0)
          .sort((a, b) => sign * compareSortKeys(keyOf(a), keyOf(b)))
          .slice(0, limit)
      },
      async lastSuccesses(webhookIds) {
        record('lastSuccesses', webhookIds)
        return new Map(webhookIds.map((id) => [id, NOW]))
      },
      async unhealthy(request) {
        record('unhealthy', request)
        return { endpoints: [...webhooks.values()].map(endpointOf), nextId: WEBHOOK_ID }
      },
      async endpoints(accountId, request) {
        record('endpoints', accountId, request)
        return { endpoints: [...webhooks.values()].map(endpointOf), next: ['n', WEBHOOK_ID] }
      },
      async stats(accountId, webhookId, range) {
        record('stats', accountId, webhookId, range)
        if (webhookId !== undefined) find(accountId, webhookId)
        return STATISTICS
      },
      async create(accountId, input) {
        record('create', accountId, input)
        return store(viewOf(webhook({ id: 'created', accountId }), input, 1))
      },
      async read(accountId, id) {
        record('read', accountId, id)
        return find(accountId, id)
      },
      async replace(accountId, id, input, options) {
        record('replace', accountId, id, input, options)
        const found = change(accountId, id, options)
        return store(viewOf(webhook({ id, accountId }), input, found.revision + 1))
      },
      async patch(accountId, id, input, options) {
        record('patch', accountId, id, input, options)
        const found = change(accountId, id, options)
        const settings = jsonMergePatch({ ...found }, input.settings) as Record<string, unknown>
        return store(viewOf(found, { ...input, settings }, found.revision + 1))
      },
      async remove(accountId, id, options) {
        record('remove', accountId, id, options)
        const found = change(accountId, id, options)
        webhooks.delete(id)
        return found
      },
      async reenable(accountIds) {
        record('reenable', accountIds)
      },
      async readSecret(accountId, id) {
        record('readSecret', accountId, id)
        find(accountId, id)
        return 'whsec_old'
      },
      async rotateSecret(accountId, id) {
        record('rotateSecret', accountId, id)
        find(accountId, id)
        return 'whsec_new'
      },
      async test(accountId, id) {
        record('test', accountId, id)
        find(accountId, id)
        return 'delivery-test'
      },
      async replay(accountId, id, deliveryId) {
        record('replay', accountId, id, deliveryId)
        find(accountId, id)
        return 'delivery-again'
      },
      async resume(accountId, id) {
        record('resume', accountId, id)
        return find(accountId, id)
      },
      async match(accountId, event) {
        record('match', accountId, event)
        return [
          { id: WEBHOOK_ID, name: 'Hook', isWanted: true },
          { id: 'other', name: 'Other', isWanted: false, why: 'hook' },
        ]
      },
      async preview(accountId, input, hook) {
        record('preview', accountId, input, hook)
        return { method: 'GET', uri: 'https://r.example.com/?a=1', headers: ['a', 'b'], curl: 'curl' }
      },
    },
    streams: {
      async open(request, caller) {
        record('openStream', request, caller.accountId)
        const items: StreamEntry[] = [
          { ...contentOf('attempt', { id: 'attempt-1' }), id: 'place-1' },
          contentOf('end', { reason: 'closing' }),
        ]
        const takeNow = () => items.shift()
        return {
          take: async () => takeNow(),
          takeNow,
          close: () => record('closeStream'),
          onStall: undefined,
        }
      },
      async check(request) {
        record('checkStream', request)
      },
    },
    deliveries: {
      async list(query) {
        record('deliveries', query)
        return selectRows(deliveries, query, (row) => row.acceptedMs)
      },
      async search(query) {
        record('search', query)
        return { deliveries, cursor: 7 }
      },
      async read(accountId, id) {
        record('delivery', accountId, id)
        const found = deliveries.find((one) => one.id === id)
        if (!found) throw notFound(id)
        return found
      },
      async explain(one) {
        record('explain', one.id)
        return { code: 'in_flight', attempts: deliveries.indexOf(one) + 1 }
      },
      async attempts(query) {
        record('attempts', query)
        const matching = attempts.filter(
          (one) => query.webhookId === undefined || one.webhookId === query.webhookId,
        )
        return selectRows(matching, query, (row) => row.atMs)
      },
      async call(accountId, callId) {
        record('call', accountId, callId)
        if (callId === 'unknown') throw notFound(callId, 'call')
        const [one] = deliveries as [StoredDelivery]
        const event = { id: one.eventId, accountId, callId, hook: one.hook, sequence: 2, timestampMs: NOW }
        return {
          callId,
          legs: [{ callId, direction: 'inbound', events: 1 }],
          events: [{ ...event, deliveries: [one] }],
          unwanted: [{ callId, sequence: 1 }],
          isTruncated: false,
        }
      },
      async legs(accountId, callId) {
        record('legs', accountId, callId)
        return callId === 'unknown' ? [] : [callId, 'other-leg']
      },
    },
    replays: {
      async start(request) {
        record('startReplay', request)
        return replayJob(3, { request })
      },
      async count(request) {
        record('countReplay', request)
        return 12
      },
      async read(id, accountId) {
        record('readReplay', id, accountId)
        return findReplay(id, accountId)
      },
      async list(query) {
        record('listReplays', query)
        const { accountId, after, limit } = query
        return replays
          .filter(({ request }) => accountId === undefined || request.accountId === accountId)
          .filter(({ createdMs }) => !after || createdMs < after.createdMs)
          .slice(0, limit)
      },
      async set(id, state, accountId) {
        record('setReplay', id, state, accountId)
        return { ...findReplay(id, accountId), state }
      },
    },
    overview: async () => ({
      pending: 4,
      oldestDueMs: 1500,
      inFlight: 2,
      attemptsPerMinute: [0, 1],
      paused: { waiting: 1, probing: 0 },
      disabled: 3,
      isCapped: false,
      nodes: [
        { node: 'n1', aliveUntilMs: NOW, shards: 40, leaving: 1 },
        { node: 'n2', shards: 24, leaving: 0 },
      ],
      store: { durable: true, sharedBetweenNodes: true },
      version: '1.2.3',
    }),
    ...(options.ingest === true && {
      async ingest(accountId: string, events: readonly unknown[]) {
        record('ingest', accountId, events)
        return events.map((_, index) => `event-${index + 1}`)
      },
    }),
  }
  return { backend, calls, webhooks, attempts, deliveries, replays }
}
