import type { DeliveryStore } from '../../src/delivery/delivery-store.js'
import { errorCode } from '../../src/errors.js'
import type { Store } from '../../src/store/contract.js'

/** What is wrong with a store, the theme whose tests have to notice, and how a sound store comes by it. */
export type Fault = readonly [fault: string, caughtBy: string, breaking: (store: Store) => Store]

/** The store with some methods of its delivery door replaced. */
export function withDeliveries(
  replace: (door: DeliveryStore) => Partial<DeliveryStore>,
): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...replace(store.deliveries) } })
}

/** Faults of accepting, claiming and settling. */
export const brokenQueues: readonly Fault[] = [
  [
    'an acceptance that fails is half written',
    'numbers and idempotency keys',
    withDeliveries((door) => ({
      async accept(acceptance, now) {
        try {
          return await door.accept(acceptance, now)
        } catch (thrown) {
          const [first] = acceptance.events
          if (errorCode(thrown) === 'Conflict' && first) {
            const deliveries = acceptance.deliveries.filter(({ eventId }) => eventId === first.id)
            await door.accept({ ...acceptance, events: [first], deliveries }, now)
          }
          throw thrown
        }
      },
    })),
  ],
  [
    'the bound on pending deliveries is ignored',
    'accept',
    withDeliveries((door) => ({
      accept: (acceptance, now) => door.accept({ ...acceptance, maxPending: 1e9 }, now),
    })),
  ],
  [
    'an event has another number than it was told',
    'numbers and idempotency keys',
    withDeliveries((door) => ({
      accept: async (acceptance, now) =>
        (await door.accept(acceptance, now)).map((event) => ({ ...event, sequence: event.sequence + 1 })),
    })),
  ],
  [
    'a claim is given a second time when nothing else is due',
    'claim',
    withDeliveries((door) => {
      let last: Awaited<ReturnType<DeliveryStore['claim']>> | undefined
      return {
        async claim(request) {
          const result = await door.claim(request)
          if (result.claims.length > 0) last = result
          return last ?? result
        },
      }
    }),
  ],
  [
    'a claim takes one more than there is room for',
    'claim',
    withDeliveries((door) => ({
      claim: (request) =>
        door.claim({ ...request, endpoints: request.endpoints.map((e) => ({ ...e, room: e.room + 1 })) }),
    })),
  ],
  [
    'a claim comes before its time',
    'claim',
    withDeliveries((door) => ({ claim: (request) => door.claim({ ...request, now: request.now + 1 }) })),
  ],
  [
    'a stale fence is accepted',
    'settle',
    withDeliveries((door) => ({
      settle: async (settlements, now) => {
        const current = settlements.map(async (settlement) => {
          const webhook = await door.webhookOf(settlement.webhookId)
          const row = await door.delivery(webhook?.accountId ?? '', settlement.deliveryId)
          if (row?.state !== settlement.expect.state) return settlement
          return { ...settlement, expect: { state: settlement.expect.state, fence: row.fence } }
        })
        return door.settle(await Promise.all(current), now)
      },
    })),
  ],
  [
    'a settlement forgets its record',
    'settle',
    withDeliveries((door) => ({
      settle: (settlements, now) =>
        door.settle(
          settlements.map(({ record: _lost, ...settlement }) => settlement),
          now,
        ),
    })),
  ],
  [
    'health is written whatever the epoch',
    'health',
    withDeliveries((door) => ({
      settle: async (settlements, now) => {
        const careless = settlements.map(async (settlement) => {
          const webhook = await door.webhookOf(settlement.webhookId)
          if (!settlement.endpoint || !webhook) return settlement
          return { ...settlement, endpoint: { ...settlement.endpoint, epoch: webhook.epoch } }
        })
        return door.settle(await Promise.all(careless), now)
      },
    })),
  ],
  [
    'the next of a lane is never promoted',
    'lanes',
    withDeliveries((door) => {
      const behind = new Set<string>()
      return {
        async accept(acceptance, now) {
          const accepted = await door.accept(acceptance, now)
          for (const { accountId, id } of acceptance.deliveries) {
            if ((await door.delivery(accountId, id))?.dueMs === undefined) behind.add(id)
          }
          return accepted
        },
        async claim(request) {
          const result = await door.claim(request)
          return { ...result, claims: result.claims.filter(({ delivery }) => !behind.has(delivery.id)) }
        },
      }
    }),
  ],
  [
    'one lane blocks all others of its webhook',
    'lanes',
    withDeliveries((door) => ({
      accept: (acceptance, now) =>
        door.accept(
          {
            ...acceptance,
            deliveries: acceptance.deliveries.map((row) => ({ ...row, lane: 'the only one' })),
          },
          now,
        ),
    })),
  ],
]

/** Faults that only several nodes on one store can meet. */
export const brokenLeases: readonly Fault[] = [
  [
    'a lease outlives its time',
    'several nodes',
    withDeliveries((door) => ({
      own: (owner, leaseMs) => door.own(owner, leaseMs * 2),
      renew: (owner, leaseMs) => door.renew(owner, leaseMs * 2),
    })),
  ],
  [
    'nothing is ever given back',
    'several nodes',
    withDeliveries((door) => ({ renew: (owner, leaseMs) => door.own(owner, leaseMs) })),
  ],
  [
    'giving back drops what is in flight',
    'several nodes',
    withDeliveries((door) => ({
      async renew(owner, leaseMs) {
        const before = await door.own(owner, leaseMs)
        const after = await door.renew(owner, leaseMs)
        if (after.shards.length < before.shards.length) await door.release(owner)
        return door.own(owner, leaseMs)
      },
    })),
  ],
]
