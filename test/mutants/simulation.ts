import type { FaultInjector } from '../../src/simulator/index.js'
import type { Store } from '../../src/store/index.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { onAcceptance, onGroup, onSettlement, type Scenario } from './stores/store-fault.js'

/** A defect in a dependency of simulated nodes, and the invariants that it breaks. */
export interface SimulationFault extends Scenario {
  readonly what: string
  /** Invariants, each of which must be reported (`I10 or I19`: one of them). */
  readonly caughtBy: readonly string[]
  readonly faultInjector: () => FaultInjector
}

type Deliveries = Store['deliveries']
type Change = (real: Deliveries) => Partial<Deliveries>

const changeDeliveries = (store: Store, change: Change): Store => ({
  ...store,
  deliveries: { ...store.deliveries, ...change(store.deliveries) },
})

/** Replaces methods of `deliveries` in the shared store. */
const sharedDeliveries = (change: Change): FaultInjector => ({
  store: (store) => changeDeliveries(store, change),
})

/** Replaces methods of `deliveries` in the store of each node. */
const nodeDeliveries = (change: Change): FaultInjector => ({
  nodeStore: (store) => changeDeliveries(store, change),
})

/** True for every `count`-th time. */
function everyNth(count: number): () => boolean {
  let times = 0
  return () => ++times % count === 0
}

/** A grant without the time of day of the store. */
const withoutClock = async (granted: ReturnType<Deliveries['own']>) => {
  const { clockMs: _, ...lease } = await granted
  return lease
}

