/** Stores whose queues break one thing each: the models must notice all of them. */
import type { DeliveryStore, NewDelivery, Settlement, Store } from 'hookswitch/store'

/** What is wrong, and how a sound store comes by it. */
export type BrokenStore = readonly [fault: string, breaking: (store: Store) => Store]

/** The store with some methods of its delivery door replaced. */
export function withDeliveries(
  replace: (door: DeliveryStore) => Partial<DeliveryStore>,
): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...replace(store.deliveries) } })
}

/** Settlements are written otherwise than they were told. */
function settling(change: (settlement: Settlement, now: number) => Settlement): (store: Store) => Store {
  return withDeliveries((door) => ({
    settle: (settlements, now) =>
      door.settle(
        settlements.map((one) => change(one, now)),
        now,
      ),
  }))
}

export const BROKEN_STORES: readonly BrokenStore[] = [
  [
    'the second delivery of an acceptance is lost',
    withDeliveries((door) => ({
      accept: ({ deliveries, ...acceptance }, now) =>
        door.accept({ ...acceptance, deliveries: deliveries.filter((_, at) => at !== 1) }, now),
    })),
  ],
  [
    'a delivery is claimed a second time when nothing else is due',
    withDeliveries((door) => {
      let last: Awaited<ReturnType<DeliveryStore['claim']>> | undefined
      return {
        async claim(request) {
          const result = await door.claim(request)
          if (result.claims.length > 0) last = result
          return result.claims.length === 0 ? (last ?? result) : result
        },
      }
    }),
  ],
  [
    'the fence of a settlement is ignored',
    withDeliveries((door) => ({
      async settle(settlements, now) {
        const found = await Promise.all(settlements.map((one) => door.delivery('account', one.deliveryId)))
        const anyFence = settlements.map((one, at): Settlement => {
          const fence = found[at]?.fence ?? one.expect.fence
          return { ...one, expect: { ...one.expect, fence } }
        })
        return door.settle(anyFence, now)
      },
    })),
  ],
  [
    'order is forgotten after a retry',
    withDeliveries((door) => {
      const retried = new Set<string>()
      return {
        settle(settlements, now) {
          for (const { webhookId, next } of settlements) if (next.state === 'waiting') retried.add(webhookId)
          return door.settle(settlements, now)
        },
        accept: (acceptance, now) =>
          door.accept(
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
    'a list of attempts repeats a row at the border of a page',
    withDeliveries((door) => ({
      attempts({ cursor, ...query }) {
        if (cursor === undefined) return door.attempts(query)
        return door.attempts({ ...query, cursor: cursor + (query.ascending ? -1 : 1) })
      },
    })),
  ],
  [
    'an idempotency key is forgotten',
    withDeliveries((door) => ({
      accept: (acceptance, now) =>
        door.accept(
          { ...acceptance, events: acceptance.events.map(({ idempotency: _, ...event }) => event) },
          now,
        ),
    })),
  ],
  [
    'a key is remembered for ever',
    withDeliveries((door) => ({
      accept: (acceptance, now) =>
        door.accept(
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
    'a delivery of an older epoch is taken for one of now',
    (store) =>
      withDeliveries((door) => ({
        async accept(acceptance, now) {
          const hooks = await Promise.all(
            acceptance.deliveries.map(({ webhookId }) => door.webhookOf(webhookId)),
          )
          const deliveries = acceptance.deliveries.map((one, at) => ({
            ...one,
            epoch: hooks[at]?.epoch ?? one.epoch,
          }))
          return door.accept({ ...acceptance, deliveries }, now)
        },
      }))(store),
  ],
  ['a retry is due at once', settling((one, now) => (one.next.dueMs ? withDue(one, now) : one))],
  [
    'a pause of an endpoint is not kept',
    settling(({ endpoint, ...one }) => {
      if (!endpoint?.health) return endpoint ? { ...one, endpoint } : one
      const { pausedUntilMs: _, ...health } = endpoint.health
      return { ...one, endpoint: { ...endpoint, health } }
    }),
  ],
  [
    'the record of the last attempt is lost',
    settling(({ record, ...one }) => (record && one.next.state !== 'exhausted' ? { ...one, record } : one)),
  ],
  [
    'the number of attempts is not kept',
    settling((one) => ({ ...one, next: { ...one.next, attempts: Math.min(one.next.attempts, 1) } })),
  ],
  [
    'what ended may end otherwise',
    withDeliveries((door) => ({
      async settle(settlements, now) {
        const settled = await door.settle(settlements, now)
        const ended = await Promise.all(settlements.map((one) => door.delivery('account', one.deliveryId)))
        return settled.map((one, at) =>
          one.kind === 'fenced' && ended[at]?.state === 'delivered'
            ? { kind: 'settled', endpoint: {} as never }
            : one,
        )
      },
    })),
  ],
  [
    'the bound on pending deliveries is ignored',
    withDeliveries((door) => ({
      accept: (acceptance, now) => door.accept({ ...acceptance, maxPending: 1e9 }, now),
    })),
  ],
  [
    'pruning keeps one attempt too few',
    withDeliveries((door) => ({
      prune: (limits, now) =>
        door.prune({ ...limits, attemptsPerWebhook: Math.max(1, limits.attemptsPerWebhook - 1) }, now),
    })),
  ],
  [
    'erasing a call leaves its attempts',
    withDeliveries((door) => {
      const kept = new Map<string, Awaited<ReturnType<DeliveryStore['attempts']>>>()
      return {
        async erase(what, limit) {
          const { accountId, callIds = [] } = what
          const before = await door.attempts({ accountId, callIds, limit: 1_000, ascending: true })
          if (before.length > 0) kept.set(callIds.join(), before)
          return door.erase(what, limit)
        },
        attempts: async (query) => [...[...kept.values()].flat(), ...(await door.attempts(query))],
      }
    }),
  ],
]

function withDue(settlement: Settlement, dueMs: number): Settlement {
  return { ...settlement, next: { ...settlement.next, dueMs } }
}
