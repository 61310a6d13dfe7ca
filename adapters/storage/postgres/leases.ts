/**
 * Node leases, and which node owns which shards.
 *
 * Nodes plan one after the other, under an advisory lock. The first node that finds a lease ended deletes its row, which
 * waits for a running group, and frees its shards in the same transaction. Free shards are taken in that or a later one,
 * and loaded by a later statement, which sees everything that the previous owner has committed. The lease of a node that
 * has crashed counts as ended (`crashed-nodes.ts`).
 *
 * Every grant advances store time (`store-time.ts`), under the same lock.
 */
import {
  type Clock,
  HookswitchError,
  MAX_NODES,
  type NodeLease,
  type OwnershipPlan,
  planOwnership,
  type QueueStore,
  type StoredNode,
} from 'hookswitch/store'
import { int2Array, int4Array } from './binary-arrays.js'
import type { CrashedNodes } from './crashed-nodes.js'
import type { Nodes } from './nodes.js'
import type { Notifier } from './notifications.js'
import type { Transaction } from './session.js'
import type { Deps } from './session-deps.js'
import { leaseStatements, type NodeRow, type ShardRow } from './sql/leases.js'
import { type StoreClockRow, storeClockStatements } from './sql/store-clock.js'
import { advanceStoreTime, expectedTime, type ReadTime } from './store-time.js'

interface LeaseDeps extends Pick<Deps, 'session' | 'schema' | 'clock' | 'nodeClock' | 'log'> {
  readonly notifier: Pick<Notifier, 'notifyFree'>
  readonly nodes: Nodes
  readonly crashed: Pick<CrashedNodes, 'key' | 'process' | 'isCrashed'>
}

type Leases = Pick<QueueStore, 'own' | 'renew' | 'handOver' | 'release' | 'nodes' | 'completeTakeover'>