export const SIMULATION_FAULTS: readonly SimulationFault[] = [
  {
    what: 'nodes that sign with their own clocks',
    caughtBy: ['I30'],
    options: { minutes: 20, faults: ['wall leap'] },
    faultInjector: () =>
      nodeDeliveries(({ own, renew }) => ({
        own: (owner, leaseMs) => withoutClock(own(owner, leaseMs)),
        renew: (owner, leaseMs) => withoutClock(renew(owner, leaseMs)),
      })),
  },
  {
    what: 'a store that loses one delivery of an acceptance',
    caughtBy: ['I1'],
    faultInjector: () =>
      sharedDeliveries(
        onAcceptance((acceptance) => ({ ...acceptance, deliveries: acceptance.deliveries.slice(0, -1) })),
      ),
  },
  {
    what: 'a node that matches every webhook of the account',
    caughtBy: ['I2'],
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
    what: 'a sender that invents a request',
    caughtBy: ['I3'],
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
    what: 'a store that shows an account the webhooks of others',
    caughtBy: ['I4'],
    faultInjector: () => ({
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          list: () => store.webhooks.list(['root', 'branch', 'rival']),
          page: async (accountId, query) =>
            (
              await Promise.all(
                [accountId, 'root', 'branch', 'rival'].map((id) => store.webhooks.page(id, query)),
              )
            ).flat(),
        },
      }),
    }),
  },
  {
    what: 'a sender that changes a body on its second attempt',
    caughtBy: ['I5'],
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
    what: 'a store that ignores idempotency keys',
    caughtBy: ['I6'],
    faultInjector: () =>
      sharedDeliveries(
        onAcceptance((acceptance) => ({
          ...acceptance,
          events: acceptance.events.map(({ idempotency: _, ...event }) => event),
        })),
      ),
  },
  {
    what: 'an unavailable receiver that costs a try',
    caughtBy: ['I7'],
    options: { faults: ['network bad'], minutes: 10 },
    faultInjector: () =>
      nodeDeliveries(
        onSettlement((settlement) =>
          settlement.record?.clientError === 'connection' || settlement.record?.clientError === 'tls'
            ? { ...settlement, next: { ...settlement.next, tries: settlement.next.tries + 1 } }
            : settlement,
        ),
      ),
  },
  {
    what: 'a pause that is not probed',
    caughtBy: ['I11'],
    options: { faults: ['network bad'], minutes: 10 },
    faultInjector: () =>
      nodeDeliveries(
        onSettlement((settlement) => {
          const { endpoint } = settlement
          const { health } = endpoint ?? {}
          if (!endpoint || !health?.pause) return settlement
          return { ...settlement, endpoint: { ...endpoint, health: { ...health, pausedUntilMs: 1e15 } } }
        }),
      ),
  },
  {
    what: 'a store that does not keep how old deliveries may become',
    caughtBy: ['I10'],
    options: { faults: ['receivers change', 'network bad'], minutes: 10 },
    faultInjector: () => ({
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          insert({ settings, ...webhook }) {
            const { maxAgeSeconds: _, ...others } = settings
            return store.webhooks.insert({ ...webhook, settings: others })
          },
        },
      }),
    }),
  },
  {
    what: 'a sender that repeats requests by itself',
    caughtBy: ['I8'],
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
    what: 'attempts numbered from 0',
    caughtBy: ['I9'],
    faultInjector: () =>
      nodeDeliveries(
        onSettlement(({ record, ...rest }) => ({
          ...rest,
          ...(record && {
            record: record.attempt === undefined ? record : { ...record, attempt: record.attempt - 1 },
          }),
        })),
      ),
  },
  {
    what: 'a node that sends without storing the start',
    caughtBy: ['I10'],
    faultInjector: () => nodeDeliveries(onGroup(({ starting: _, ...group }) => group)),
  },
  {
    what: 'a node that forgets starts while they are sent',
    caughtBy: ['I8'],
    faultInjector() {
      let last: number[] = []
      return nodeDeliveries(
        onGroup((group) => {
          const finished = [...group.finished, ...last]
          last = group.starting ? [group.starting.key] : []
          return { ...group, finished }
        }),
      )
    },
  },
  {
    what: 'retries that are due too early',
    caughtBy: ['I11'],
    faultInjector: () =>
      nodeDeliveries(
        onSettlement((settlement) => {
          const { dueMs } = settlement.next
          if (dueMs === undefined) return settlement
          return { ...settlement, next: { ...settlement.next, dueMs: dueMs - 1600 } }
        }),
      ),
  },
  {
    what: 'an API key stored in plain text',
    caughtBy: ['I13'],
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
    what: 'a sender that returns before the request has ended',
    caughtBy: ['I15'],
    options: { caps: { perEndpoint: 1 } },
    faultInjector: () => ({
      sender: (sender) => ({
        ...sender,
        async send(request) {
          void sender.send(request)
          return { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' }
        },
      }),
    }),
  },
  {
    what: 'a node that does not renew its lease, on a store that does not check it',
    caughtBy: ['I16'],
    faultInjector: () => ({
      store(store) {
        const { deliveries } = store
        const granted = (call: Deliveries['own']) => async (owner: string, leaseMs: number) => {
          const grant = await call(owner, leaseMs * 1000)
          return { ...grant, aliveUntilMs: grant.storeMs + leaseMs }
        }
        return changeDeliveries(store, () => ({
          own: granted(deliveries.own),
          renew: granted(deliveries.renew),
        }))
      },
      nodeStore(store, { clock }) {
        let last: Awaited<ReturnType<Deliveries['own']>> | undefined
        let lastMs = 0
        return changeDeliveries(store, () => ({
          async own(owner, leaseMs) {
            lastMs = clock.monotonic()
            last = await store.deliveries.own(owner, leaseMs)
            return last
          },
          async renew() {
            const passedMs = Math.floor(clock.monotonic() - lastMs)
            const { storeMs, aliveUntilMs } = last!
            return { ...last!, storeMs: storeMs + passedMs, aliveUntilMs: aliveUntilMs + passedMs }
          },
        }))
      },
    }),
  },
  {
    what: 'a node that does not keep the lanes of what it accepts',
    caughtBy: ['I17'],
    seed: 6,
    faultInjector: () =>
      nodeDeliveries((real) => ({
        async commit(group) {
          const result = await real.commit(group)
          for (const { deliveries } of group.accepted)
            for (const delivery of deliveries) Object.assign(delivery, { lane: `-/${delivery.id}` })
          return result
        },
      })),
  },
  {
    what: 'a timer that outlives its node',
    caughtBy: ['I18'],
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
    what: 'a sender that reports another status',
    caughtBy: ['I19'],
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
    what: 'a list of attempts that skips one',
    caughtBy: ['I20'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async attempts(query) {
          const all = await real.attempts(query)
          return query.webhookId === undefined ? all.slice(1) : all
        },
      })),
  },
  {
    what: 'a store that does not cancel deliveries of a disabled webhook',
    caughtBy: ['I21'],
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
    what: 'a node that gives up deliveries of a webhook that has room for more',
    caughtBy: ['I10'],
    faultInjector: () =>
      nodeDeliveries(
        onSettlement((settlement) =>
          settlement.next.state === 'exhausted'
            ? { ...settlement, next: { ...settlement.next, state: 'expired', reason: 'queue_full' } }
            : settlement,
        ),
      ),
    options: { maxPendingPerWebhook: 1_000 },
  },
  {
    what: 'a node that disables a webhook at the first failure',
    caughtBy: ['I22'],
    faultInjector: () =>
      nodeDeliveries(
        onSettlement((settlement) =>
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
      ),
  },
  {
    what: 'a clock that leaks a timer in each sleep',
    caughtBy: ['I24'],
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
    what: 'a store that throws an unexpected error',
    caughtBy: ['I25'],
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
  {
    what: 'a store in which tokens never expire',
    caughtBy: ['I12'],
    options: { minutes: 1800, nodes: 1, callsPerDay: 10, leaseSeconds: 3000 },
    seed: 5,
    faultInjector: () => ({
      nodeStore: (store) => ({
        ...store,
        tokens: {
          ...store.tokens,
          pruneTokens: async () => 0,
          async read(hash) {
            const row = await store.tokens.read(hash)
            return row && { ...row, expiresMs: Number.MAX_SAFE_INTEGER }
          },
        },
      }),
    }),
  },
  {
    what: 'a dialler that resolves the name again',
    caughtBy: ['I14'],
    options: { faults: ['dns hostile'] },
    faultInjector: () => ({
      approve: (real) => async (deps, host, timeoutMs) => {
        const approved = await real(deps, host, timeoutMs)
        if ('kind' in approved) return approved
        const again = await deps.resolver.resolve(host, timeoutMs)
        return again.kind === 'addresses' && again.addresses.length > 0 ? again.addresses : approved
      },
    }),
  },
  {
    what: 'a sender that sends one request at a time',
    caughtBy: ['I15'],
    options: { minutes: 4, nodes: 1, callsPerDay: 30_000 },
    faultInjector: () => ({
      sender(sender) {
        let last: Promise<unknown> = Promise.resolve()
        return {
          ...sender,
          send(request) {
            const sent = last.then(() => sender.send(request))
            last = sent
            return sent
          },
        }
      },
    }),
  },
  {
    what: 'a node that caches webhooks for ever',
    caughtBy: ['I21'],
    seed: 4,
    faultInjector: () => ({
      nodeStore(store) {
        const cached = new Map<string, Webhook>()
        return {
          ...store,
          webhooks: {
            ...store.webhooks,
            async read(accountId, id) {
              const row = cached.get(id) ?? (await store.webhooks.read(accountId, id))
              if (row) cached.set(id, row)
              return row
            },
          },
        }
      },
    }),
  },
  {
    what: 'a sender that sends requests in bursts',
    caughtBy: ['I23'],
    seed: 2,
    options: { nodes: 1, minutes: 1, callsPerDay: 200_000, faults: ['deaf'], caps: { total: 4 } },
    faultInjector: () => ({
      sender: (sender, { clock }) => ({
        ...sender,
        async send(request) {
          await clock.sleep(3000 - (clock.monotonic() % 3000))
          return sender.send(request)
        },
      }),
    }),
  },
]
