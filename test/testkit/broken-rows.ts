import { type Fault, withDeliveries } from './broken-queues.js'

/** Defects of reading, retaining and removing rows. */
export const brokenRows: readonly Fault[] = [
  ['stale deliveries are not listed', 'epochs', withDeliveries(() => ({ stale: async () => [] }))],
  [
    'a stale delivery is read as waiting',
    'epochs',
    withDeliveries((store) => ({
      async delivery(accountId, id) {
        const row = await store.delivery(accountId, id)
        return row?.state === 'cancelled' ? { ...row, state: 'waiting' } : row
      },
    })),
  ],
  [
    'deliveries are read without a check of the account',
    'deliveries',
    withDeliveries((store) => {
      const owners = new Map<string, string>()
      return {
        async accept(acceptance, now) {
          for (const { id, accountId } of acceptance.deliveries) owners.set(id, accountId)
          return store.accept(acceptance, now)
        },
        delivery: (accountId, id) => store.delivery(owners.get(id) ?? accountId, id),
      }
    }),
  ],
  [
    'attempts of a webhook are read without a check of the account',
    'attempts',
    withDeliveries((store) => ({
      async attempts(query) {
        const webhook = query.webhookId === undefined ? undefined : await store.webhookOf(query.webhookId)
        return store.attempts({ ...query, accountId: webhook?.accountId ?? query.accountId })
      },
    })),
  ],
  [
    'a page includes the row at its cursor',
    'attempts',
    withDeliveries((store) => ({
      attempts: (query) =>
        store.attempts(
          query.cursor === undefined
            ? query
            : { ...query, cursor: query.cursor + (query.ascending ? -1 : 1) },
        ),
    })),
  ],
  [
    'pages use offsets instead of positions',
    'attempts',
    withDeliveries((store) => ({
      async attempts({ cursor, ...query }) {
        const all = await store.attempts({ ...query, limit: 1e9 })
        const offset = cursor === undefined ? 0 : all.findIndex((row) => row.position === cursor) + 2
        return all.slice(offset, offset + query.limit)
      },
    })),
  ],
  [
    'only one leg of a call lists the other',
    'legs',
    withDeliveries((store) => ({
      async legs(accountId, callId) {
        const legs = await store.legs(accountId, callId)
        return callId === 'b' ? legs.slice(0, 1) : legs
      },
    })),
  ],
  [
    'prune exceeds its limit',
    'pruning',
    withDeliveries((store) => ({
      prune: (limits, now) => store.prune({ ...limits, limit: limits.limit + 1 }, now),
    })),
  ],
  [
    'prune keeps rows that are too old',
    'pruning',
    withDeliveries((store) => ({ prune: (limits, now) => store.prune({ ...limits, beforeMs: 0 }, now) })),
  ],
  ['nothing is erased', 'erasure', withDeliveries(() => ({ erase: async () => 0 }))],
  [
    'erasing a call erases the whole account',
    'erasure',
    withDeliveries((store) => ({ erase: ({ accountId }, limit) => store.erase({ accountId }, limit) })),
  ],
  [
    'erasing an account erases calls of other accounts with the same id',
    'erasure',
    withDeliveries((store) => ({
      async erase(erasure, limit) {
        const others = await store.erase({ ...erasure, accountId: 'stranger' }, limit)
        return others + (await store.erase(erasure, limit))
      },
    })),
  ],
  [
    'mentions finds a number in every call',
    'erasure',
    withDeliveries((store) => ({
      mentions: (accountId, _text, cursor, limit) => store.mentions(accountId, '5', cursor, limit),
    })),
  ],
  [
    'the second page of mentions repeats the first',
    'erasure',
    withDeliveries((store) => {
      let pages = 0
      return {
        async mentions(accountId, text, _cursor, limit) {
          pages += 1
          const page = await store.mentions(accountId, text, undefined, limit)
          return pages > 9 ? { ...page, cursor: undefined } : page
        },
      }
    }),
  ],
  ['nobody is notified', 'notifications', withDeliveries(() => ({ subscribe: () => () => {} }))],
  ['release releases nothing', 'ownership', withDeliveries(() => ({ release: async () => {} }))],
  ['orphans are not listed', 'ownership', withDeliveries(() => ({ orphans: async () => [] }))],
  [
    'a replacement of a stale revision is written',
    'webhooks',
    (store) => ({
      ...store,
      webhooks: {
        ...store.webhooks,
        async replace(webhook) {
          const current = await store.webhooks.read(webhook.accountId, webhook.id)
          return store.webhooks.replace(webhook, current?.revision ?? 0)
        },
      },
    }),
  ],
  [
    'a deleted webhook is still read',
    'webhooks',
    (store) => ({
      ...store,
      webhooks: {
        ...store.webhooks,
        async read(accountId, id) {
          const webhook = await store.deliveries.webhookOf(id)
          return webhook?.accountId === accountId ? webhook : undefined
        },
      },
    }),
  ],
  [
    'webhooks with hook all are not candidates',
    'webhooks',
    (store) => ({
      ...store,
      webhooks: {
        ...store.webhooks,
        candidates: async (accountIds, hook) =>
          (await store.webhooks.candidates(accountIds, hook)).filter(
            (webhook) => webhook.settings.hook === hook,
          ),
      },
    }),
  ],
  [
    'a token is pruned 1 ms late',
    'tokens',
    (store) => ({
      ...store,
      tokens: { ...store.tokens, pruneTokens: (now, limit) => store.tokens.pruneTokens(now - 1, limit) },
    }),
  ],
  ['a closed store keeps working', 'closing', (store) => ({ ...store, close: async () => {} })],
]
