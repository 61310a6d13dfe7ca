/** Services with one defect each; the model must notice all of them. */
import { constant, createHookswitch, type Hookswitch } from 'hookswitch'
import type { Store } from 'hookswitch/store'
import { NO_WAITING } from './broken-stores.js'

type Options = Parameters<typeof createHookswitch>[0]

/** A defect, in the store of the service or in the service itself. */
export type BrokenService = readonly [
  fault: string,
  broken: {
    readonly store?: (store: Store) => Store
    readonly build?: (options: Options) => Hookswitch
  },
]

const withDeliveries =
  (change: (store: Store['deliveries']) => Partial<Store['deliveries']>) =>
  (store: Store): Store => ({ ...store, deliveries: { ...store.deliveries, ...change(store.deliveries) } })

/** Replaces methods of the service. */
const wrapped = (change: (hs: Hookswitch) => Partial<Hookswitch>) => (options: Options) => {
  const hs = createHookswitch(options)
  return { ...hs, ...change(hs) }
}

export const BROKEN_SERVICES: readonly BrokenService[] = [
  [
    'a token survives its revocation',
    { store: (store) => ({ ...store, tokens: { ...store.tokens, revoke: async () => true } }) },
  ],
  ['a token lives too long', { build: (options) => createHookswitch({ ...options, tokenTtlSeconds: 601 }) }],
  [
    'a former API key stays valid',
    {
      build: wrapped((hs) => ({
        accounts: { ...hs.accounts, rotateApiKey: async () => 'never made'.repeat(4) },
      })),
    },
  ],
  [
    'a disabled account may sign in',
    {
      build: wrapped((hs) => ({
        accounts: { ...hs.accounts, update: (id) => hs.accounts.update(id, { enabled: true }) },
      })),
    },
  ],
  [
    'If-Match is ignored',
    {
      build: wrapped((hs) => ({
        webhooks: { ...hs.webhooks, patch: (account, id, patch) => hs.webhooks.patch(account, id, patch) },
      })),
    },
  ],
  [
    'idempotency keys are ignored',
    { build: wrapped((hs) => ({ publish: ((event) => hs.publish(event)) as Hookswitch['publish'] })) },
  ],
  [
    'the second delivery of an acceptance is lost',
    {
      store: withDeliveries((store) => ({
        commit: (group) =>
          store.commit({
            ...group,
            accepted: group.accepted.map(({ deliveries, ...acceptance }) => ({
              ...acceptance,
              deliveries: deliveries.filter((_, at) => at !== 1),
            })),
          }),
      })),
    },
  ],
  [
    'order is lost in a restart',
    {
      store: withDeliveries((store) => ({
        async load(lease, shards, cursor) {
          const part = await store.load(lease, shards, cursor)
          if (!part) return part
          const { waiting } = part
          return { ...part, waiting: { ...waiting, lane: new Float64Array(waiting.count) } }
        },
      })),
    },
  ],
  [
    'a retry is sent 1 ms early',
    { build: (options) => createHookswitch({ ...options, retryPolicy: constant(1_999, { jitter: 0 }) }) },
  ],
  [
    'deliveries in flight at a crash are lost',
    {
      store: withDeliveries((store) => ({
        async load(lease, shards, cursor) {
          const part = await store.load(lease, shards, cursor)
          return part && part.interrupted.length > 0
            ? { ...part, waiting: NO_WAITING, webhooks: [], interrupted: [] }
            : part
        },
      })),
    },
  ],
  [
    'disabling a webhook cancels nothing',
    {
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          replace: async (next, revision) => {
            const before = await store.webhooks.read(next.accountId, next.id)
            const epoch = next.deletedMs === undefined ? (before?.epoch ?? next.epoch) : next.epoch
            return store.webhooks.replace({ ...next, epoch }, revision)
          },
        },
      }),
    },
  ],
  [
    'webhooks of ancestor accounts get no events',
    {
      store: (store) => ({
        ...store,
        webhooks: {
          ...store.webhooks,
          candidates: (accountIds, hook) => store.webhooks.candidates(accountIds.slice(0, 1), hook),
        },
      }),
    },
  ],
]
