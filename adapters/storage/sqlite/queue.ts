/**
 * The log of a queue in memory: `QueueStore` without its reads. The file has one owner at a time, so its shards, versions
 * and nudges are values in memory.
 */
import {
  type Changes,
  type Claim,
  type DeliveryKey,
  type GroupResult,
  type Lease,
  type LoadedPart,
  type Polled,
  type QueueLease,
  SHARDS,
  shardOf,
  type WaitingDeliveries,
  type Webhook,
} from 'hookswitch/store'
import { createAccept } from './accept.js'
import type { EngineContext } from './context.js'
import { decodeGroup, type Encoded, encodeResult } from './group-encoding.js'
import { prepareQuery } from './query.js'
import { createSettle } from './settle.js'
import { createStartLog } from './starts.js'

const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

/** Deliveries per part of a load: 0.2 s. */
const PART_SIZE = 200_000

/** A waiting delivery. The less frequently read columns are one text: an object with ten properties takes thrice as long. */
interface WaitingRow {
  readonly position: number
  readonly lane: number
  readonly sequence: number
  readonly rest: string
}

const WAITING_COLUMNS = `position, lane, sequence, webhook || ',' || ifnull(due_ms, 0) || ',' || epoch || ',' ||
  attempts || ',' || tries || ',' || interruptions as rest`

export const LOAD_SQL = `select ${WAITING_COLUMNS} from hookswitch_waiting
  where (position, webhook) > (?, ?) order by position, webhook limit ? + 0`

