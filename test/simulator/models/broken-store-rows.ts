/** Stores with one defect of other rows each, and stores with a race. */
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
    'the version of a group is compared before it is written',
    withDeliveries((store) => ({
      async commit(group) {
        const changes = group.lease && (await store.changes(group.lease, group.version))
        if (!changes || changes.version !== group.version) return store.commit(group)
        await aWhile()
        const { version } = (await store.changes(group.lease!, group.version)) ?? group
        return store.commit({ ...group, version })
      },
    })),
  ],
  [
    'an acceptance is written in two parts',
    withDeliveries((store) => ({
      async commit(group) {
        const [acceptance, ...others] = group.accepted
        if (!acceptance || others.length > 0 || group.starting || group.ended.length > 0)
          return store.commit(group)
        const [first, ...deliveries] = acceptance.deliveries
        const { events } = acceptance
        if (!first || deliveries.length === 0 || events.length > 1 || events[0]?.idempotency)
          return store.commit(group)
        const result = await store.commit({ ...group, accepted: [{ ...acceptance, deliveries: [first] }] })
        if (result.kind !== 'committed') return result
        await aWhile()
        const rest = deliveries.map((one) => ({
          ...one,
          replayOf: first.id,
          originalPosition: first.position,
        }))
        await store.commit({ ...group, accepted: [{ ...acceptance, events: [], deliveries: rest }] })
        return result
      },
    })),
  ],
]

/** Time for other calls to run in between. */
const aWhile = async () => {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
}
