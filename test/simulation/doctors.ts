import type { ClaimRequest, Settlement, Store } from '../../src/store/index.js'
import type { Doctor, SimulationOptions } from '../../src/testkit/world/index.js'

/** One thing wrong behind one door, and the invariants that may be found broken by it. */
export interface Broken {
  readonly what: string
  readonly invariants: readonly string[]
  readonly doctor: () => Doctor
  /** Where it takes more to show than elsewhere. */
  readonly options?: SimulationOptions
  /** A seed in which it shows soon. Default: one in which most do. */
  readonly seed?: number
}

type Deliveries = Store['deliveries']

const withDeliveries = (store: Store, changed: Partial<Deliveries>): Store => ({
  ...store,
  deliveries: { ...store.deliveries, ...changed },
})

/** A store with other answers of its deliveries. */
const kept = (change: (real: Deliveries) => Partial<Deliveries>): Doctor => ({
  store: (store) => withDeliveries(store, change(store.deliveries)),
})

/** A node that asks its store for other things. */
const asked = (change: (real: Deliveries) => Partial<Deliveries>): Doctor => ({
  asks: (store) => withDeliveries(store, change(store.deliveries)),
})

/** A node whose settlements are other ones. */
const settling = (change: (settlement: Settlement) => Settlement): Doctor =>
  asked((real) => ({ settle: (settlements, now) => real.settle(settlements.map(change), now) }))

/** True for every `count`-th time. */
function every(count: number): () => boolean {
  let times = 0
  return () => ++times % count === 0
}

export const BROKEN: readonly Broken[] = [
  {
    what: 'a store that acknowledges without writing',
    invariants: ['I1'],
    doctor() {
      const isLost = every(5)
      return kept((real) => ({
        accept: async (acceptance, now) =>
          isLost()
            ? acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false }))
            : real.accept(acceptance, now),
      }))
    },
  },
  {
    what: 'a store that forgets one of the deliveries',
    invariants: ['I1'],
    doctor: () =>
      kept((real) => ({
        accept: (acceptance, now) =>
          real.accept({ ...acceptance, deliveries: acceptance.deliveries.slice(0, -1) }, now),
      })),
  },
  {
    what: 'a node that matches every webhook of the account',
    invariants: ['I2'],
    doctor: () => ({
      asks: (store) => ({
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
    what: 'a sender that makes up a request',
    invariants: ['I3'],
    doctor: () => ({
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
    what: "a store that shows an account another's webhooks",
    invariants: ['I4'],
    doctor: () => ({
      store: (store) => ({
        ...store,
        webhooks: { ...store.webhooks, list: () => store.webhooks.list(['root', 'branch', 'rival']) },
      }),
    }),
  },
  {
    what: 'a sender that changes a body on its second attempt',
    invariants: ['I5'],
    doctor: () => ({
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
    what: 'a store that knows no idempotency',
    invariants: ['I6'],
    doctor: () =>
      kept((real) => ({
        accept: (acceptance, now) =>
          real.accept(
            { ...acceptance, events: acceptance.events.map(({ idempotency: _, ...event }) => event) },
            now,
          ),
      })),
  },
  {
    what: 'a budget that forgets a try',
    invariants: ['I7'],
    doctor: () =>
      settling((settlement) => ({
        ...settlement,
        next: { ...settlement.next, tries: Math.max(0, settlement.next.tries - 1) },
      })),
  },
  {
    what: 'a sender that repeats by itself',
    invariants: ['I8'],
    doctor: () => ({
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
    what: 'attempts that are numbered from 0',
    invariants: ['I9'],
    doctor: () =>
      settling(({ record, ...rest }) => ({
        ...rest,
        ...(record && {
          record: record.attempt === undefined ? record : { ...record, attempt: record.attempt - 1 },
        }),
      })),
  },
  {
    what: 'a store that gives a delivery twice',
    invariants: ['I10'],
    doctor() {
      let last: Awaited<ReturnType<Deliveries['claim']>>['claims'][number] | undefined
      return kept((real) => ({
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
    what: 'retries that come at once',
    invariants: ['I11'],
    doctor: () =>
      settling((settlement) => {
        const { dueMs } = settlement.next
        if (dueMs === undefined) return settlement
        return { ...settlement, next: { ...settlement.next, dueMs: dueMs - 1600 } }
      }),
  },
  {
    what: 'a store that does not revoke tokens',
    invariants: ['I12'],
    doctor: () => ({
      store: (store) => ({ ...store, tokens: { ...store.tokens, revoke: async () => true } }),
    }),
  },
  {
    what: 'an API key that is kept as it is',
    invariants: ['I13'],
    doctor() {
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
        asks: (store) => ({
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
    what: 'a node that knows no cap',
    invariants: ['I15'],
    seed: 6,
    doctor: () =>
      asked((real) => ({
        claim: (request: ClaimRequest) =>
          real.claim({
            ...request,
            limit: 1000,
            endpoints: request.endpoints.map((endpoint) => ({ ...endpoint, room: 1000 })),
          }),
      })),
  },
  {
    what: 'a store whose leases are shorter than it says',
    invariants: ['I16'],
    doctor: () =>
      kept((real) => ({
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
    what: 'a store without order',
    invariants: ['I17'],
    seed: 6,
    doctor: () =>
      kept((real) => ({
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
    what: 'a timer that outlives its node',
    invariants: ['I18'],
    doctor: () => ({
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
    what: 'a sender that reports another status',
    invariants: ['I19'],
    doctor: () => ({
      sender: (sender) => ({
        ...sender,
        async send(request) {
          const seen = await sender.send(request)
          return seen.kind === 'response' && seen.status === 200 ? { ...seen, status: 201 } : seen
        },
      }),
    }),
  },
  {
    what: 'a list of attempts that skips one',
    invariants: ['I20'],
    doctor: () =>
      kept((real) => ({
        async attempts(query) {
          const all = await real.attempts(query)
          return query.webhookId === undefined ? all.slice(1) : all
        },
      })),
  },
  {
    what: 'a store that does not cancel what is withdrawn',
    invariants: ['I21'],
    options: { minutes: 40 },
    doctor: () => ({
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
    what: 'a node that disables at the first failure',
    invariants: ['I22'],
    doctor: () =>
      settling((settlement) =>
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
    what: 'a store that tells nobody what is due',
    invariants: ['I23'],
    doctor: () => kept(() => ({ ready: async () => [], subscribe: () => () => {} })),
  },
  {
    what: 'a timer that is left behind by each sleep',
    invariants: ['I24'],
    doctor: () => ({
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
    what: 'a store that throws what is no error of a store',
    invariants: ['I25'],
    doctor() {
      const isWrong = every(10)
      return {
        asks: (store) => ({
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
