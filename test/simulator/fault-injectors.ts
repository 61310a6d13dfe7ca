import type { FaultInjector, SimulationOptions } from '../../src/simulator/index.js'
import type { Acceptance, AcceptanceResult, Group, Settlement, Store } from '../../src/store/index.js'

/** A defect in one dependency, and the invariants that it may break. */
export interface Defect {
  readonly description: string
  readonly invariants: readonly string[]
  readonly faultInjector: () => FaultInjector
  /** Options that it needs to show. */
  readonly options?: SimulationOptions
  /** A seed in which it shows early. Default: one in which most defects do. */
  readonly seed?: number
  /** How many other seeds are tried when that one does not show it any more. Default 7. */
  readonly otherSeeds?: number
}

export type Deliveries = Store['deliveries']

export const withDeliveries = (store: Store, changed: Partial<Deliveries>): Store => ({
  ...store,
  deliveries: { ...store.deliveries, ...changed },
})

/** Replaces methods of `deliveries` in the shared store. */
export const sharedDeliveries = (change: (real: Deliveries) => Partial<Deliveries>): FaultInjector => ({
  store: (store) => withDeliveries(store, change(store.deliveries)),
})

/** Replaces methods of `deliveries` in the store of each node. */
export const nodeDeliveries = (change: (real: Deliveries) => Partial<Deliveries>): FaultInjector => ({
  nodeStore: (store) => withDeliveries(store, change(store.deliveries)),
})

/** Changes the groups that nodes commit. */
export const groups = (change: (group: Group) => Group): FaultInjector =>
  nodeDeliveries((real) => ({ commit: (group) => real.commit(change(group)) }))

/** What a group accepts, as a group of its own. */
export const acceptedOf = ({ version, now, accepted, pending }: Group): Group => ({
  lease: undefined,
  version,
  now,
  accepted,
  ended: [],
  finished: [],
  pending,
  isRepeat: false,
})

/** Changes what the store writes of each acceptance. */
const acceptances = (change: (acceptance: Acceptance) => Acceptance): FaultInjector =>
  sharedDeliveries((real) => ({
    commit: (group) => real.commit({ ...group, accepted: group.accepted.map(change) }),
  }))

/** Changes every settlement of each node. */
const settlements = (change: (settlement: Settlement) => Settlement): FaultInjector =>
  groups((group) => ({ ...group, ended: group.ended.map(change) }))

/** The result of an acceptance that is not written. */
export function acknowledged({ events }: Acceptance, sequence: number): AcceptanceResult {
  return {
    kind: 'accepted',
    events: events.map(({ id }) => ({ id, sequence, duplicate: false })),
    mayHaveGap: false,
  }
}

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

export const DEFECTS: readonly Defect[] = [
  {
    description: 'nodes that sign with their own clocks',
    invariants: ['I30'],
    options: { minutes: 40, faults: ['wall leap'] },
    faultInjector: () =>
      nodeDeliveries(({ own, renew }) => ({
        own: (owner, leaseMs) => withoutClock(own(owner, leaseMs)),
        renew: (owner, leaseMs) => withoutClock(renew(owner, leaseMs)),
      })),
  },
  {
    description: 'a store that acknowledges without writing',
    invariants: ['I1'],
    faultInjector() {
      const isLost = everyNth(5)
      return sharedDeliveries((real) => ({
        async commit(group) {
          const areLost = group.accepted.map(() => isLost())
          const accepted = group.accepted.filter((_, index) => !areLost[index])
          const result = await real.commit({ ...group, accepted })
          if (result.kind !== 'committed') return result
          const written = [...result.accepted]
          const all = group.accepted.map((acceptance, index) =>
            areLost[index] ? acknowledged(acceptance, 1) : written.shift()!,
          )
          return { ...result, accepted: all }
        },
      }))
    },
  },
  {
    description: 'a store that loses one delivery of an acceptance',
    invariants: ['I1'],
    faultInjector: () =>
      acceptances((acceptance) => ({ ...acceptance, deliveries: acceptance.deliveries.slice(0, -1) })),
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
      acceptances((acceptance) => ({
        ...acceptance,
        events: acceptance.events.map(({ idempotency: _, ...event }) => event),
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
    description: 'an unavailable receiver that costs a try',
    invariants: ['I7'],
    options: { faults: ['network bad'], minutes: 10 },
    faultInjector: () =>
      settlements((settlement) =>
        settlement.record?.clientError === 'connection' || settlement.record?.clientError === 'tls'
          ? { ...settlement, next: { ...settlement.next, tries: settlement.next.tries + 1 } }
          : settlement,
      ),
  },
  {
    description: 'a pause that is not probed',
    invariants: ['I11'],
    options: { faults: ['network bad'], minutes: 10 },
    faultInjector: () =>
      settlements((settlement) => {
        const { endpoint } = settlement
        const { health } = endpoint ?? {}
        if (!endpoint || !health?.pause) return settlement
        return { ...settlement, endpoint: { ...endpoint, health: { ...health, pausedUntilMs: 1e15 } } }
      }),
  },
  {
    description: 'a store that does not keep how old deliveries may become',
    invariants: ['I10'],
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
    description: 'a node that sends without storing the start',
    invariants: ['I10'],
    faultInjector: () => groups(({ starting: _, ...group }) => group),
  },
  {
    description: 'a node that forgets starts while they are sent',
    invariants: ['I8'],
    faultInjector() {
      let last: number[] = []
      return groups((group) => {
        const finished = [...group.finished, ...last]
        last = group.starting ? [group.starting.key] : []
        return { ...group, finished }
      })
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
    description: 'a sender that returns before the request has ended',
    invariants: ['I15'],
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
    description: 'a node that does not renew its lease, on a store that does not check it',
    invariants: ['I16'],
    faultInjector: () => ({
      store(store) {
        const { deliveries } = store
        const granted = (call: Deliveries['own']) => async (owner: string, leaseMs: number) => {
          const grant = await call(owner, leaseMs * 1000)
          return { ...grant, aliveUntilMs: grant.storeMs + leaseMs }
        }
        return withDeliveries(store, { own: granted(deliveries.own), renew: granted(deliveries.renew) })
      },
      nodeStore(store, { clock }) {
        let last: Awaited<ReturnType<Deliveries['own']>> | undefined
        let lastMs = 0
        return withDeliveries(store, {
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
        })
      },
    }),
  },
  {
    description: 'a node that does not keep the lanes of what it accepts',
    invariants: ['I17'],
    seed: 6,
    faultInjector: () =>
      nodeDeliveries((real) => ({
        async commit(group) {
          const result = await real.commit(group)
          for (const { deliveries } of group.accepted)
            for (const one of deliveries) Object.assign(one, { lane: `-/${one.id}` })
          return result
        },
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
    description: 'a node that gives up deliveries of a webhook that has room for more',
    invariants: ['I10'],
    faultInjector: () =>
      settlements((settlement) =>
        settlement.next.state === 'exhausted'
          ? { ...settlement, next: { ...settlement.next, state: 'expired', reason: 'queue_full' } }
          : settlement,
      ),
    options: { maxPendingPerWebhook: 1_000 },
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
    description: 'a store that loses nudges',
    invariants: ['I23'],
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async poll(lease) {
          const polled = await real.poll(lease)
          return polled && { ...polled, waiting: { ...polled.waiting, count: 0 } }
        },
      })),
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
