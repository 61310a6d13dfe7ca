import type { Changes, Group, QueueStore, WaitingDeliveries } from '../../../src/delivery/queue-store.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { onDelivery } from './settlements.js'
import {
  faultsOf,
  indexes,
  lastLease,
  onLease,
  onLoad,
  onRows,
  pick,
  STORE_MODEL,
  type StoreFault,
  withPort,
} from './store-fault.js'

const loadFault = faultsOf('loads and bodies', 'deliveries')
const changeFault = faultsOf('changes', 'deliveries')
const ownFault = faultsOf('ownership', 'deliveries')
const singleFault = faultsOf('one node', 'deliveries')
const laneFault = faultsOf('lanes', 'deliveries')
const sharedLaneFault = faultsOf('lanes for readers of other nodes', 'deliveries')
const notifyFault = faultsOf('notifications', 'deliveries')

const ALL = Array.from({ length: 64 }, (_, shard) => shard)

const withColumn = (
  waiting: WaitingDeliveries,
  name: 'lane' | 'sequence',
  of: (value: number) => number,
) => ({
  ...waiting,
  [name]: waiting[name].map((value) => of(value)),
})

/** Defects of loads and bodies. */
export const brokenLoads: readonly StoreFault[] = [
  loadFault(
    'a second part repeats the first one',
    (store) => ({
      async load(lease, shards, cursor) {
        const part = await store.load(lease, shards)
        return part && (cursor === undefined ? { ...part, cursor: 'next' } : part)
      },
    }),
    [STORE_MODEL],
  ),
  loadFault('a load ignores the shards', (store) => ({
    load: (lease, _shards, cursor) => store.load(lease, ALL, cursor),
  })),
  loadFault(
    'deliveries without order share a lane',
    onRows((waiting) => withColumn(waiting, 'lane', (lane) => lane || 1)),
  ),
  loadFault(
    'disabled and deleted webhooks are missing in a load',
    onLoad((part) => ({
      ...part,
      webhooks: part.webhooks.filter(
        ({ settings, deletedMs }) => settings.enabled && deletedMs === undefined,
      ),
    })),
  ),
  loadFault('a node without lease loads nothing, without notice', (store) => ({
    async load(...args) {
      const part = await store.load(...args)
      const waiting = {
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
      return part ?? { version: 0, waiting, webhooks: [], interrupted: [] }
    },
  })),
  loadFault(
    'bodies that are gone are left out',
    (store) => ({
      bodies: async (keys) => (await store.bodies(keys)).filter((claim) => claim !== undefined),
    }),
    [STORE_MODEL],
  ),
  loadFault('bodies lose the time of the event', (store) => ({
    bodies: async (keys) =>
      (await store.bodies(keys)).map(
        (claim) => claim && { ...claim, delivery: { ...claim.delivery, eventTimestampMs: 0 } },
      ),
  })),
  loadFault('bodies lose the trace context', (store) => ({
    bodies: async (keys) =>
      (await store.bodies(keys)).map((claim) => claim && { delivery: claim.delivery, body: claim.body }),
  })),
  loadFault(
    'a delivery that waits again goes to the end of its lane',
    onRows((waiting) =>
      pick(
        waiting,
        indexes(waiting).sort((a, b) => waiting.attempts[a]! - waiting.attempts[b]! || a - b),
      ),
    ),
  ),
]

/** Makes the next group outdated although nothing has changed. */
function createFalseAlarm() {
  let isRaised = false
  return {
    raise: () => {
      isRaised = true
    },
    methods: (store: Parameters<Parameters<typeof changeFault>[1]>[0]): Partial<typeof store> => ({
      async commit(group) {
        if (!isRaised) return store.commit(group)
        isRaised = false
        return { kind: 'outdated' }
      },
    }),
  }
}

const onChanges =
  (change: (changes: Changes) => Changes) =>
  (store: Parameters<Parameters<typeof changeFault>[1]>[0]): Partial<typeof store> => ({
    async changes(...args) {
      const found = await store.changes(...args)
      return found && change(found)
    },
  })

/** Hides a change that some method causes: the next group is committed with the version as it is then. */
const hidden = (what: string, wrap: (hide: () => void) => StoreFault['breakStore']): StoreFault => ({
  what,
  caughtBy: ['changes'],
  breakStore(store, clock) {
    let isHidden = false
    const broken = wrap(() => {
      isHidden = true
    })(store, clock)
    return withPort('deliveries', (deliveries) => ({
      async commit(group) {
        const result = await deliveries.commit(group)
        if (result.kind !== 'outdated' || !isHidden) return result
        const version = (await deliveries.load(group.lease!, []))!.version
        return deliveries.commit({ ...group, version })
      },
    }))(broken, clock)
  },
})

/** Defects of versions and changes. */
export const brokenChanges: readonly StoreFault[] = [
  changeFault(
    'a poll returns a version that is too high',
    (store) => ({
      async poll(lease) {
        const polled = await store.poll(lease)
        return polled && { ...polled, version: polled.version + 1 }
      },
    }),
    [STORE_MODEL],
  ),
  changeFault('an outdated group still records its attempts', (store) => {
    const recorded: NonNullable<Group['ended'][number]['record']>[] = []
    return {
      async commit(group) {
        const result = await store.commit(group)
        if (result.kind === 'outdated')
          for (const { record } of group.ended) if (record) recorded.push(record)
        return result
      },
      attempts: async (query) => [
        ...(await store.attempts(query)),
        ...recorded.map((record) => ({ position: 1, ...record })),
      ],
    }
  }),
  changeFault(
    'removed deliveries are not listed',
    onChanges((found) => ({ ...found, removed: [] })),
  ),
  changeFault(
    'only the newest changes are listed',
    onChanges((found) => ({ ...found, webhooks: found.webhooks.slice(-10) })),
  ),
  changeFault(
    'changes ignore the version that the node has',
    (store) => ({
      changes: async (lease, sinceVersion) => {
        const found = await store.changes(lease, Math.min(sinceVersion, 0))
        return found && { ...found, mustReload: false }
      },
    }),
    [STORE_MODEL],
  ),
  {
    what: 'a rejected edit makes groups outdated',
    caughtBy: ['changes'],
    breakStore(store, clock) {
      const alarm = createFalseAlarm()
      const broken = withPort('webhooks', (webhooks) => ({
        async replace(webhook, revision) {
          const isReplaced = await webhooks.replace(webhook, revision)
          if (!isReplaced) alarm.raise()
          return isReplaced
        },
      }))(store, clock)
      return withPort('deliveries', alarm.methods)(broken, clock)
    },
  },
  hidden('replaced ciphertexts raise no version', (hide) =>
    withPort('encryption', (encryption) => ({
      reencrypt(...args) {
        hide()
        return encryption.reencrypt(...args)
      },
    })),
  ),
  hidden('the removal of an account raises no version', (hide) =>
    withPort('accounts', (accounts) => ({
      remove(...args) {
        hide()
        return accounts.remove(...args)
      },
    })),
  ),
  changeFault(
    'a load has a version that is too low',
    onLoad((part) => ({ ...part, version: part.version - 1 })),
  ),
  changeFault('a version is required without a lease', (store) => ({
    commit: async (group) =>
      !group.lease && group.version < 0 ? { kind: 'outdated' as const } : store.commit(group),
  })),
]

/** Defects of leases. */
export const brokenOwnership: readonly StoreFault[] = [
  ownFault('every call of own grants another lease', (store) => ({
    async own(owner, leaseMs) {
      await store.release(owner)
      return store.own(owner, leaseMs)
    },
  })),
  ownFault(
    'the number of a node does not fit',
    onLease((lease) => ({ ...lease, node: 128 })),
  ),
  ownFault('positions of rows are not known', (store) => {
    const positions = new Map<string, number>()
    return onLease((lease) => {
      const position = positions.get(lease.owner) ?? 0
      positions.set(lease.owner, position)
      return { ...lease, position }
    })(store)
  }),
  ownFault('a node that released is listed', (store) => {
    let before: Awaited<ReturnType<QueueStore['nodes']>> = []
    return {
      async nodes() {
        const nodes = await store.nodes()
        if (nodes.length > 0) before = nodes
        return before
      },
    }
  }),
  ownFault(
    'release releases nothing',
    () => ({ release: async () => {} }),
    ['several nodes', STORE_MODEL, 'I18'],
    { isPerNode: true },
  ),
  ownFault(
    'what is edited between two owners is not loaded',
    (store) => {
      const { methods, current } = lastLease(store)
      const before = new Map<string, Webhook>()
      return {
        ...methods,
        async release(owner) {
          const part = await store.load(current(), ALL)
          for (const webhook of part?.webhooks ?? []) before.set(webhook.id, webhook)
          return store.release(owner)
        },
        ...onLoad((part) => ({
          ...part,
          webhooks: part.webhooks.map((webhook) => before.get(webhook.id) ?? webhook),
        }))(store),
      }
    },
    [STORE_MODEL],
  ),
  singleFault('the lease of the only node ends', (store) =>
    onLease((lease) => ({ ...lease, aliveUntilMs: lease.storeMs + 1 }))(store),
  ),
  singleFault('a former owner loads and polls', (store) => {
    const { methods, current } = lastLease(store)
    return {
      ...methods,
      load: (_lease, shards, cursor) => store.load(current(), shards, cursor),
      poll: () => store.poll(current()),
    }
  }),
]

/** Defects of lanes. */
export const brokenLanes: readonly StoreFault[] = [
  laneFault(
    'a lane is loaded backwards',
    onRows((waiting) => pick(waiting, indexes(waiting).reverse())),
    [STORE_MODEL],
  ),
  laneFault(
    'a lane is in order of positions',
    onRows((waiting) =>
      pick(
        waiting,
        indexes(waiting).sort((a, b) => waiting.position[a]! - waiting.position[b]!),
      ),
    ),
    ['several nodes'],
  ),
  laneFault(
    'replays have a number',
    onRows((waiting) => withColumn(waiting, 'sequence', (sequence) => sequence || 1)),
  ),
  laneFault(
    'all deliveries have one lane key',
    onRows((waiting) => withColumn(waiting, 'lane', () => 1)),
  ),
  laneFault(
    'a delivery that waits for its retry is read as due',
    onDelivery(({ state, acceptedMs }) => (state === 'waiting' ? { dueMs: acceptedMs } : undefined)),
  ),
  laneFault(
    'deliveries with ordering none wait for each other',
    (store) => ({
      async deliveries(query) {
        const rows = await store.deliveries(query)
        return rows.map((row, index) => ({ ...row, ahead: row.ahead + index }))
      },
    }),
    [STORE_MODEL],
  ),
]

/** Defects of lanes, for readers of other nodes. */
export const brokenSharedLanes: readonly StoreFault[] = [
  sharedLaneFault('a list counts the deliveries of other lanes too', (store) => ({
    async deliveries(query) {
      const rows = await store.deliveries(query)
      return rows.map((row) => ({
        ...row,
        ahead: rows.filter(
          (other) => other.sequence < row.sequence || (!row.sequence && other.position < row.position),
        ).length,
      }))
    },
  })),
  sharedLaneFault(
    'nothing is ahead of a delivery',
    onDelivery(() => ({ ahead: 0 })),
  ),
  sharedLaneFault(
    'a delivery has a due time behind another one',
    onDelivery(({ dueMs, acceptedMs }) => ({ dueMs: dueMs ?? acceptedMs })),
  ),
]

/** Defects of notifications. */
export const brokenNotifications: readonly StoreFault[] = [
  notifyFault('nobody is notified', () => ({ subscribe: () => () => {} }), [
    'notifications of several nodes',
  ]),
  notifyFault(
    'a listener cannot unsubscribe',
    (store) => ({
      subscribe(listener) {
        store.subscribe(listener)
        return () => {}
      },
    }),
    ['I18'],
    { isPerNode: true },
  ),
  notifyFault('a listener that throws silences the others', (store) => {
    const listeners = new Set<() => void>()
    return {
      subscribe(listener) {
        const isFirst = listeners.size === 0
        listeners.add(listener)
        if (isFirst) {
          store.subscribe(() => {
            for (const listener of listeners) listener()
          })
        }
        return () => listeners.delete(listener)
      },
    }
  }),
]
