/** Stores with one defect of the queue's log each; the model must notice all of them. */
import type {
  Acceptance,
  Group,
  GroupResult,
  NewDelivery,
  QueueStore,
  Settlement,
  Store,
} from 'hookswitch/store'

/** A defect, and a function that adds it to a correct store. */
export type BrokenStore = readonly [fault: string, breakStore: (store: Store) => Store]

/** Replaces some methods of the store's `deliveries`. */
export function withDeliveries(replace: (store: QueueStore) => Partial<QueueStore>): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...replace(store.deliveries) } })
}

/** Changes every group. */
function withGroups(change: (group: Group) => Group): (store: Store) => Store {
  return withDeliveries((store) => ({ commit: (group) => store.commit(change(group)) }))
}

/** Changes every acceptance. */
const withAcceptances = (change: (acceptance: Acceptance) => Acceptance) =>
  withGroups((group) => ({ ...group, accepted: group.accepted.map(change) }))

/** Changes every settlement. */
const withSettlements = (change: (settlement: Settlement, now: number) => Settlement) =>
  withGroups((group) => ({ ...group, ended: group.ended.map((one) => change(one, group.now)) }))

/** Changes the result of every group that was committed. */
const withResults = (
  change: (
    result: Extract<GroupResult, { kind: 'committed' }>,
    group: Group,
    store: QueueStore,
  ) => GroupResult | Promise<GroupResult>,
) =>
  withDeliveries((store) => ({
    async commit(group) {
      const result = await store.commit(group)
      return result.kind === 'committed' ? change(result, group, store) : result
    },
  }))

/** No row of `WaitingDeliveries`. */
export const NO_WAITING = {
  count: 0,
  webhookIds: [],
  webhook: new Uint32Array(),
  position: new Float64Array(),
  lane: new Float64Array(),
  sequence: new Uint32Array(),
  dueMs: new Float64Array(),
  epoch: new Uint32Array(),
  attempts: new Uint32Array(),
  tries: new Uint32Array(),
  interruptions: new Uint8Array(),
  failedMs: new Float64Array(),
}

