import type { FaultInjector, SimulationOptions } from '../../src/simulator/index.js'
import type { ClaimRequest, Settlement, Store } from '../../src/store/index.js'

/** A defect in one dependency, and the invariants that it may break. */
export interface Defect {
  readonly description: string
  readonly invariants: readonly string[]
  readonly faultInjector: () => FaultInjector
  /** Options that it needs to show. */
  readonly options?: SimulationOptions
  /** A seed in which it shows early. Default: one in which most defects do. */
  readonly seed?: number
}

type Deliveries = Store['deliveries']

const withDeliveries = (store: Store, changed: Partial<Deliveries>): Store => ({
  ...store,
  deliveries: { ...store.deliveries, ...changed },
})

/** Replaces methods of `deliveries` in the shared store. */
const sharedDeliveries = (change: (real: Deliveries) => Partial<Deliveries>): FaultInjector => ({
  store: (store) => withDeliveries(store, change(store.deliveries)),
})

/** Replaces methods of `deliveries` in the store of each node. */
const nodeDeliveries = (change: (real: Deliveries) => Partial<Deliveries>): FaultInjector => ({
  nodeStore: (store) => withDeliveries(store, change(store.deliveries)),
})

/** Changes every settlement of each node. */
const settlements = (change: (settlement: Settlement) => Settlement): FaultInjector =>
  nodeDeliveries((real) => ({ settle: (settlements, now) => real.settle(settlements.map(change), now) }))

/** True for every `count`-th time. */
function everyNth(count: number): () => boolean {
  let times = 0
  return () => ++times % count === 0
}