export function createQueue(context: EngineContext) {
  const { db, state, changes, endpoints, eventBodies, rows } = context
  const accept = createAccept(context)
  const settle = createSettle(context)
  const starts = createStartLog(context)
  const load = prepareQuery<WaitingRow>(db, LOAD_SQL)
  const one = prepareQuery<WaitingRow>(
    db,
    `select ${WAITING_COLUMNS} from hookswitch_waiting where position = ? and webhook = ?`,
  )
  const sent = prepareQuery<{ readonly body: string; readonly traceparent: string | null }>(
    db,
    'select body, traceparent from hookswitch_event where position = ?',
  )
  const lastPosition = prepareQuery<{ readonly position: number }>(
    db,
    `select max(
      ifnull((select max(position) from hookswitch_event), 0),
      ifnull((select max(position) from hookswitch_waiting), 0),
      ifnull((select max(position) from hookswitch_attempt), 0)
    ) as position`,
  )

  function leaseOf(owner: string, machineMs: number): QueueLease {
    const storeMs = state.startTime(machineMs)
    state.storeMs = storeMs
    return {
      owner,
      fence: state.owner === owner ? state.term : 0,
      node: 0,
      position: lastPosition.get()!.position,
      shards: state.owner === owner ? ALL_SHARDS : [],
      leaving: [],
      aliveUntilMs: Number.POSITIVE_INFINITY,
      storeMs,
      pendingElsewhere: 0,
    }
  }

  const holds = ({ owner, fence }: Lease) => state.owner === owner && state.term === fence

  /** @param shards those that are wanted; `undefined`: all */
  function columnsOf(
    found: readonly WaitingRow[],
    shards?: ReadonlySet<number>,
  ): { readonly waiting: WaitingDeliveries; readonly webhooks: readonly Webhook[] } {
    const count = found.length
    const webhooks: Webhook[] = []
    const indexes = new Map<number, number>()
    const [webhook, sequence, epoch] = [
      new Uint32Array(count),
      new Uint32Array(count),
      new Uint32Array(count),
    ]
    const [position, lane, dueMs] = [
      new Float64Array(count),
      new Float64Array(count),
      new Float64Array(count),
    ]
    const [attempts, tries] = [new Uint32Array(count), new Uint32Array(count)]
    const interruptions = new Uint8Array(count)
    let row = 0

    function indexOf(key: number): number {
      const known = indexes.get(key)
      if (known !== undefined) return known
      const found = endpoints.byKey(key)!.webhook
      const isWanted = shards?.has(shardOf(found.id)) ?? true
      const index = isWanted ? webhooks.push(found) - 1 : -1
      indexes.set(key, index)
      return index
    }

    for (const stored of inLaneOrder(found)) {
      const rest = stored.rest.split(',')
      const index = indexOf(Number(rest[0]))
      if (index < 0) continue
      webhook[row] = index
      position[row] = stored.position
      lane[row] = stored.lane
      sequence[row] = stored.sequence
      dueMs[row] = Number(rest[1])
      epoch[row] = Number(rest[2])
      attempts[row] = Number(rest[3])
      tries[row] = Number(rest[4])
      interruptions[row] = Number(rest[5])
      row += 1
    }
    const columns = { webhook, position, lane, sequence, dueMs, epoch, attempts, tries, interruptions }
    const webhookIds = webhooks.map(({ id }) => id)
    return { waiting: { count: row, webhookIds, ...columns }, webhooks }
  }

  return {
    /** The last node to call this is the owner. Opening the file clears the owner. */
    own(owner: string, _leaseMs: number, machineMs: number): QueueLease {
      if (state.owner !== owner) state.nextTerm()
      state.owner = owner
      return leaseOf(owner, machineMs)
    },
    renew: (owner: string, _leaseMs: number, machineMs: number): QueueLease => leaseOf(owner, machineMs),
    handOver(): void {},
    release(owner: string): void {
      if (state.owner !== owner) return
      starts.removeAll()
      state.owner = undefined
    },

    load(lease: Lease, shards: readonly number[], after?: string): LoadedPart | undefined {
      if (!holds(lease)) return undefined
      const wanted = new Set(shards)
      const [position, webhook] = after === undefined ? [-1, -1] : after.split('/').map(Number)
      const found = load.all(position!, webhook!, PART_SIZE)
      const { waiting, webhooks } = columnsOf(found, wanted)
      const version = changes.version()
      if (found.length < PART_SIZE)
        return { version, waiting, webhooks, interrupted: starts.interrupted(wanted) }
      const { position: lastPosition, rest } = found.at(-1)!
      const cursor = `${lastPosition}/${Number.parseInt(rest, 10)}`
      return { version, waiting, webhooks, interrupted: [], cursor }
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
      const ended = group.ended.map((settlement) => settle(settlement, now, isRepeat))
      const notStarted = starting ? starts.add(starting.key, starting.deliveries) : []
      for (const key of group.finished) starts.remove(key)
      const version = lease ? changes.version() : group.version
      const result: GroupResult = { kind: 'committed', accepted, ended, notStarted, version }
      return encodeResult(result)
    },
    bodies: (keys: readonly DeliveryKey[]): readonly (Claim | undefined)[] =>
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
      const found = state.takeNudges().flatMap(({ webhookId, position }) => {
        const endpoint = endpoints.byId(webhookId)
        return (endpoint && one.get(position, endpoint.key)) ?? []
      })
      const { waiting, webhooks } = columnsOf(found)
      return { version: changes.version(), waiting, webhooks, pendingElsewhere: 0 }
    },
    webhookOf: (webhookId: string): Webhook | undefined => endpoints.byId(webhookId)?.webhook,
  }
}

/**
 * Positions grow with the sequence numbers of a call, unless the positions of a group were mixed up.
 *
 * @param found in order of positions
 */
function inLaneOrder(found: readonly WaitingRow[]): readonly WaitingRow[] {
  const sequences = new Map<number, number>()
  for (const { lane, sequence } of found) {
    if (lane === 0) continue
    if (sequence < (sequences.get(lane) ?? 0)) {
      return [...found].sort((a, b) => a.sequence - b.sequence || a.position - b.position)
    }
    sequences.set(lane, sequence)
  }
  return found
}
