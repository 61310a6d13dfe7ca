import type { EndpointActivity } from '../../../src/delivery/delivery-queries.js'
import type { QueueStore } from '../../../src/delivery/queue-store.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { faultsOf, type StoreFault } from './store-fault.js'

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
export const brokenEndpoints: readonly StoreFault[] = [
  pageFault('a page begins behind all webhooks of a name', (store) => ({
    page: (accountId, { after, ...query }) =>
      store.page(accountId, { ...query, ...(after && { after: [after[0], '\uffff'] }) }),
  })),
  pageFault('troubled webhooks are sought in one page', (store) => ({
    async page(accountId, { onlyTroubled, ...query }) {
      const found = await store.page(accountId, query)
      return onlyTroubled ? found.filter(({ health, settings }) => health || !settings.enabled) : found
    },
  })),
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
  activityFault(
    'the earliest due time of a backlog is always that of an acceptance',
    onActivity(({ oldestDueMs: _retry, ...activity }) => activity),
  ),
  activityFault(
    'the oldest delivery of a backlog is the one that is due first',
    onActivity(({ oldestAcceptedMs: _lost, ...activity }) => ({
      ...activity,
      ...(activity.oldestDueMs !== undefined && { oldestAcceptedMs: activity.oldestDueMs }),
    })),
  ),
  activityFault(
    'the last attempt has no cause',
    onActivity(({ last, ...activity }) => {
      if (!last) return activity
      const { cause: _lost, ...rest } = last
      return { ...activity, last: rest }
    }),
  ),
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
]
