import type { DeliveryStore } from '../../src/delivery/delivery-store.js'
import { errorCode } from '../../src/errors.js'
import type { Clock } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'

/** A defect, the group of conformance rules that must notice it, and a function that adds it to a correct store. */
export type Fault = readonly [
  fault: string,
  caughtBy: string,
  breakStore: (store: Store, clock: Clock) => Store,
]

/** Replaces some methods of the store's `deliveries`. */
export function withDeliveries(
  replace: (store: DeliveryStore) => Partial<DeliveryStore>,
): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...replace(store.deliveries) } })
}

/** Defects of accept, claim and settle. */
export const brokenQueues: readonly Fault[] = [
  [
    'an acceptance that fails is partly written',
    'numbers and idempotency keys',
    withDeliveries((store) => ({
      async accept(acceptance, now) {
        try {
          return await store.accept(acceptance, now)
        } catch (thrown) {
          const [first] = acceptance.events
          if (errorCode(thrown) === 'Conflict' && first) {
            const deliveries = acceptance.deliveries.filter(({ eventId }) => eventId === first.id)
            await store.accept({ ...acceptance, events: [first], deliveries }, now)
          }
          throw thrown
        }
      },
    })),
  ],
  [
    'maxPending is ignored',
    'accept',
    withDeliveries((store) => ({
      accept: (acceptance, now) => store.accept({ ...acceptance, maxPending: 1e9 }, now),
    })),
  ],
  [
    'accept returns another sequence number than it stores',
    'numbers and idempotency keys',
    withDeliveries((store) => ({
      accept: async (acceptance, now) =>
        (await store.accept(acceptance, now)).map((event) => ({ ...event, sequence: event.sequence + 1 })),
    })),
  ],
  [
    'idempotency keys are compared without case',
    'numbers and idempotency keys',
    withDeliveries((store) => ({
      accept: (acceptance, now) =>
        store.accept(
          {
            ...acceptance,
            events: acceptance.events.map(({ idempotency, ...event }) => ({
              ...event,
              ...(idempotency && { idempotency: { ...idempotency, key: idempotency.key.toLowerCase() } }),
            })),
          },
          now,
        ),
    })),
  ],
  [
    'a claim is returned a second time when nothing else is due',
    'claim',
    withDeliveries((store) => {
      let last: Awaited<ReturnType<DeliveryStore['claim']>> | undefined
      return {
        async claim(request) {
          const result = await store.claim(request)
          if (result.claims.length > 0) last = result
          return last ?? result
        },
      }
    }),
  ],
  [
    'a claim exceeds the slots by one',
    'claim',
    withDeliveries((store) => ({
      claim: (request) =>
        store.claim({ ...request, endpoints: request.endpoints.map((e) => ({ ...e, slots: e.slots + 1 })) }),
    })),
  ],
  [
    'a delivery is claimed before it is due',
    'claim',
    withDeliveries((store) => ({ claim: (request) => store.claim({ ...request, now: request.now + 1 }) })),
  ],
  [
    'a stale fence is accepted',
    'settle',
    withDeliveries((store) => ({
      settle: async (settlements, now) => {
        const current = settlements.map(async (settlement) => {
          const webhook = await store.webhookOf(settlement.webhookId)
          const row = await store.delivery(webhook?.accountId ?? '', settlement.deliveryId)
          if (row?.state !== settlement.expect.state) return settlement
          return { ...settlement, expect: { state: settlement.expect.state, fence: row.fence } }
        })
        return store.settle(await Promise.all(current), now)
      },
    })),
  ],
  [
    'a settlement loses its attempt record',
    'settle',
    withDeliveries((store) => ({
      settle: (settlements, now) =>
        store.settle(
          settlements.map(({ record: _lost, ...settlement }) => settlement),
          now,
        ),
    })),
  ],
  [
    'health is written regardless of the epoch',
    'health',
    withDeliveries((store) => ({
      settle: async (settlements, now) => {
        const ignoringEpoch = settlements.map(async (settlement) => {
          const webhook = await store.webhookOf(settlement.webhookId)
          if (!settlement.endpoint || !webhook) return settlement
          return { ...settlement, endpoint: { ...settlement.endpoint, epoch: webhook.epoch } }
        })
        return store.settle(await Promise.all(ignoringEpoch), now)
      },
    })),
  ],
  [
    'the next delivery of a lane is never promoted',
    'lanes',
    withDeliveries((store) => {
      const behind = new Set<string>()
      return {
        async accept(acceptance, now) {
          const accepted = await store.accept(acceptance, now)
          for (const { accountId, id } of acceptance.deliveries) {
            if ((await store.delivery(accountId, id))?.dueMs === undefined) behind.add(id)
          }
          return accepted
        },
        async claim(request) {
          const result = await store.claim(request)
          return { ...result, claims: result.claims.filter(({ delivery }) => !behind.has(delivery.id)) }
        },
      }
    }),
  ],
  [
    'one lane blocks all others of the webhook',
    'lanes',
    withDeliveries((store) => ({
      accept: (acceptance, now) =>
        store.accept(
          {
            ...acceptance,
            deliveries: acceptance.deliveries.map((row) => ({ ...row, lane: 'the only one' })),
          },
          now,
        ),
    })),
  ],
]

/** Defects that only show with several nodes on one store. */
export const brokenLeases: readonly Fault[] = [
  [
    'a lease lasts too long',
    'several nodes',
    withDeliveries((store) => ({
      own: (owner, leaseMs) => store.own(owner, leaseMs * 2),
      renew: (owner, leaseMs) => store.renew(owner, leaseMs * 2),
    })),
  ],
  [
    'shards are never given back',
    'several nodes',
    withDeliveries((store) => ({ renew: (owner, leaseMs) => store.own(owner, leaseMs) })),
  ],
  [
    'giving a shard back orphans its deliveries in flight',
    'several nodes',
    withDeliveries((store) => ({
      async renew(owner, leaseMs) {
        const before = await store.own(owner, leaseMs)
        const after = await store.renew(owner, leaseMs)
        if (after.shards.length < before.shards.length) await store.release(owner)
        return store.own(owner, leaseMs)
      },
    })),
  ],
]
