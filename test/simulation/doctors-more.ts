import type { Webhook } from '../../src/webhooks/webhook.js'
import type { Broken } from './doctors.js'

/** What shows only where something else goes wrong, or after a while. */
export const MORE_BROKEN: readonly Broken[] = [
  {
    what: 'a store that keeps tokens for ever',
    invariants: ['I12'],
    options: { minutes: 1800, nodes: 1, callsPerDay: 10, leaseSeconds: 3000 },
    seed: 5,
    doctor: () => ({
      asks: (store) => ({
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
    what: 'a guard that judges the first address alone',
    invariants: ['I14'],
    options: { faults: ['dns hostile'] },
    doctor: () => ({
      approve: (real) => async (doors, host, timeoutMs) => {
        const { resolver } = doors
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
        const approved = await real({ ...doors, resolver: first }, host, timeoutMs)
        return 'kind' in approved ? approved : [...approved, ...others]
      },
    }),
  },
  {
    what: 'a dialler that looks the name up again',
    invariants: ['I14'],
    options: { faults: ['dns hostile'] },
    doctor: () => ({
      approve: (real) => async (doors, host, timeoutMs) => {
        const approved = await real(doors, host, timeoutMs)
        if ('kind' in approved) return approved
        const again = await doors.resolver.resolve(host, timeoutMs)
        return again.kind === 'addresses' && again.addresses.length > 0 ? again.addresses : approved
      },
    }),
  },
  {
    what: 'a guard that remembers what it judged once',
    invariants: ['I14'],
    options: { faults: ['dns hostile'] },
    doctor: () => {
      const judged = new Map<string, readonly string[]>()
      return {
        approve: (real) => async (doors, host, timeoutMs) => {
          await doors.resolver.resolve(host, timeoutMs)
          const known = judged.get(host)
          if (known) return known
          const approved = await real(doors, host, timeoutMs)
          if (!('kind' in approved)) judged.set(host, approved)
          return approved
        },
      }
    },
  },
  {
    what: 'a sender that sends one request after the other',
    invariants: ['I15'],
    options: { minutes: 4, nodes: 1, callsPerDay: 30_000 },
    doctor: () => ({
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
    what: 'a node that keeps its lease when it closes',
    invariants: ['I18'],
    doctor: () => ({
      asks: (store) => ({ ...store, deliveries: { ...store.deliveries, release: async () => {} } }),
    }),
  },
  {
    what: 'a node that goes on listening to its store',
    invariants: ['I18'],
    doctor: () => ({
      asks: (store) => ({
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
    what: 'a node that remembers webhooks',
    invariants: ['I21'],
    seed: 4,
    doctor: () => ({
      asks(store) {
        const known = new Map<string, Webhook>()
        return {
          ...store,
          webhooks: {
            ...store.webhooks,
            async read(accountId, id) {
              const row = known.get(id) ?? (await store.webhooks.read(accountId, id))
              if (row) known.set(id, row)
              return row
            },
          },
        }
      },
    }),
  },
  {
    what: 'a store whose last writer wins',
    invariants: ['I21'],
    seed: 4,
    options: { minutes: 30, faults: ['store slow'] },
    doctor: () => ({
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
    what: 'a sender that lets go of requests in gusts',
    invariants: ['I23'],
    seed: 3,
    options: { nodes: 1, minutes: 3, callsPerDay: 300_000, faults: ['deaf'], caps: { inAll: 4 } },
    doctor: () => ({
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
