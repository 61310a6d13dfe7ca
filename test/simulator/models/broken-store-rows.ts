/** Stores with one defect of other rows each, and stores with a race. */
import type { DeliveryStore } from 'hookswitch/store'
import { type BrokenStore, withDeliveries } from './broken-stores.js'

export const BROKEN_ROWS: readonly BrokenStore[] = [
  [
    'a token survives its revocation',
    (store) => ({ ...store, tokens: { ...store.tokens, revoke: async () => true } }),
  ],
  [
    'revokeAll does not revoke tokens of the API key',
    (store) => ({
      ...store,
      tokens: {
        ...store.tokens,
        revokeAll: (account, holder) =>
          holder === null ? Promise.resolve(0) : store.tokens.revokeAll(account, holder),
      },
    }),
  ],
  [
    'a webhook is replaced at any revision',
    (store) => ({
      ...store,
      webhooks: {
        ...store.webhooks,
        async replace(webhook, expected) {
          const now = await store.webhooks.read(webhook.accountId, webhook.id)
          return store.webhooks.replace(webhook, now?.revision ?? expected)
        },
      },
    }),
  ],
  [
    'an account is found under its former realm',
    (store) => ({
      ...store,
      accounts: {
        ...store.accounts,
        update: async (account) => void (await store.accounts.lineage(account.id)),
      },
    }),
  ],
]

/** Correct unless calls overlap. */
export const RACING_STORES: readonly BrokenStore[] = [
  [
    'two concurrent changes of a webhook both succeed',
    (store) => ({
      ...store,
      webhooks: {
        ...store.webhooks,
        async replace(webhook, expected) {
          const before = await store.webhooks.read(webhook.accountId, webhook.id)
          if (before?.revision !== expected) return false
          await aWhile()
          const now = await store.webhooks.read(webhook.accountId, webhook.id)
          return now === undefined ? false : store.webhooks.replace(webhook, now.revision)
        },
      },
    }),
  ],
  [
    'two concurrent claims return the same deliveries',
    withDeliveries((store) => {
      let inProgress: ReturnType<DeliveryStore['claim']> | undefined
      return {
        async claim(request) {
          inProgress ??= store.claim(request)
          const result = await inProgress
          await aWhile()
          inProgress = undefined
          return result
        },
      }
    }),
  ],
  [
    'an acceptance is written in two parts',
    withDeliveries((store) => ({
      async accept(acceptance, now) {
        const [first, ...others] = acceptance.deliveries
        if (!first || others.length === 0 || acceptance.events.some(({ idempotency }) => idempotency)) {
          return store.accept(acceptance, now)
        }
        const accepted = await store.accept({ ...acceptance, deliveries: [] }, now)
        await aWhile()
        const events = acceptance.events.map((event) => ({ ...event, numbered: false }))
        await store.accept({ ...acceptance, events, deliveries: acceptance.deliveries }, now)
        return accepted
      },
    })),
  ],
]

/** Time for other calls to run in between. */
const aWhile = async () => {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve()
}