export const BROKEN_STORES: readonly BrokenStore[] = [
  [
    'the second delivery of an acceptance is lost',
    withAcceptances(({ deliveries, ...acceptance }) => ({
      ...acceptance,
      deliveries: deliveries.filter((_, at) => at !== 1),
    })),
  ],
  [
    'the number of attempts that a settlement expects is ignored',
    withDeliveries((store) => ({
      async commit(group) {
        const keys = group.ended.map(({ webhookId, position }) => ({ webhookId, position }))
        const stored = await store.bodies(keys)
        const ended = group.ended.map((one, at): Settlement => {
          const { attempts } = stored[at]?.delivery ?? one.expect
          return { ...one, expect: { attempts } }
        })
        return store.commit({ ...group, ended })
      },
    })),
  ],
  [
    'deliveries of a call have lanes to themselves after a retry',
    withDeliveries((store) => {
      const retried = new Set<string>()
      return {
        commit(group) {
          for (const { webhookId, next } of group.ended) if (next.state === 'waiting') retried.add(webhookId)
          const accepted = group.accepted.map((acceptance) => ({
            ...acceptance,
            deliveries: acceptance.deliveries.map(
              (one): NewDelivery => (retried.has(one.webhookId) ? { ...one, lane: `-/${one.id}` } : one),
            ),
          }))
          return store.commit({ ...group, accepted })
        },
      }
    }),
  ],
  [
    'a page of attempts repeats the last row of the previous one',
    withDeliveries((store) => ({
      attempts({ cursor, ...query }) {
        // Pages of one row would never end.
        if (cursor === undefined || query.limit === 1)
          return store.attempts({ ...query, ...(cursor !== undefined && { cursor }) })
        return store.attempts({ ...query, cursor: cursor + (query.ascending ? -1 : 1) })
      },
    })),
  ],
  [
    'idempotency keys are ignored',
    withAcceptances((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map(({ idempotency: _, ...event }) => event),
    })),
  ],
  [
    'an idempotency key never expires',
    withAcceptances((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event) =>
        event.idempotency ? { ...event, idempotency: { ...event.idempotency, untilMs: 9e15 } } : event,
      ),
    })),
  ],
  [
    'a delivery of an older epoch is stored with the current epoch',
    withDeliveries((store) => ({
      async commit(group) {
        const accepted = await Promise.all(
          group.accepted.map(async (acceptance) => {
            const hooks = await Promise.all(
              acceptance.deliveries.map(({ webhookId }) => store.webhookOf(webhookId)),
            )
            const deliveries = acceptance.deliveries.map((one, at) => ({
              ...one,
              epoch: hooks[at]?.epoch ?? one.epoch,
            }))
            return { ...acceptance, deliveries }
          }),
        )
        return store.commit({ ...group, accepted })
      },
    })),
  ],
  [
    'a retry is due at once',
    withSettlements((one, now) => (one.next.dueMs ? { ...one, next: { ...one.next, dueMs: now } } : one)),
  ],
  [
    'a settlement without a first failure keeps the previous one',
    withDeliveries((store) => ({
      async commit(group) {
        const stored = await store.bodies(group.ended)
        const ended = group.ended.map((one, at): Settlement => {
          const failedMs = one.next.failedMs ?? stored[at]?.delivery.failedMs
          return { ...one, next: { ...one.next, ...(failedMs !== undefined && { failedMs }) } }
        })
        return store.commit({ ...group, ended })
      },
    })),
  ],
  [
    'the pause of an endpoint is lost',
    withSettlements(({ endpoint, ...one }) => {
      if (!endpoint?.health) return endpoint ? { ...one, endpoint } : one
      const { pausedUntilMs: _, ...health } = endpoint.health
      return { ...one, endpoint: { ...endpoint, health } }
    }),
  ],
  [
    'the record of the last attempt is lost',
    withSettlements(({ record, ...one }) =>
      record && one.next.state !== 'exhausted' ? { ...one, record } : one,
    ),
  ],
  [
    'the number of attempts is lost',
    withSettlements((one) => ({ ...one, next: { ...one.next, attempts: Math.min(one.next.attempts, 1) } })),
  ],
  [
    'a settlement of an ended delivery is reported as settled',
    withResults(async (result, { ended }, store) => {
      const rows = await Promise.all(ended.map((one) => store.delivery('account', one.deliveryId)))
      return {
        ...result,
        ended: result.ended.map((one, at) =>
          one.kind === 'fenced' && rows[at]?.state === 'delivered' ? { kind: 'settled' } : one,
        ),
      }
    }),
  ],
  [
    'a settlement that disables its webhook does not raise the version',
    withResults((result, { version }) => ({ ...result, version })),
  ],
  [
    'the lease of a group is ignored',
    withDeliveries((store) => {
      let last: Group['lease']
      return {
        async own(owner, leaseMs) {
          const lease = await store.own(owner, leaseMs)
          last = lease
          return lease
        },
        commit: ({ lease, ...group }) => store.commit({ ...group, lease: lease && last }),
      }
    }),
  ],
  [
    'the version of a group is ignored',
    withDeliveries((store) => ({
      async commit(group) {
        const polled = group.lease && (await store.changes(group.lease, group.version))
        return store.commit({ ...group, version: polled?.version ?? group.version })
      },
    })),
  ],
  ['an attempt of an older epoch starts', withResults((result) => ({ ...result, notStarted: [] }))],
  [
    'starts are not stored',
    withGroups(({ starting, ...group }) => ({
      ...group,
      ...(starting && { starting: { ...starting, deliveries: starting.deliveries.slice(0, 1) } }),
    })),
  ],
  ['starts that are over are not forgotten', withGroups((group) => ({ ...group, finished: [] }))],
  [
    'a takeover finds nothing that was interrupted',
    withDeliveries((store) => ({
      async load(lease, shards, cursor) {
        const part = await store.load(lease, shards, cursor)
        return part && { ...part, interrupted: [] }
      },
    })),
  ],
  [
    'what was interrupted is named again after the takeover is complete',
    withDeliveries(() => ({ completeTakeover: async () => {} })),
  ],
  ['the repeat of a group is written as a new one', withGroups((group) => ({ ...group, isRepeat: false }))],
  [
    'a delivery that was accepted without a lease is not found by a poll',
    withDeliveries((store) => ({
      async poll(lease) {
        const polled = await store.poll(lease)
        return polled && { ...polled, waiting: NO_WAITING, webhooks: [] }
      },
    })),
  ],
  [
    'a poll finds deliveries again',
    withDeliveries((store) => {
      let last: Awaited<ReturnType<QueueStore['poll']>>
      return {
        async poll(lease) {
          const polled = await store.poll(lease)
          if (polled && polled.waiting.count > 0) last = polled
          return polled && { ...(last ?? polled), version: polled.version }
        },
      }
    }),
  ],
  [
    'changes do not list edited webhooks',
    withDeliveries((store) => ({
      async changes(lease, since) {
        const found = await store.changes(lease, since)
        return found && { ...found, webhooks: [] }
      },
    })),
  ],
  [
    'changes do not list erased deliveries',
    withDeliveries((store) => ({
      async changes(lease, since) {
        const found = await store.changes(lease, since)
        return found && { ...found, removed: [] }
      },
    })),
  ],
  [
    'a gap in the numbers of a call is not reported',
    withResults((result) => ({
      ...result,
      accepted: result.accepted.map((one) => (one.kind === 'accepted' ? { ...one, mayHaveGap: false } : one)),
    })),
  ],
  [
    'a body has no number',
    withDeliveries((store) => ({
      async bodies(keys) {
        const claims = await store.bodies(keys)
        return claims.map((claim) => claim && { ...claim, body: claim.body.replace(/:\d+/, ':0') })
      },
    })),
  ],
  [
    'a replay does not mark its original',
    withDeliveries((store) => ({
      deliveries: async (query) =>
        (await store.deliveries(query)).map(({ replays: _lost, ...delivery }) => delivery),
    })),
  ],
  [
    'a replay of a replay marks the replay',
    withDeliveries((store) => ({
      async deliveries(query) {
        const rows = await store.deliveries(query)
        return rows.map((row) => {
          const original = rows.find(({ position }) => position === row.originalPosition)
          return original?.replays && original.replays.lastId !== row.id
            ? { ...row, replays: original.replays }
            : row
        })
      },
    })),
  ],
  [
    'what has recovered would be replayed again',
    withDeliveries((store) => ({
      countReplayable: (query) => store.countReplayable({ ...query, includeRecovered: true }),
    })),
  ],
  [
    'pruneOldest keeps what was not delivered',
    withDeliveries((store) => ({
      async pruneOldest(limit) {
        const { deliveries } = await store.search({ states: ['delivered'], limit: 1_000 })
        const originals = deliveries.filter(({ replayOf }) => replayOf === undefined).length
        return store.pruneOldest(Math.min(limit, originals))
      },
    })),
  ],
  [
    'prune keeps one attempt too few',
    withDeliveries((store) => ({
      prune: (limits, now) =>
        store.prune({ ...limits, attemptsPerWebhook: Math.max(0, limits.attemptsPerWebhook - 1) }, now),
    })),
  ],
  [
    'erasing a call leaves its attempts',
    withDeliveries((store) => {
      const kept = new Map<string, Awaited<ReturnType<QueueStore['attempts']>>>()
      return {
        async erase(erasure, limit) {
          const { accountId, callIds = [] } = erasure
          const before = await store.attempts({ accountId, callIds, limit: 1_000, ascending: true })
          if (before.length > 0) kept.set(callIds.join(), before)
          return store.erase(erasure, limit)
        },
        attempts: async (query) => [...[...kept.values()].flat(), ...(await store.attempts(query))],
      }
    }),
  ],
]
