import { type Fault, withDeliveries } from './broken-queues.js'

/** Faults of reading, keeping and removing rows. */
export const brokenRows: readonly Fault[] = [
  ['stale deliveries are not listed', 'epochs', withDeliveries(() => ({ stale: async () => [] }))],
  [
    'what is stale reads as waiting',
    'epochs',
    withDeliveries((door) => ({
      async delivery(accountId, id) {
        const row = await door.delivery(accountId, id)
        return row?.state === 'cancelled' ? { ...row, state: 'waiting' } : row
      },
    })),
  ],
  [
    'deliveries are read without asking whose they are',
    'deliveries',
    withDeliveries((door) => {
      const owners = new Map<string, string>()
      return {
        async accept(acceptance, now) {
          for (const { id, accountId } of acceptance.deliveries) owners.set(id, accountId)
          return door.accept(acceptance, now)
        },
        delivery: (accountId, id) => door.delivery(owners.get(id) ?? accountId, id),
      }
    }),
  ],
  [
    'attempts of a webhook are read without asking whose they are',
    'attempts',
    withDeliveries((door) => ({
      async attempts(query) {
        const webhook = query.webhookId === undefined ? undefined : await door.webhookOf(query.webhookId)
        return door.attempts({ ...query, accountId: webhook?.accountId ?? query.accountId })
      },
    })),
  ],
  [
    'a cursor is included in the page behind it',
    'attempts',
    withDeliveries((door) => ({
      attempts: (query) =>
        door.attempts(
          query.cursor === undefined
            ? query
            : { ...query, cursor: query.cursor + (query.ascending ? -1 : 1) },
        ),
    })),
  ],
  [
    'pages are counted, not remembered by position',
    'attempts',
    withDeliveries((door) => ({
      async attempts({ cursor, ...query }) {
        const all = await door.attempts({ ...query, limit: 1e9 })
        const offset = cursor === undefined ? 0 : all.findIndex((row) => row.position === cursor) + 2
        return all.slice(offset, offset + query.limit)
      },
    })),
  ],
  [
    'only one side of a call knows the other leg',
    'legs',
    withDeliveries((door) => ({
      async legs(accountId, callId) {
        const legs = await door.legs(accountId, callId)
        return callId === 'b' ? legs.slice(0, 1) : legs
      },
    })),
  ],
  [
    'pruning takes more than its batch',
    'pruning',
    withDeliveries((door) => ({
      prune: (limits, now) => door.prune({ ...limits, limit: limits.limit + 1 }, now),
    })),
  ],
  [
    'pruning keeps what is too old',
    'pruning',
    withDeliveries((door) => ({ prune: (limits, now) => door.prune({ ...limits, beforeMs: 0 }, now) })),
  ],
  ['nothing is erased', 'erasure', withDeliveries(() => ({ erase: async () => 0 }))],
  [
    'erasing a call erases the account',
    'erasure',
    withDeliveries((door) => ({ erase: ({ accountId }, limit) => door.erase({ accountId }, limit) })),
  ],
  [
    'erasing an account takes the calls of others with the same id',
    'erasure',
    withDeliveries((door) => ({
      async erase(what, limit) {
        const others = await door.erase({ ...what, accountId: 'stranger' }, limit)
        return others + (await door.erase(what, limit))
      },
    })),
  ],
  [
    'a number is found in every call',
    'erasure',
    withDeliveries((door) => ({
      mentions: (accountId, _text, cursor, limit) => door.mentions(accountId, '5', cursor, limit),
    })),
  ],
  [
    'the second page of what mentions a number is the first again',
    'erasure',
    withDeliveries((door) => {
      let asked = 0
      return {
        async mentions(accountId, text, _cursor, limit) {
          asked += 1
          const page = await door.mentions(accountId, text, undefined, limit)
          return asked > 9 ? { ...page, cursor: undefined } : page
        },
      }
    }),
  ],
  ['nobody is woken up', 'wake-ups', withDeliveries(() => ({ subscribe: () => () => {} }))],
  ['a release releases nothing', 'ownership', withDeliveries(() => ({ release: async () => {} }))],
  ['orphans are forgotten', 'ownership', withDeliveries(() => ({ orphans: async () => [] }))],
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
    'webhooks that listen to all are no candidates',
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
    'a token is pruned a moment late',
    'tokens',
    (store) => ({
      ...store,
      tokens: { ...store.tokens, pruneTokens: (now, limit) => store.tokens.pruneTokens(now - 1, limit) },
    }),
  ],
  ['a closed store goes on', 'closing', (store) => ({ ...store, close: async () => {} })],
]
