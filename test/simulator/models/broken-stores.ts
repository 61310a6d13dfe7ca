/** Stores with one defect of the queue each; the model must notice all of them. */
import type { DeliveryStore, NewDelivery, Settlement, Store } from 'hookswitch/store'

/** A defect, and a function that adds it to a correct store. */
export type BrokenStore = readonly [fault: string, breakStore: (store: Store) => Store]

/** Replaces some methods of the store's `deliveries`. */
export function withDeliveries(
  replace: (store: DeliveryStore) => Partial<DeliveryStore>,
): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...replace(store.deliveries) } })
}

/** Changes every settlement. */
function withSettlements(
  change: (settlement: Settlement, now: number) => Settlement,
): (store: Store) => Store {
  return withDeliveries((store) => ({
    settle: (settlements, now) =>
      store.settle(
        settlements.map((one) => change(one, now)),
        now,
      ),
  }))
}

export const BROKEN_STORES: readonly BrokenStore[] = [
  [
    'the second delivery of an acceptance is lost',
    withDeliveries((store) => ({
      accept: ({ deliveries, ...acceptance }, now) =>
        store.accept({ ...acceptance, deliveries: deliveries.filter((_, at) => at !== 1) }, now),
    })),
  ],
  [
    'a delivery is claimed a second time when nothing else is due',
    withDeliveries((store) => {
      let last: Awaited<ReturnType<DeliveryStore['claim']>> | undefined
      return {
        async claim(request) {
          const result = await store.claim(request)
          if (result.claims.length > 0) last = result
          return result.claims.length === 0 ? (last ?? result) : result
        },
      }
    }),
  ],
  [
    'the fence of a settlement is ignored',
    withDeliveries((store) => ({
      async settle(settlements, now) {
        const found = await Promise.all(settlements.map((one) => store.delivery('account', one.deliveryId)))
        const anyFence = settlements.map((one, at): Settlement => {
          const fence = found[at]?.fence ?? one.expect.fence
          return { ...one, expect: { ...one.expect, fence } }
        })
        return store.settle(anyFence, now)
      },
    })),
  ],
  [
    'order is lost after a retry',
    withDeliveries((store) => {
      const retried = new Set<string>()
      return {
        settle(settlements, now) {
          for (const { webhookId, next } of settlements) if (next.state === 'waiting') retried.add(webhookId)
          return store.settle(settlements, now)
        },
        accept: (acceptance, now) =>
          store.accept(
            {
              ...acceptance,
              deliveries: acceptance.deliveries.map(
                (one): NewDelivery => (retried.has(one.webhookId) ? { ...one, lane: one.id } : one),
              ),
            },
            now,
          ),
      }
    }),
  ],
  [
    'a page of attempts repeats the last row of the previous one',
    withDeliveries((store) => ({
      attempts({ cursor, ...query }) {
        if (cursor === undefined) return store.attempts(query)
        return store.attempts({ ...query, cursor: cursor + (query.ascending ? -1 : 1) })
      },
    })),
  ],
  [
    'idempotency keys are ignored',
    withDeliveries((store) => ({
      accept: (acceptance, now) =>
        store.accept(
          { ...acceptance, events: acceptance.events.map(({ idempotency: _, ...event }) => event) },
          now,
        ),
    })),
  ],
  [
    'an idempotency key never expires',
    withDeliveries((store) => ({
      accept: (acceptance, now) =>
        store.accept(
          {
            ...acceptance,
            events: acceptance.events.map((event) =>
              event.idempotency ? { ...event, idempotency: { ...event.idempotency, untilMs: 9e15 } } : event,
            ),
          },
          now,
        ),
    })),
  ],
  [
    'a delivery of an older epoch is stored with the current epoch',
    (store) =>
      withDeliveries((store) => ({
        async accept(acceptance, now) {
          const hooks = await Promise.all(
            acceptance.deliveries.map(({ webhookId }) => store.webhookOf(webhookId)),
          )
          const deliveries = acceptance.deliveries.map((one, at) => ({
            ...one,
            epoch: hooks[at]?.epoch ?? one.epoch,
          }))
          return store.accept({ ...acceptance, deliveries }, now)
        },
      }))(store),
  ],
  ['a retry is due at once', withSettlements((one, now) => (one.next.dueMs ? withDue(one, now) : one))],
  [
    'the pause of an endpoint is lost',
    withSettlements(({ endpoint, ...one }) => {
      if (!endpoint?.health) return endpoint ? { ...one, endpoint } : one
      const { pausedUntilMs: _, ...health } = endpoint.health
      return { ...one, endpoint: { ...endpoint, health } }
    }),
  ],
  [
    'the record of the last attempt is lost',
    withSettlements(({ record, ...one }) =>
      record && one.next.state !== 'exhausted' ? { ...one, record } : one,
    ),
  ],
  [
    'the number of attempts is lost',
    withSettlements((one) => ({ ...one, next: { ...one.next, attempts: Math.min(one.next.attempts, 1) } })),
  ],
  [
    'a settlement of an ended delivery is reported as settled',
    withDeliveries((store) => ({
      async settle(settlements, now) {
        const settled = await store.settle(settlements, now)
        const ended = await Promise.all(settlements.map((one) => store.delivery('account', one.deliveryId)))
        return settled.map((one, at) =>
          one.kind === 'fenced' && ended[at]?.state === 'delivered'
            ? { kind: 'settled', endpoint: {} as never }
            : one,
        )
      },
    })),
  ],
  [
    'maxPending is ignored',
    withDeliveries((store) => ({
      accept: (acceptance, now) => store.accept({ ...acceptance, maxPending: 1e9 }, now),
    })),
  ],
  [
    'prune keeps one attempt too few',
    withDeliveries((store) => ({
      prune: (limits, now) =>
        store.prune({ ...limits, attemptsPerWebhook: Math.max(1, limits.attemptsPerWebhook - 1) }, now),
    })),
  ],
  [
    'erasing a call leaves its attempts',
    withDeliveries((store) => {
      const kept = new Map<string, Awaited<ReturnType<DeliveryStore['attempts']>>>()
      return {
        async erase(erasure, limit) {
          const { accountId, callIds = [] } = erasure
          const before = await store.attempts({ accountId, callIds, limit: 1_000, ascending: true })
          if (before.length > 0) kept.set(callIds.join(), before)
          return store.erase(erasure, limit)
        },
        attempts: async (query) => [...[...kept.values()].flat(), ...(await store.attempts(query))],
      }
    }),
  ],
]

function withDue(settlement: Settlement, dueMs: number): Settlement {
  return { ...settlement, next: { ...settlement.next, dueMs } }
}
