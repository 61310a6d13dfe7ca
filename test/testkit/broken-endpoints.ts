import type { EndpointActivity } from '../../src/delivery/delivery-queries.js'
import type { QueueStore } from '../../src/delivery/queue-store.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import type { WebhookPosition } from '../../src/webhooks/webhook-store.js'
import { type Fault, faultsOf } from './broken-store.js'

const pageFault = faultsOf('endpoints', 'webhooks')
const activityFault = faultsOf('endpoints', 'deliveries')

/** Rewrites the activity of each webhook. */
const onActivity =
  (change: (activity: EndpointActivity) => EndpointActivity) =>
  (store: QueueStore): Pick<QueueStore, 'activity'> => ({
    activity: async (ids, maxPending) =>
      new Map([...(await store.activity(ids, maxPending))].map(([id, activity]) => [id, change(activity)])),
  })

/** Defects of pages of webhooks and of what is read of their deliveries. */
export const brokenEndpoints: readonly Fault[] = [
  pageFault('pages of webhooks are in order of their ids', (store) => ({
    async page(accountId, { limit, after }) {
      const all = [...(await store.list([accountId]))].sort((a, b) => (a.id < b.id ? -1 : 1))
      const from = all.findIndex(({ id }) => id === after?.[1])
      return all.slice(from + 1, from + 1 + limit)
    },
  })),
  pageFault('a page begins behind all webhooks of a name', (store) => ({
    page: (accountId, { after, ...query }) =>
      store.page(accountId, { ...query, ...(after && { after: [after[0], '\uffff'] }) }),
  })),
  pageFault('a page begins only behind a webhook that exists', (store) => ({
    async page(accountId, { limit, after }) {
      const all: readonly Webhook[] = await store.list([accountId])
      const from = after ? all.findIndex(({ id }) => id === after[1]) : -1
      return after && from < 0 ? [] : all.slice(from + 1, from + 1 + limit)
    },
  })),
  pageFault('a page of webhooks exceeds its limit', (store) => ({
    page: (accountId, query) => store.page(accountId, { ...query, limit: query.limit + 1 }),
  })),
  pageFault('troubled webhooks are sought in one page', (store) => ({
    async page(accountId, { onlyTroubled, ...query }) {
      const found = await store.page(accountId, query)
      return onlyTroubled ? found.filter(({ health, settings }) => health || !settings.enabled) : found
    },
  })),
  pageFault('a disabled webhook is not troubled', (store) => ({
    async page(accountId, query) {
      const found = await store.page(accountId, query)
      return query.onlyTroubled ? found.filter(({ settings }) => settings.enabled) : found
    },
  })),
  pageFault('a failing webhook is not troubled', (store) => ({
    async page(accountId, query) {
      const found = await store.page(accountId, query)
      return query.onlyTroubled ? found.filter(({ settings }) => !settings.enabled) : found
    },
  })),
  pageFault('pages of webhooks are ascending only', (store) => ({
    page: (accountId, query) => store.page(accountId, { ...query, ascending: true }),
  })),
  pageFault('a descending page is the first one, reversed', (store) => ({
    async page(accountId, { ascending, ...query }) {
      const found = await store.page(accountId, { ...query, ascending: true })
      return ascending ? found : [...found].reverse()
    },
  })),
  pageFault('pages of webhooks are sorted by UTF-16 code units', (store) => ({
    async page(accountId, { ascending, limit, after }) {
      const sign = ascending ? 1 : -1
      const compare = (a: WebhookPosition, b: WebhookPosition) =>
        sign * (a[0] === b[0] ? (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) : a[0] < b[0] ? -1 : 1)
      const all = (await store.list([accountId])).filter(
        ({ id, settings }) => !after || compare([settings.name, id], after) > 0,
      )
      return all.sort((a, b) => compare([a.settings.name, a.id], [b.settings.name, b.id])).slice(0, limit)
    },
  })),
  pageFault('a page has webhooks of other accounts', (store) => ({
    async page(accountId, query) {
      const { limit, after } = query
      if (accountId !== 'account' || !query.ascending) return store.page(accountId, query)
      const both = await store.list([accountId, 'stranger'])
      const isBehind = ({ id, settings: { name } }: Webhook) =>
        !after || name > after[0] || (name === after[0] && id > after[1])
      return both.filter(isBehind).slice(0, limit)
    },
  })),
  pageFault('webhooks stay in the order of their first names', (store) => {
    const names = new Map<string, string>()
    return {
      async insert(webhook) {
        names.set(webhook.id, webhook.settings.name)
        return store.insert(webhook)
      },
      async page(accountId, { limit }) {
        const all = [...(await store.list([accountId]))]
        return all.sort((a, b) => (names.get(a.id)! < names.get(b.id)! ? -1 : 1)).slice(0, limit)
      },
    }
  }),
  pageFault('a page has no health', (store) => ({
    page: async (...args) => (await store.page(...args)).map(({ health: _none, ...webhook }) => webhook),
  })),
  pageFault('a page replaces what no JSON function accepts', (store) => ({
    page: async (...args) =>
      (await store.page(...args)).map(
        (webhook) => JSON.parse(JSON.stringify(webhook).replaceAll('\\u0000', '')) as Webhook,
      ),
  })),
  activityFault('the backlog has no limit', (store) => ({
    activity: (ids) => store.activity(ids, 1e9),
  })),
  activityFault('the backlog counts retries only', (store) => ({
    async activity(ids, maxPending) {
      const found = new Map<string, EndpointActivity>()
      for (const [id, activity] of await store.activity(ids, maxPending)) {
        const accountId = (await store.webhookOf(id))?.accountId ?? ''
        const rows = await store.deliveries({
          accountId,
          webhookId: id,
          states: ['waiting'],
          limit: maxPending,
        })
        found.set(id, { ...activity, pending: rows.filter(({ attempts }) => attempts > 0).length })
      }
      return found
    },
  })),
  activityFault('the backlog counts cancelled deliveries', (store) => ({
    async activity(ids, maxPending) {
      const found = new Map<string, EndpointActivity>()
      for (const [id, activity] of await store.activity(ids, maxPending)) {
        const accountId = (await store.webhookOf(id))?.accountId ?? ''
        const rows = await store.deliveries({
          accountId,
          webhookId: id,
          states: ['waiting', 'cancelled'],
          limit: maxPending,
        })
        found.set(id, { ...activity, pending: rows.length })
      }
      return found
    },
  })),
  activityFault('a webhook without a backlog keeps its last due time', (store) => {
    const last = new Map<string, number>()
    return {
      async activity(ids, maxPending) {
        const found = await store.activity(ids, maxPending)
        return new Map(
          ids.map((id) => {
            const activity = found.get(id) ?? { pending: 0 }
            if (activity.oldestDueMs !== undefined) last.set(id, activity.oldestDueMs)
            return [id, { ...activity, oldestDueMs: last.get(id) ?? 1 }]
          }),
        )
      },
    }
  }),
  activityFault(
    'the earliest due time of a backlog is always that of an acceptance',
    onActivity(({ oldestDueMs: _retry, ...activity }) => activity),
  ),
  activityFault('one webhook gets the activity of another', (store) => ({
    async activity(ids, maxPending) {
      const [first] = (await store.activity(ids, maxPending)).values()
      return new Map(ids.map((id) => [id, first ?? { pending: 0 }]))
    },
  })),
  activityFault('the last attempt is the newest record, attempt or not', (store) => ({
    async activity(ids, maxPending) {
      const found = new Map<string, EndpointActivity>()
      for (const [id, activity] of await store.activity(ids, maxPending)) {
        const accountId = (await store.webhookOf(id))?.accountId ?? ''
        const [newest] = await store.attempts({ accountId, webhookId: id, limit: 1 })
        found.set(id, newest ? { ...activity, last: { atMs: newest.atMs, result: newest.result } } : activity)
      }
      return found
    },
  })),
  activityFault(
    'the last attempt has no status',
    onActivity(({ last, ...activity }) =>
      last ? { ...activity, last: { atMs: last.atMs, result: last.result } } : activity,
    ),
  ),
  activityFault(
    'a last attempt without a response has the status 0',
    onActivity((activity) =>
      activity.last ? { ...activity, last: { status: 0, ...activity.last } } : activity,
    ),
  ),
  activityFault(
    'every last attempt is a failure',
    onActivity((activity) =>
      activity.last ? { ...activity, last: { ...activity.last, result: 'failure' } } : activity,
    ),
  ),
]
