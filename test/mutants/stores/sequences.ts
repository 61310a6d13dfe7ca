import { faultsOf, onSettlement, RACING_MODEL, STORE_MODEL, type StoreFault } from './store-fault.js'

const modelFault = faultsOf(STORE_MODEL, 'deliveries')
const racingFault = faultsOf(RACING_MODEL, 'deliveries')

/** Time for other calls to run in between. */
const aWhile = async () => {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
}

/** Defects that show after a sequence of calls, or while calls overlap. */
export const brokenSequences: readonly StoreFault[] = [
  faultsOf(RACING_MODEL, 'webhooks')('a replacement overwrites what was replaced meanwhile', (store) => ({
    async replace(webhook, expected) {
      const before = await store.read(webhook.accountId, webhook.id)
      if (before?.revision !== expected) return false
      await aWhile()
      const now = await store.read(webhook.accountId, webhook.id)
      return now === undefined ? false : store.replace(webhook, now.revision)
    },
  })),
  modelFault('deliveries of a call have lanes to themselves after a retry', (store) => {
    const retried = new Set<string>()
    return {
      commit(group) {
        for (const { webhookId, next } of group.ended) if (next.state === 'waiting') retried.add(webhookId)
        const accepted = group.accepted.map((acceptance) => ({
          ...acceptance,
          deliveries: acceptance.deliveries.map((delivery) =>
            retried.has(delivery.webhookId) ? { ...delivery, lane: `-/${delivery.id}` } : delivery,
          ),
        }))
        return store.commit({ ...group, accepted })
      },
    }
  }),
  modelFault(
    'a retry is due at once',
    onSettlement((settlement) =>
      settlement.next.dueMs ? { ...settlement, next: { ...settlement.next, dueMs: 1 } } : settlement,
    ),
  ),
  racingFault('the version of a group is compared before it is written', (store) => ({
    async commit(group) {
      const changes = group.lease && (await store.changes(group.lease, group.version))
      if (!changes || changes.version !== group.version) return store.commit(group)
      await aWhile()
      const { version } = (await store.changes(group.lease!, group.version)) ?? group
      return store.commit({ ...group, version })
    },
  })),
  racingFault('an acceptance is written in two parts', (store) => ({
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
      const rest = deliveries.map((delivery) => ({
        ...delivery,
        replayOf: first.id,
        originalPosition: first.position,
      }))
      await store.commit({ ...group, accepted: [{ ...acceptance, events: [], deliveries: rest }] })
      return result
    },
  })),
]
