import type { StoredDelivery } from '../../../src/delivery/delivery-queries.js'
import type { Settlement } from '../../../src/delivery/delivery-store.js'
import { type Delivery, isTerminal } from '../../../src/delivery/lifecycle.js'
import type { QueueStore, Start } from '../../../src/delivery/queue-store.js'
import {
  faultsOf,
  lastLease,
  onCommitted,
  onSettlement,
  STORE_MODEL,
  type StoreFault,
  versionOf,
} from './store-fault.js'

const settleFault = faultsOf('settle', 'deliveries')
const startFault = faultsOf('starts', 'deliveries')

/** The number of attempts that is stored for a waiting delivery. */
async function storedAttempts(store: QueueStore, { webhookId, position }: Settlement) {
  const [claim] = await store.bodies([{ webhookId, position: position! }])
  return claim?.delivery.attempts
}

function unfailed<Row extends { readonly failedMs?: number | undefined }>({ failedMs: _none, ...row }: Row) {
  return row
}

const withoutFailure = (settlement: Settlement): Settlement => ({
  ...settlement,
  next: unfailed(settlement.next),
})

/** Defects of settlements. */
export const brokenSettlements: readonly StoreFault[] = [
  settleFault(
    'interruptions are not stored',
    onSettlement((settlement) => ({ ...settlement, next: { ...settlement.next, interruptions: 0 } })),
    [STORE_MODEL],
  ),
  settleFault(
    'first failures of ended deliveries are not stored',
    onSettlement((settlement) =>
      isTerminal(settlement.next.state) ? withoutFailure(settlement) : settlement,
    ),
  ),
  settleFault('a settlement without a reason keeps the previous one', (store) => {
    const reasons = new Map<string, string>()
    return onSettlement((settlement) => {
      const reason = settlement.next.reason ?? reasons.get(settlement.deliveryId)
      if (reason === undefined) return settlement
      reasons.set(settlement.deliveryId, reason)
      return { ...settlement, next: { ...settlement.next, reason } }
    })(store)
  }),
  settleFault(
    'a settlement without a record counts an attempt',
    onSettlement((settlement) =>
      settlement.record || settlement.next.state !== 'waiting'
        ? settlement
        : { ...settlement, next: { ...settlement.next, attempts: settlement.next.attempts + 1 } },
    ),
  ),
  ...(['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const).map((state) =>
    settleFault(
      `a delivery that ends as ${state} waits again`,
      onSettlement((settlement) =>
        settlement.next.state === state
          ? { ...settlement, next: { ...settlement.next, state: 'waiting', dueMs: 1 } }
          : settlement,
      ),
      state === 'expired' ? [STORE_MODEL] : [],
    ),
  ),
  settleFault(
    'attempts are not compared',
    (store) => ({
      async commit(group) {
        const ended = await Promise.all(
          group.ended.map(async (settlement) => ({
            ...settlement,
            expect: { ...settlement.expect, attempts: (await storedAttempts(store, settlement)) ?? 0 },
          })),
        )
        return store.commit({ ...group, ended })
      },
    }),
    [STORE_MODEL],
  ),
  settleFault(
    'a fenced settlement counts as settled',
    onCommitted((result) => ({ ...result, ended: result.ended.map(() => ({ kind: 'settled' as const })) })),
    [STORE_MODEL],
  ),
  settleFault('settlements are applied before acceptances', (store) => ({
    async commit(group) {
      const { starting: _none, ...rest } = group
      const first = await store.commit({ ...rest, accepted: [], finished: [] })
      if (first.kind !== 'committed') return first
      const result = await store.commit({ ...group, ended: [], version: first.version })
      return result.kind === 'committed' ? { ...result, ended: first.ended } : result
    },
  })),
  settleFault('rows that were returned change with the store', (store) => {
    const returned = new Map<string, StoredDelivery>()
    return {
      async delivery(accountId, id) {
        const row = await store.delivery(accountId, id)
        if (row) returned.set(id, returned.get(id) ?? row)
        return row && Object.assign(returned.get(id)!, row)
      },
      async commit(group) {
        const result = await store.commit(group)
        for (const [id, row] of returned) Object.assign(row, await store.delivery(row.accountId, id))
        return result
      },
    }
  }),
]

/** Starts that nodes have committed, and what a store with a defect may remember of them. */
function trackStarts(store: QueueStore) {
  const started: { readonly owner: string; readonly key: number; readonly start: Start }[] = []
  return {
    started,
    commit: async (group: Parameters<QueueStore['commit']>[0]) => {
      const result = await store.commit(group)
      if (result.kind === 'committed' && group.starting && group.lease) {
        const { key, deliveries } = group.starting
        for (const [index, start] of deliveries.entries())
          if (!result.notStarted.includes(index)) started.push({ owner: group.lease.owner, key, start })
      }
      return result
    },
  }
}

/** Defects of starts. */
export const brokenStarts: readonly StoreFault[] = [
  startFault('a started delivery is read as in flight', (store) => {
    const { started, commit } = trackStarts(store)
    return {
      commit,
      async delivery(accountId, id) {
        const row = await store.delivery(accountId, id)
        const isStarted = started.some(({ start }) => row?.position === start.position)
        return row && isStarted ? { ...row, state: 'in_flight' } : row
      },
    }
  }),
  startFault(
    'the number of an attempt that starts is not checked',
    (store) => ({
      commit(group) {
        const { starting } = group
        if (!starting) return store.commit(group)
        const deliveries = starting.deliveries.map((start) => ({ ...start, attempt: 1 }))
        return store.commit({ ...group, starting: { ...starting, deliveries } })
      },
    }),
    [STORE_MODEL],
  ),
  startFault(
    'a settlement of an older epoch refuses the starts of its group',
    onCommitted((result, { ended, starting }) => {
      const isRefused = ended.some(({ endpoint }, at) => {
        const ended = result.ended[at]
        return endpoint?.disable !== undefined && ended?.kind === 'settled' && !ended.disabled
      })
      return isRefused && starting
        ? { ...result, notStarted: starting.deliveries.map((_, at) => at) }
        : result
    }),
  ),
  startFault(
    'interrupted starts are not found',
    (store) => ({
      async load(...args) {
        const part = await store.load(...args)
        return part && { ...part, interrupted: [] }
      },
    }),
    ['ownership', 'several nodes', 'I10 or I19'],
    { options: { minutes: 10, faults: ['crash'] } },
  ),
  startFault(
    'every start of earlier owners is interrupted',
    (store) => {
      const { started, commit } = trackStarts(store)
      return {
        commit,
        async load(lease, shards, cursor) {
          const part = await store.load(lease, shards, cursor)
          const others = started.filter(({ owner }) => owner !== lease.owner)
          return part && { ...part, interrupted: others.map(({ start }) => start) }
        },
      }
    },
    ['several nodes'],
  ),
  startFault(
    'a load completes the takeover',
    (store) => ({
      async load(lease, shards, cursor) {
        const part = await store.load(lease, shards, cursor)
        if (part && part.cursor === undefined) await store.completeTakeover(lease, shards)
        return part
      },
    }),
    [STORE_MODEL],
  ),
  startFault('a takeover is complete for all shards at once', (store) => ({
    completeTakeover: (lease) =>
      store.completeTakeover(
        lease,
        Array.from({ length: 64 }, (_, shard) => shard),
      ),
  })),
  startFault('completing a takeover forgets the starts of the new owner', (store) => {
    const { started, commit } = trackStarts(store)
    return {
      commit,
      async completeTakeover(lease, shards) {
        await store.completeTakeover(lease, shards)
        const finished = started.filter(({ owner }) => owner === lease.owner).map(({ key }) => key)
        const version = await versionOf(store, lease)
        await store.commit({
          lease,
          version,
          now: 0,
          accepted: [],
          ended: [],
          finished,
          pending: 0,
          isRepeat: false,
        })
      },
    }
  }),
  startFault(
    'everything may start',
    onCommitted((result) => ({ ...result, notStarted: [] })),
    [STORE_MODEL],
  ),
  startFault('release leaves the starts behind', (store) => {
    const { current, methods } = lastLease(store)
    return {
      ...methods,
      release: async (owner) => void (owner === current().owner || (await store.release(owner))),
    }
  }),
  startFault('release forgets the starts of earlier leases too', (store) => {
    const { started, commit } = trackStarts(store)
    const released = new Set<string>()
    return {
      commit,
      async release(owner) {
        await store.release(owner)
        released.add(owner)
      },
      async load(lease, shards, cursor) {
        const part = await store.load(lease, shards, cursor)
        if (!part) return part
        const forgotten = started
          .filter(({ owner }) => released.has(owner))
          .map(({ start }) => start.position)
        const interrupted = part.interrupted.filter(({ position }) => !forgotten.includes(position))
        return { ...part, interrupted }
      },
    }
  }),
]

/** A delivery with some of its fields replaced, as `delivery` returns it. */
export const onDelivery =
  (change: (row: StoredDelivery) => Partial<Delivery> | Partial<StoredDelivery> | undefined) =>
  (store: QueueStore) => ({
    async delivery(accountId: string, id: string) {
      const row = await store.delivery(accountId, id)
      const changes = row && change(row)
      return row && changes ? { ...row, ...changes } : row
    },
  })