export const DEFECTS: readonly Defect[] = [
  {
    description: 'a store that acknowledges without writing',
    invariants: ['I1'],
    faultInjector() {
      const isLost = everyNth(5)
      return sharedDeliveries((real) => ({
        accept: async (acceptance, now) =>
          isLost()
            ? acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false }))
            : real.accept(acceptance, now),
      }))
    },
  },
  {
    description: 'a store that loses one delivery of an acceptance',
    invariants: ['I1'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        accept: (acceptance, now) =>
          real.accept({ ...acceptance, deliveries: acceptance.deliveries.slice(0, -1) }, now),
      })),
  },
  {
    description: 'a node that matches every webhook of the account',
    invariants: ['I2'],
    faultInjector: () => ({
      nodeStore: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          async candidates(accountIds) {
            const all = await store.webhooks.list(accountIds)
            return all.map((webhook) => ({
              ...webhook,
              settings: {
                ...webhook.settings,
                hook: 'all',
                includeInternalLegs: true,
                includeSubaccounts: true,
              },
            }))
          },
        },
      }),
    }),
  },
  {
    description: 'a sender that invents a request',
    invariants: ['I3'],
    faultInjector: () => ({
      sender: (sender) => ({
        ...sender,
        send(request) {
          const headers = request.headers.map((text, at) =>
            request.headers[at - 1] === 'webhook-id' ? 'made-up' : text,
          )
          void sender.send({ ...request, headers })
          return sender.send(request)
        },
      }),
    }),
  },
  {
    description: 'a store that shows an account the webhooks of others',
    invariants: ['I4'],
    faultInjector: () => ({
      store: (store) => ({
        ...store,
        webhooks: { ...store.webhooks, list: () => store.webhooks.list(['root', 'branch', 'rival']) },
      }),
    }),
  },
  {
    description: 'a sender that changes a body on its second attempt',
    invariants: ['I5'],
    faultInjector: () => ({
      sender: (sender) => ({
        ...sender,
        send: (request) =>
          sender.send(
            request.headers.includes('1')
              ? request
              : { ...request, body: `${request.body?.slice(0, -1)},"x":1}` },
          ),
      }),
    }),
  },
  {
    description: 'a store that ignores idempotency keys',
    invariants: ['I6'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        accept: (acceptance, now) =>
          real.accept(
            { ...acceptance, events: acceptance.events.map(({ idempotency: _, ...event }) => event) },
            now,
          ),
      })),
  },
  {
    description: 'a retry budget that does not count one try',
    invariants: ['I7'],
    faultInjector: () =>
      settlements((settlement) => ({
        ...settlement,
        next: { ...settlement.next, tries: Math.max(0, settlement.next.tries - 1) },
      })),
  },
  {
    description: 'a sender that repeats requests by itself',
    invariants: ['I8'],
    faultInjector: () => ({
      sender: (sender) => ({
        ...sender,
        async send(request) {
          await sender.send(request)
          return sender.send(request)
        },
      }),
    }),
  },
  {
    description: 'attempts numbered from 0',
    invariants: ['I9'],
    faultInjector: () =>
      settlements(({ record, ...rest }) => ({
        ...rest,
        ...(record && {
          record: record.attempt === undefined ? record : { ...record, attempt: record.attempt - 1 },
        }),
      })),
  },
  {
    description: 'a store that returns a delivery twice',
    invariants: ['I10'],
    faultInjector() {
      let last: Awaited<ReturnType<Deliveries['claim']>>['claims'][number] | undefined
      return sharedDeliveries((real) => ({
        async claim(request) {
          const result = await real.claim(request)
          const again = last
          last = result.claims[0] ?? last
          const webhook = again && (await real.webhookOf(again.delivery.webhookId))
          if (!webhook || again.delivery.id === last?.delivery.id) return result
          if (!result.endpoints.some(({ webhookId }) => webhookId === webhook.id)) return result
          return {
            ...result,
            claims: [...result.claims, again],
            webhooks: new Map([...result.webhooks, [webhook.id, webhook]]),
          }
        },
      }))
    },
  },
  {
    description: 'retries that are due too early',
    invariants: ['I11'],
    faultInjector: () =>
      settlements((settlement) => {
        const { dueMs } = settlement.next
        if (dueMs === undefined) return settlement
        return { ...settlement, next: { ...settlement.next, dueMs: dueMs - 1600 } }
      }),
  },
  {
    description: 'a store that does not revoke tokens',
    invariants: ['I12'],
    faultInjector: () => ({
      store: (store) => ({ ...store, tokens: { ...store.tokens, revoke: async () => true } }),
    }),
  },
  {
    description: 'an API key stored in plain text',
    invariants: ['I13'],
    faultInjector() {
      let key = ''
      return {
        random: (random) => ({
          ...random,
          bytes(count) {
            const drawn = random.bytes(count)
            if (count === 32) key = Buffer.from(drawn).toString('hex')
            return drawn
          },
        }),
        nodeStore: (store) => ({
          ...store,
          accounts: {
            ...store.accounts,
            insert: (account, row, users) => store.accounts.insert({ ...account, name: key }, row, users),
          },
        }),
      }
    },
  },
  {
    description: 'a node that ignores caps',
    invariants: ['I15'],
    seed: 6,
    faultInjector: () =>
      nodeDeliveries((real) => ({
        claim: (request: ClaimRequest) =>
          real.claim({
            ...request,
            limit: 1000,
            endpoints: request.endpoints.map((endpoint) => ({ ...endpoint, slots: 1000 })),
          }),
      })),
  },
  {
    description: 'a store whose leases have ended already',
    invariants: ['I16'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async own(owner, leaseMs) {
          const owned = await real.own(owner, leaseMs)
          return { ...owned, aliveUntilMs: owned.storeMs }
        },
        async renew(owner, leaseMs) {
          const owned = await real.renew(owner, leaseMs)
          return { ...owned, aliveUntilMs: owned.storeMs }
        },
      })),
  },
  {
    description: 'a store without order',
    invariants: ['I17'],
    seed: 6,
    faultInjector: () =>
      sharedDeliveries((real) => ({
        accept: (acceptance, now) =>
          real.accept(
            {
              ...acceptance,
              deliveries: acceptance.deliveries.map((one) => ({ ...one, lane: `-/${one.id}` })),
            },
            now,
          ),
      })),
  },
  {
    description: 'a timer that outlives its node',
    invariants: ['I18'],
    faultInjector: () => ({
      sender: (sender, life) => ({
        ...sender,
        close() {
          void life.clock.sleep(1e9)
          return sender.close()
        },
      }),
    }),
  },
  {
    description: 'a sender that reports another status',
    invariants: ['I19'],
    faultInjector: () => ({
      sender: (sender) => ({
        ...sender,
        async send(request) {
          const observation = await sender.send(request)
          return observation.kind === 'response' && observation.status === 200
            ? { ...observation, status: 201 }
            : observation
        },
      }),
    }),
  },
  {
    description: 'a list of attempts that skips one',
    invariants: ['I20'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async attempts(query) {
          const all = await real.attempts(query)
          return query.webhookId === undefined ? all.slice(1) : all
        },
      })),
  },
  {
    description: 'a store that does not cancel deliveries of a disabled webhook',
    invariants: ['I21'],
    options: { minutes: 40 },
    faultInjector: () => ({
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          replace: (webhook, revision) => store.webhooks.replace({ ...webhook, epoch: 1 }, revision),
        },
      }),
    }),
  },
  {
    description: 'a node that disables a webhook at the first failure',
    invariants: ['I22'],
    faultInjector: () =>
      settlements((settlement) =>
        settlement.next.state === 'waiting' && settlement.record?.attempt === 1
          ? {
              ...settlement,
              endpoint: {
                epoch: 1,
                disable: { reason: 'too many failed attempts', atMs: settlement.record.atMs },
              },
            }
          : settlement,
      ),
  },
  {
    description: 'a store that reports no endpoint as ready',
    invariants: ['I23'],
    faultInjector: () => sharedDeliveries(() => ({ ready: async () => [], subscribe: () => () => {} })),
  },
  {
    description: 'a clock that leaks a timer in each sleep',
    invariants: ['I24'],
    faultInjector: () => ({
      clock: (clock) => ({
        ...clock,
        sleep(ms, signal) {
          void clock.sleep(1e9)
          return clock.sleep(ms, signal)
        },
      }),
    }),
  },
  {
    description: 'a store that throws an unexpected error',
    invariants: ['I25'],
    faultInjector() {
      const isWrong = everyNth(10)
      return {
        nodeStore: (store) => ({
          ...store,
          tokens: {
            ...store.tokens,
            read: (hash) =>
              isWrong()
                ? Promise.reject(new TypeError('undefined is not a function'))
                : store.tokens.read(hash),
          },
        }),
      }
    },
  },
]