export function createLeases(deps: LeaseDeps): Leases {
  const { session, schema, clock, nodeClock, nodes, notifier, crashed, log } = deps
  const sql = leaseStatements(schema)
  const clockSql = storeClockStatements(schema)
  let lastRead: (ReadTime & { readonly clock: Clock }) | undefined

  /** Reads the clock, and prolongs leases after a jump. The transaction holds the lock; `grant` stores the time. */
  async function readTime(tx: Transaction, leaseMs: number) {
    const own = nodeClock()
    const requestedMs = own.monotonic()
    const [row] = await tx.query<StoreClockRow>(clockSql.read, [clock?.now() ?? null])
    const answeredMs = own.monotonic()
    // The store may have been opened again, with another clock.
    const expected = lastRead?.clock === own ? expectedTime(lastRead, requestedMs, answeredMs) : undefined
    const { nowMs, offsetMs, jumpedFromMs } = advanceStoreTime(row!, expected)
    if (jumpedFromMs < nowMs)
      await tx.query(clockSql.prolongLeases, [jumpedFromMs, nowMs - jumpedFromMs, nowMs + leaseMs])
    return { offsetMs, clockMs: row!.serverMs, time: { storeMs: nowMs, requestedMs, answeredMs, clock: own } }
  }

  async function update(owner: string, leaseMs: number, givesBack: boolean): Promise<NodeLease> {
    const { lease, hasFreed, gone, time } = await session.transaction(async (tx) => {
      await tx.query(sql.lock, [])
      const { time, offsetMs, clockMs } = await readTime(tx, leaseMs)
      const now = time.storeMs
      const all = await tx.query<NodeRow>(sql.nodes, [])
      const gone = all.filter(
        (node) => node.aliveUntilMs > now && node.isGone && node.owner !== owner && crashed.isCrashed(node),
      )
      const ended = all.filter((node) => node.aliveUntilMs <= now || gone.includes(node))
      const living = all.filter((node) => !ended.includes(node))
      const shards = await tx.query<ShardRow>(sql.shards, [])
      const plan = planFor(shards, living, owner, now, givesBack)
      const endedOwners = new Set(ended.map((node) => node.owner))
      const freed = shards.filter((row) => row.owner !== null && endedOwners.has(row.owner))
      const moving = [...new Set([...plan.take, ...plan.giveBack, ...freed.map(({ shard }) => shard)])]
      if (moving.length > 0) await tx.query(sql.lockShards, [int2Array(moving)])
      if (ended.length > 0) {
        const fences = int4Array(ended.map(({ fence }) => fence))
        await tx.query(sql.freeShards, [fences])
        await tx.query(sql.removeNodes, [fences])
      }
      if (plan.giveBack.length > 0) await tx.query(sql.giveBack, [int2Array(plan.giveBack)])
      if (plan.take.length > 0) await tx.query(sql.take, [int2Array(plan.take), owner])
      const before = living.find((node) => node.owner === owner)
      const fence = before?.fence ?? (await tx.query<{ fence: number }>(sql.newFence, []))[0]!.fence
      const number = before?.number ?? freeNumber(living, fence, schema)
      // The version of a node does not go back when its lease is granted again.
      const version = (all.find((node) => node.owner === owner)?.version ?? -1) + 1
      const aliveUntilMs = now + leaseMs
      const pending = nodes.get({ owner, fence })?.pending ?? 0
      const { key, process } = crashed
      const granted = [owner, fence, number, version, aliveUntilMs, offsetMs, now, pending, key, process]
      await tx.query(sql.grant, granted)
      const [{ position }] = (await tx.query<{ position: number }>(sql.position, [])) as [
        { position: number },
      ]
      const taken = new Set(plan.take)
      const leaving = shards.filter(
        (row) => row.owner === owner && !taken.has(row.shard) && !endedOwners.has(owner) && row.leaving,
      )
      const left = [...leaving.map(({ shard }) => shard), ...plan.giveBack].sort(ascending)
      const kept = plan.keep.filter((shard) => !left.includes(shard))
      const lease: NodeLease = {
        owner,
        fence,
        node: number,
        position,
        shards: [...kept, ...plan.take, ...left].sort(ascending),
        leaving: left,
        aliveUntilMs,
        storeMs: now,
        clockMs,
        pendingElsewhere: pendingOf(living, owner),
      }
      return { lease, hasFreed: freed.length > taken.size, gone, time }
    })
    lastRead = time
    for (const { owner: node } of gone) log.warn({ node }, 'a node has crashed: others take its shards over')
    nodes.granted(lease)
    if (hasFreed) notifier.notifyFree()
    return lease
  }

  return {
    own: (owner, leaseMs) => update(owner, leaseMs, false),
    renew: (owner, leaseMs) => update(owner, leaseMs, true),
    async handOver(lease, shards) {
      const { owner, fence } = lease
      const numbers = int2Array(shards)
      try {
        await session.transaction(async (tx) => {
          await tx.query(sql.lock, [])
          await tx.query(sql.lockShards, [numbers])
          await tx.query(sql.handOver, [numbers, owner, fence])
        })
      } finally {
        // From now on an acceptance here leaves a row in `incoming` for the next owner. Not before: a renewal that this
        // transaction waited for has returned the shards.
        nodes.handedOver(lease, shards)
      }
      notifier.notifyFree()
    },
    async release(owner) {
      nodes.removed(owner)
      await session.transaction(async (tx) => {
        await tx.query(sql.lock, [])
        await tx.query(sql.lockShardsOf, [owner])
        await tx.query(sql.release, [owner])
      })
      notifier.notifyFree()
    },
    async nodes() {
      const rows = await session.query<StoredNode>(sql.overview, [])
      return rows.toSorted((a, b) => (a.owner < b.owner ? -1 : 1))
    },
    async completeTakeover({ owner, fence }, shards) {
      await session.query(sql.completeTakeover, [int2Array(shards), owner, fence])
      await session.query(sql.removeStarts, [])
    },
  }
}

const ascending = (a: number, b: number) => a - b

function pendingOf(living: readonly NodeRow[], owner: string): number {
  return living.reduce((sum, node) => sum + (node.owner === owner ? 0 : node.pending), 0)
}

/**
 * The number that was free for the longest time: positions of a node that lost its lease may still arrive.
 *
 * @param schema quoted, for the error
 * @throws HookswitchError `StoreUnavailable` if all are in use, as a crash loop may leave them for a while
 */
function freeNumber(living: readonly NodeRow[], fence: number, schema: string): number {
  const used = new Set(living.map(({ number }) => number))
  let number = fence % MAX_NODES
  if (used.size >= MAX_NODES) {
    const sentence = `${MAX_NODES} nodes use the schema ${schema} already (one that was killed counts for up to 30 seconds)`
    throw new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 30 })
  }
  while (used.has(number)) number = (number + 1) % MAX_NODES
  return number
}

function planFor(
  rows: readonly ShardRow[],
  living: readonly NodeRow[],
  owner: string,
  now: number,
  givesBack: boolean,
): OwnershipPlan {
  const untilMs = new Map(living.map((node) => [node.owner, node.aliveUntilMs]))
  const leases = rows.map(({ shard, owner: by, leaving }) => ({
    shard,
    leaving,
    aliveUntilMs: (by !== null && untilMs.get(by)) || 0,
    ...(by !== null && { owner: by }),
  }))
  const plan = planOwnership(leases, living, owner, now)
  return givesBack ? plan : { ...plan, giveBack: [] }
}
