/** Stores whose rows break one thing each, and those that break it when they are asked two things at once. */
import type { DeliveryStore } from 'hookswitch/store'
import { type BrokenStore, withDeliveries } from './broken-stores.js'

export const BROKEN_ROWS: readonly BrokenStore[] = [
  [
    'a token survives its revocation',
    (store) => ({ ...store, tokens: { ...store.tokens, revoke: async () => true } }),
  ],
  [
    'tokens of the API key survive when all are revoked',
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
    'a webhook is replaced whatever its revision is',
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
    'an account is found under the realm that it had',
    (store) => ({
      ...store,
      accounts: {
        ...store.accounts,
        update: async (account) => void (await store.accounts.lineage(account.id)),
      },
    }),
  ],
]

/** Sound while one call ends before the next begins. */
export const RACING_STORES: readonly BrokenStore[] = [
  [
    'of two changes of one webhook at once both are told that they won',
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
    'two claims at once are given the same',
    withDeliveries((door) => {
      let underWay: ReturnType<DeliveryStore['claim']> | undefined
      return {
        async claim(request) {
          underWay ??= door.claim(request)
          const result = await underWay
          await aWhile()
          underWay = undefined
          return result
        },
      }
    }),
  ],
  [
    'an acceptance is written in two halves',
    withDeliveries((door) => ({
      async accept(acceptance, now) {
        const [first, ...others] = acceptance.deliveries
        if (!first || others.length === 0 || acceptance.events.some(({ idempotency }) => idempotency)) {
          return door.accept(acceptance, now)
        }
        const told = await door.accept({ ...acceptance, deliveries: [] }, now)
        await aWhile()
        const events = acceptance.events.map((event) => ({ ...event, numbered: false }))
        await door.accept({ ...acceptance, events, deliveries: acceptance.deliveries }, now)
        return told
      },
    })),
  ],
]

/** Time for others to come in between. */
const aWhile = async () => {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve()
}
