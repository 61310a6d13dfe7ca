/** Stores with a defect that shows after a sequence of calls, or while calls overlap; the model must notice all of them. */
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
    'an idempotency key never expires',
    withAcceptances((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event) =>
        event.idempotency ? { ...event, idempotency: { ...event.idempotency, untilMs: 9e15 } } : event,
      ),
    })),
  ],
  [
    'a retry is due at once',
    withSettlements((one, now) => (one.next.dueMs ? { ...one, next: { ...one.next, dueMs: now } } : one)),
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
    'a gap in the numbers of a call is not reported',
    withResults((result) => ({
      ...result,
      accepted: result.accepted.map((one) => (one.kind === 'accepted' ? { ...one, mayHaveGap: false } : one)),
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
