/**
 * The log of a queue in memory: `QueueStore` without its reads. The file has one owner at a time, so its shards, versions
 * and incoming deliveries are values in memory.
 */
import {
  type AcceptanceResult,
  type Changes,
  type DeliveryContent,
  type DeliveryKey,
  type GroupResult,
  type Lease,
  type LoadedPart,
  type NodeLease,
  type Polled,
  SHARDS,
  type StoredNode,
  type Webhook,
} from 'hookswitch/store'
import { createAccept } from './accept.js'
import type { EngineContext } from './context.js'
import type { Encoded } from './encoded-values.js'
import { type DecodedGroup, decodeGroup, encodeResult } from './group-encoding.js'
import { createSettle } from './settle.js'
import { createStartLog } from './starts.js'
import { createWaitingColumns } from './waiting-columns.js'

const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

/** The result of a group without a lease. */
function onlyAccepted(
  { ended, starting, version }: DecodedGroup,
  accepted: readonly AcceptanceResult[],
): GroupResult {
  return {
    kind: 'committed',
    accepted,
    ended: ended.map(() => ({ kind: 'fenced' })),
    notStarted: starting?.deliveries.map((_, index) => index) ?? [],
    version,
  }
}

export function createQueue(context: EngineContext) {
  const { prepareQuery, state, changes, endpoints, eventBodies, rows } = context
  const accept = createAccept(context)
  const settle = createSettle(context)
  const starts = createStartLog(context)
  const columns = createWaitingColumns(context)
  const sent = prepareQuery<{ readonly body: string; readonly traceparent: string | null }>(
    'select body, traceparent from hookswitch_event where position = ?',
  )
  const lastPosition = prepareQuery<{ readonly position: number }>(`select max(
      ifnull((select max(position) from hookswitch_event), 0),
      ifnull((select max(position) from hookswitch_waiting), 0),
      ifnull((select max(position) from hookswitch_attempt), 0)
    ) as position`)

  function leaseOf(owner: string, machineMs: number): NodeLease {
    const storeMs = state.startTime(machineMs)
    state.storeMs = storeMs
    const { position } = lastPosition.get()!
    state.notePosition(position)
    return {
      owner,
      fence: state.owner === owner ? state.term : 0,
      node: 0,
      position,
      shards: state.owner === owner ? ALL_SHARDS : [],
      leaving: [],
      aliveUntilMs: Number.POSITIVE_INFINITY,
      storeMs,
      pendingElsewhere: 0,
    }
  }

  const holds = ({ owner, fence }: Lease) => state.owner === owner && state.term === fence

  return {
    /** The last node to call this is the owner. Opening the file clears the owner. */
    own(owner: string, _leaseMs: number, machineMs: number): NodeLease {
      if (state.owner !== owner) state.nextTerm()
      state.owner = owner
      return leaseOf(owner, machineMs)
    },
    renew: (owner: string, _leaseMs: number, machineMs: number): NodeLease => leaseOf(owner, machineMs),
    handOver(): void {},
    release(owner: string): void {
      if (state.owner !== owner) return
      starts.removeAll()
      state.owner = undefined
    },

    nodes(): readonly StoredNode[] {
      const { owner } = state
      if (owner === undefined) return []
      return [{ owner, aliveUntilMs: Number.POSITIVE_INFINITY, shards: SHARDS, leaving: 0 }]
    },

    load(lease: Lease, shards: readonly number[], after?: string): LoadedPart | undefined {
      if (!holds(lease)) return undefined
      const wanted = new Set(shards)
      const part = columns.part(wanted, after)
      const interrupted = part.cursor === undefined ? starts.interrupted(wanted) : []
      return { version: changes.version(), interrupted, ...part }
    },
    completeTakeover(lease: Lease, shards: readonly number[]): void {
      if (holds(lease)) starts.removeEarlier(new Set(shards))
    },

    /** @param encoded a `Group`. Returns a `GroupResult`, encoded too */
    commit(encoded: Encoded): Encoded {
      const group = decodeGroup(encoded)
      const { lease, now, isRepeat, starting } = group
      if (lease && !holds(lease)) return encodeResult({ kind: 'fenced' })
      if (lease && group.version !== changes.version()) return encodeResult({ kind: 'outdated' })
      state.noteTime(now)
      const accepted = group.accepted.map((acceptance) =>
        accept(acceptance, now, isRepeat, lease !== undefined),
      )
      if (!lease) return encodeResult(onlyAccepted(group, accepted))
      const ended = group.ended.map((settlement) => settle(settlement, now, isRepeat))
      const notStarted = starting ? starts.add(starting.key, starting.deliveries) : []
      for (const key of group.finished) starts.remove(key)
      const version = changes.version()
      const result: GroupResult = { kind: 'committed', accepted, ended, notStarted, version }
      return encodeResult(result)
    },
    bodies: (keys: readonly DeliveryKey[]): readonly (DeliveryContent | undefined)[] =>
      keys.map(({ webhookId, position }) => {
        const endpoint = endpoints.byId(webhookId)
        const found = endpoint && rows.byKey(endpoint.key, position)
        if (found?.delivery.state !== 'waiting') return undefined
        const { row } = found
        const { body, traceparent } = sent.get(row.event)!
        const text = row.variant === 0 ? body : eventBodies.variantBody(row.event, row.variant)
        const delivery = row.dueMs === null ? found.delivery : { ...found.delivery, dueMs: row.dueMs }
        return traceparent === null ? { delivery, body: text } : { delivery, body: text, traceparent }
      }),
    changes(lease: Lease, sinceVersion: number): Changes | undefined {
      if (!holds(lease)) return undefined
      const version = changes.version()
      const found = changes.since(sinceVersion)
      if (!found) return { version, webhooks: [], removed: [], mustReload: true }
      const keys = new Set(found.flatMap(({ webhook }) => webhook ?? []))
      const webhooks = [...keys].flatMap((key) => endpoints.byKey(key)?.webhook ?? [])
      return { version, webhooks, removed: found.flatMap(({ removed = [] }) => removed), mustReload: false }
    },
    poll(lease: Lease): Polled | undefined {
      if (!holds(lease)) return undefined
      const { waiting, webhooks } = columns.ofKeys(state.takeIncoming())
      return { version: changes.version(), waiting, webhooks, pendingElsewhere: 0 }
    },
    webhookOf: (webhookId: string): Webhook | undefined => endpoints.byId(webhookId)?.webhook,
  }
}
