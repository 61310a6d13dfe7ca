/**
 * Shard leases: which node owns which shards, and until when.
 *
 * Nodes plan one after the other, under an advisory lock. Renewing a lease waits for no claim and no settlement, since
 * those lock the row of a shard only against a change of its owner (FOR KEY SHARE); taking or giving back a shard waits
 * for them (FOR UPDATE). Each change of owner raises the shard's `term`: a delivery in flight under an older term is an
 * orphan.
 *
 * Every grant advances store time (`store-time.ts`), under the same lock.
 */
import {
  type Clock,
  type Ownership,
  type OwnershipPlan,
  planOwnership,
  type ShardLease,
} from 'hookswitch/store'
import type { Notifier } from './notifications.js'
import type { Transaction } from './session.js'
import type { Deps } from './session-deps.js'
import { leaseStatements, type NodeRow, type ShardRow } from './sql/leases.js'
import { type StoreClockRow, storeClockStatements } from './sql/store-clock.js'
import { advanceStoreTime, expectedTime, type ReadTime } from './store-time.js'

export interface LeaseDeps extends Pick<Deps, 'session' | 'schema' | 'clock' | 'nodeClock'> {
  readonly notifier: Pick<Notifier, 'setOwnedShards'>
  /** Shards were taken that another node may have owned: its last writes may be committed after the first scan. */
  onShardsTaken(): void
}

export function createLeases({ session, schema, clock, nodeClock, notifier, onShardsTaken }: LeaseDeps) {
  const sql = leaseStatements(schema)
  const clockSql = storeClockStatements(schema)
  let lastRead: (ReadTime & { readonly clock: Clock }) | undefined

  const read = async (tx: Transaction) => ({
    shards: await tx.query<ShardRow>(sql.shards, []),
    nodes: await tx.query<NodeRow>(sql.nodes, []),
  })

  /** Reads the clock, and prolongs leases after a jump. The transaction holds the lock; `renewNode` stores the time. */
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
    return { offsetMs, time: { storeMs: nowMs, requestedMs, answeredMs, clock: own } }
  }

  async function update(owner: string, leaseMs: number, givesBack: boolean): Promise<Ownership> {
    const { ownership, isTakeover, time } = await session.transaction(async (tx) => {
      await tx.query(sql.lock, [])
      const { time, offsetMs } = await readTime(tx, leaseMs)
      const now = time.storeMs
      const aliveUntilMs = now + leaseMs
      await tx.query(sql.renewNode, [owner, aliveUntilMs, now, offsetMs])
      let { shards, nodes } = await read(tx)
      let plan = planFor(shards, nodes, owner, now, givesBack)
      const moving = [...plan.take, ...plan.giveBack]
      if (moving.length > 0) {
        // Only a read after the locks sees what was claimed while this waited for them.
        await tx.query(sql.lockShards, [moving])
        ;({ shards, nodes } = await read(tx))
        plan = planFor(shards, nodes, owner, now, givesBack, new Set(moving))
      }
      if (plan.giveBack.length > 0) await tx.query(sql.giveBack, [plan.giveBack])
      if (plan.keep.length > 0) await tx.query(sql.keep, [plan.keep, aliveUntilMs])
      if (plan.take.length > 0) await tx.query(sql.take, [plan.take, owner, aliveUntilMs, now])
      const taken = new Set(plan.take)
      return {
        ownership: {
          shards: [...plan.keep, ...plan.take].sort((a, b) => a - b),
          aliveUntilMs,
          storeMs: now,
        },
        isTakeover: shards.some(({ shard, term }) => term > 0 && taken.has(shard)),
        time,
      }
    })
    lastRead = time
    notifier.setOwnedShards(owner, ownership.shards, leaseMs)
    if (isTakeover) onShardsTaken()
    return ownership
  }

  return {
    own: (owner: string, leaseMs: number) => update(owner, leaseMs, false),
    renew: (owner: string, leaseMs: number) => update(owner, leaseMs, true),
    async release(owner: string): Promise<void> {
      // From now on an acceptance here leaves a nudge for the next owner of these shards.
      notifier.setOwnedShards(owner, [], 0)
      await session.transaction(async (tx) => {
        await tx.query(sql.lock, [])
        await tx.query(sql.lockShardsOf, [owner])
        await tx.query(sql.release, [owner])
      })
    },
  }
}

/**
 * Plans what to give back first, then what to keep and take of the rest.
 *
 * @param locked shards that may change owner; default all
 */
function planFor(
  rows: readonly ShardRow[],
  nodes: readonly NodeRow[],
  owner: string,
  now: number,
  givesBack: boolean,
  locked?: ReadonlySet<number>,
): OwnershipPlan {
  const isLocked = (shard: number) => locked?.has(shard) ?? true
  const giveBack = givesBack
    ? planOwnership(rows.map(leaseOf), nodes, owner, now).giveBack.filter(isLocked)
    : []
  const leaving = new Set(giveBack)
  const remaining = rows.map((row) => leaseOf(leaving.has(row.shard) ? { ...row, leaving: true } : row))
  const { keep, take } = planOwnership(remaining, nodes, owner, now)
  return { keep, take: take.filter(isLocked), giveBack }
}

function leaseOf({ shard, owner, aliveUntilMs, leaving, busy }: ShardRow): ShardLease {
  const lease = { shard, aliveUntilMs, leaving, busy }
  return owner === null ? lease : { ...lease, owner }
}
