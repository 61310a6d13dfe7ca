import type { Webhook } from '../../src/webhooks/webhook.js'
import { acceptedOf, type Defect, groups, nodeDeliveries, sharedDeliveries } from './fault-injectors.js'

/** Defects that show only together with a fault, or after a while. */
export const MORE_DEFECTS: readonly Defect[] = [
  {
    description: 'a node that records no interruption of what a crashed node was sending',
    invariants: ['I10', 'I19'],
    options: { minutes: 10, faults: ['crash'] },
    faultInjector: () =>
      nodeDeliveries((real) => ({
        async load(lease, shards, cursor) {
          const part = await real.load(lease, shards, cursor)
          return part && { ...part, interrupted: [] }
        },
      })),
  },
  {
    description: 'a store that does not keep starts',
    invariants: ['I10', 'I19'],
    options: { minutes: 10, faults: ['crash'] },
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async commit(group) {
          const result = await real.commit(group)
          const { starting, lease } = group
          if (result.kind !== 'committed' || !starting) return result
          const { version } = result
          await real.commit({ ...acceptedOf(group), lease, version, accepted: [], finished: [starting.key] })
          return result
        },
      })),
  },
  {
    description: 'a node that commits a group of unknown outcome as a new one',
    invariants: ['I17'],
    options: { minutes: 10, faults: ['store unheard'] },
    faultInjector: () => groups((group) => ({ ...group, isRepeat: false })),
  },
  {
    description: 'a node that does not read changes',
    invariants: ['I21'],
    options: { minutes: 40 },
    faultInjector: () =>
      sharedDeliveries((real) => ({
        async commit(group) {
          const changes = group.lease && (await real.changes(group.lease, group.version))
          const result = await real.commit({ ...group, version: changes?.version ?? group.version })
          // It also starts what the store refuses to start.
          return result.kind === 'committed' ? { ...result, notStarted: [], version: group.version } : result
        },
        async poll(lease) {
          const polled = await real.poll(lease)
          return polled && { ...polled, version: 0 }
        },
      })),
  },
  {
    description: 'a node that does not poll before it sends an event of another node',
    invariants: ['I17'],
    options: { minutes: 10, callsPerDay: 30_000 },
    faultInjector: () =>
      nodeDeliveries((real) => ({
        async commit(group) {
          const result = await real.commit(group)
          if (result.kind !== 'committed') return result
          const accepted = result.accepted.map((one) => ({ ...one, mayHaveGap: false }))
          return { ...result, accepted }
        },
        // Notifications come too late.
        subscribe: () => () => {},
      })),
  },
  {
    description: 'a store in which tokens never expire',
    invariants: ['I12'],
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
    description: 'an address guard that checks only the first address',
    invariants: ['I14'],
    options: { faults: ['dns hostile'] },
    faultInjector: () => ({
      approve: (real) => async (deps, host, timeoutMs) => {
        const { resolver } = deps
        let others: readonly string[] = []
        const first = {
          async resolve(name: string, ms: number) {
            const found = await resolver.resolve(name, ms)
            if (found.kind !== 'addresses') return found
            others = found.addresses.slice(1)
            return { ...found, addresses: found.addresses.slice(0, 1) }
          },
          close() {},
        }
        const approved = await real({ ...deps, resolver: first }, host, timeoutMs)
        return 'kind' in approved ? approved : [...approved, ...others]
      },
    }),
  },
  {
    description: 'a dialler that resolves the name again',
    invariants: ['I14'],
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
    description: 'an address guard that caches its result',
    invariants: ['I14'],
    options: { faults: ['dns hostile'] },
    faultInjector: () => {
      const approvedByHost = new Map<string, readonly string[]>()
      return {
        approve: (real) => async (deps, host, timeoutMs) => {
          await deps.resolver.resolve(host, timeoutMs)
          const cached = approvedByHost.get(host)
          if (cached) return cached
          const approved = await real(deps, host, timeoutMs)
          if (!('kind' in approved)) approvedByHost.set(host, approved)
          return approved
        },
      }
    },
  },
  {
    description: 'a sender that sends one request at a time',
    invariants: ['I15'],
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
    description: 'a node that keeps its lease when it closes',
    invariants: ['I18'],
    faultInjector: () => ({
      nodeStore: (store) => ({ ...store, deliveries: { ...store.deliveries, release: async () => {} } }),
    }),
  },
  {
    description: 'a node that stays subscribed after it closes',
    invariants: ['I18'],
    faultInjector: () => ({
      nodeStore: (store) => ({
        ...store,
        deliveries: {
          ...store.deliveries,
          subscribe(listener) {
            store.deliveries.subscribe(listener)
            return () => {}
          },
        },
      }),
    }),
  },
  {
    description: 'a node that caches webhooks for ever',
    invariants: ['I21'],
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
    description: 'a store in which the last writer wins',
    invariants: ['I21'],
    seed: 29,
    // It takes two edits of one webhook at the same time, the first of which was given up as unanswered: one run of twenty.
    otherSeeds: 100,
    options: { minutes: 30, faults: ['store slow'] },
    faultInjector: () => ({
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          async replace(webhook, revision) {
            const now = await store.webhooks.read(webhook.accountId, webhook.id)
            return store.webhooks.replace(webhook, now?.revision ?? revision)
          },
        },
      }),
    }),
  },
  {
    description: 'a sender that sends requests in bursts',
    invariants: ['I23'],
    seed: 3,
    options: { nodes: 1, minutes: 3, callsPerDay: 300_000, faults: ['deaf'], caps: { total: 4 } },
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
