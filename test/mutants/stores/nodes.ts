import type { DeliveryKey, QueueStore, Start } from '../../../src/delivery/queue-store.js'
import {
  faultsOf,
  filterRows,
  onAcceptance,
  onCommitted,
  onLease,
  onLoad,
  STORE_MODEL,
  type StoreFault,
  withPort,
} from './store-fault.js'

const nodeFault = faultsOf('several nodes', 'deliveries')
const notifyFault = faultsOf('notifications of several nodes', 'deliveries')

const nameOf = ({ webhookId, position }: DeliveryKey) => `${position}/${webhookId}`

/** The node that committed a group last. */
function trackOwner(store: QueueStore) {
  let owner = ''
  return {
    current: () => owner,
    commit: (group: Parameters<QueueStore['commit']>[0]) => {
      owner = group.lease?.owner ?? owner
      return store.commit(group)
    },
  }
}

/** Makes the next group of every node outdated, once. */
function createAlarm(store: QueueStore) {
  let raised = 0
  const heard = new Map<string, number>()
  return {
    raise: (except = '') => {
      raised += 1
      heard.set(except, raised)
    },
    async commit(group: Parameters<QueueStore['commit']>[0]) {
      const owner = group.lease?.owner ?? ''
      const isDue = (heard.get(owner) ?? 0) < raised
      heard.set(owner, raised)
      return isDue ? ({ kind: 'outdated' } as const) : store.commit(group)
    },
  }
}

/** Defects that only show with several nodes on one store. */
export const brokenNodes: readonly StoreFault[] = [
  nodeFault('shards are never given back', (store) => ({
    renew: (owner, leaseMs) => store.own(owner, leaseMs),
  })),
  nodeFault('the list of nodes has no order', (store) => ({
    nodes: async () => (await store.nodes()).toReversed(),
  })),
  nodeFault('fences are not compared when shards are handed over', (store) => {
    const leases = new Map<string, Parameters<QueueStore['handOver']>[0]>()
    return {
      ...onLease((lease) => {
        leases.set(lease.owner, lease)
        return lease
      })(store),
      handOver: (lease, shards) => store.handOver(leases.get(lease.owner) ?? lease, shards),
    }
  }),
  nodeFault('handing over gives up all shards', (store) => ({
    handOver: (lease) => store.release(lease.owner),
  })),
  nodeFault(
    'all nodes have one number',
    onLease((lease) => ({ ...lease, node: 1 })),
  ),
  nodeFault(
    'shards are in descending order',
    onLease((lease) => ({ ...lease, shards: lease.shards.toReversed() })),
  ),
  nodeFault('a lease ends 1 ms early', (store) => ({
    own: (owner, leaseMs) => store.own(owner, leaseMs - 1),
    renew: (owner, leaseMs) => store.renew(owner, leaseMs - 1),
  })),
  nodeFault('a lease that was granted again has its old fence', (store) => {
    const fences = new Map<string, number>()
    return onLease((lease) => {
      const fence = fences.get(lease.owner) ?? lease.fence
      fences.set(lease.owner, fence)
      return { ...lease, fence }
    })(store)
  }),
  nodeFault('starts with the same key replace those of an earlier lease', (store) => {
    const stored = new Map<string, { readonly fence: number; readonly starts: readonly Start[] }>()
    const replaced = new Set<string>()
    return {
      commit(group) {
        const { lease, starting } = group
        if (lease && starting) {
          const name = `${lease.owner} ${starting.key}`
          const before = stored.get(name)
          if (before && before.fence !== lease.fence)
            for (const start of before.starts) replaced.add(nameOf(start))
          stored.set(name, { fence: lease.fence, starts: starting.deliveries })
        }
        return store.commit(group)
      },
      async load(...args) {
        const part = await store.load(...args)
        return (
          part && {
            ...part,
            interrupted: part.interrupted.filter((start) => !replaced.has(nameOf(start))),
          }
        )
      },
    }
  }),
  nodeFault(
    'no delivery is polled',
    (store) => ({
      async poll(lease) {
        const polled = await store.poll(lease)
        return polled && { ...polled, waiting: filterRows(polled.waiting, () => false), webhooks: [] }
      },
    }),
    ['I23'],
  ),
  {
    what: 'an edit is a change for all nodes',
    caughtBy: ['several nodes'],
    breakStore(store, clock) {
      const alarm = createAlarm(store.deliveries)
      const broken = withPort('deliveries', () => ({ commit: alarm.commit }))(store, clock)
      return withPort('webhooks', (webhooks) => ({
        async replace(webhook, revision) {
          alarm.raise()
          return webhooks.replace(webhook, revision)
        },
      }))(broken, clock)
    },
  },
  nodeFault('a webhook that a settlement disables is a change for all nodes', (store) => {
    const alarm = createAlarm(store)
    return {
      async commit(group) {
        const result = await alarm.commit(group)
        const hasDisabled =
          result.kind === 'committed' &&
          result.ended.some((settlement) => 'disabled' in settlement && settlement.disabled)
        if (hasDisabled) alarm.raise(group.lease?.owner)
        return result
      },
    }
  }),
  nodeFault(
    'loads have webhooks as they were inserted',
    onLoad((part) => ({
      ...part,
      webhooks: part.webhooks.map((webhook) => ({ ...webhook, epoch: 1, revision: 1 })),
    })),
  ),
  nodeFault(
    'no gap is reported',
    onCommitted((result) => ({
      ...result,
      accepted: result.accepted.map((acceptance) =>
        acceptance.kind === 'accepted' ? { ...acceptance, mayHaveGap: false } : acceptance,
      ),
    })),
    [STORE_MODEL],
  ),
  nodeFault('idempotency keys hold for one node', (store) => {
    const { commit, current } = trackOwner(store)
    return onAcceptance((acceptance, group) => ({
      ...acceptance,
      events: acceptance.events.map((event) =>
        event.idempotency
          ? {
              ...event,
              idempotency: {
                ...event.idempotency,
                key: `${group.lease?.owner ?? current()} ${event.idempotency.key}`,
              },
            }
          : event,
      ),
    }))({ ...store, commit })
  }),
  nodeFault('each node numbers the events of a call', (store) =>
    onAcceptance((acceptance, group) => ({
      ...acceptance,
      events: acceptance.events.map((event) => ({
        ...event,
        callId: `${event.callId} ${group.lease?.owner}`,
      })),
    }))(store),
  ),
  nodeFault(
    'deliveries of other nodes are not counted',
    onLease((lease) => ({ ...lease, pendingElsewhere: 0 })),
  ),
]

/** Defects of notifications that only show with several nodes. */
export const brokenSharedNotifications: readonly StoreFault[] = [
  notifyFault('accepted deliveries notify nobody', (store) => {
    let isCommitting = false
    return {
      async commit(group) {
        isCommitting = true
        try {
          return await store.commit(group)
        } finally {
          isCommitting = false
        }
      },
      subscribe: (listener) => store.subscribe(() => isCommitting || listener()),
    }
  }),
  notifyFault('shards that are handed over notify nobody', (store) => {
    let isGiving = false
    return {
      async handOver(...args) {
        isGiving = true
        await store.handOver(...args)
        isGiving = false
      },
      subscribe: (listener) => store.subscribe(() => isGiving || listener()),
    }
  }),
]
