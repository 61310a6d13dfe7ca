import { type Ownership, type OwnershipPlan, planOwnership, type ShardLease } from 'hookswitch/store'
import type { Transaction } from './session.js'
import type { Doors } from './session-doors.js'
import { leaseStatements, type NodeRow, type ShardRow } from './sql/leases.js'
import type { Waking } from './wake.js'

export interface LeaseDoors extends Pick<Doors, 'session' | 'schema' | 'clock'> {
  readonly waking: Pick<Waking, 'owned'>
  /** Shards were taken that others may have had: what they wrote last may come after the first look. */
  gained(): void
}

/**
 * Who works on which shards. Nodes plan one after the other, yet renewing a lease waits for no claim and no settlement:
 * those hold a shard's row only against a change of its owner.
 */
export function leases({ session, schema, clock, waking, gained }: LeaseDoors) {
  const sql = leaseStatements(schema)

  const read = async (tx: Transaction) => ({
    shards: await tx.query<ShardRow>(sql.shards, []),
    nodes: await tx.query<NodeRow>(sql.nodes, []),
  })

  async function share(owner: string, leaseMs: number, givesBack: boolean): Promise<Ownership> {
    const { ownership, isNew } = await session.transaction(async (tx) => {
      await tx.query(sql.lock, [])
      const [time] = await tx.query<{ now: number }>(sql.now, [clock?.now() ?? null])
      const now = time!.now
      const aliveUntilMs = now + leaseMs
      await tx.query(sql.tellNode, [owner, aliveUntilMs, now])
      let { shards, nodes } = await read(tx)
      let plan = planned(shards, nodes, owner, now, givesBack)
      const moving = [...plan.take, ...plan.giveBack]
      if (moving.length > 0) {
        // What was claimed while this waited for the rows is seen by a look of its own.
        await tx.query(sql.hold, [moving])
        ;({ shards, nodes } = await read(tx))
        plan = planned(shards, nodes, owner, now, givesBack, new Set(moving))
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
        isNew: shards.some(({ shard, term }) => term > 0 && taken.has(shard)),
      }
    })
    waking.owned(owner, ownership.shards, leaseMs)
    if (isNew) gained()
    return ownership
  }

  return {
    own: (owner: string, leaseMs: number) => share(owner, leaseMs, false),
    renew: (owner: string, leaseMs: number) => share(owner, leaseMs, true),
    async release(owner: string): Promise<void> {
      // From now on what is accepted here for these shards is left to be found.
      waking.owned(owner, [], 0)
      await session.transaction(async (tx) => {
        await tx.query(sql.lock, [])
        await tx.query(sql.ofOwner, [owner])
        await tx.query(sql.release, [owner])
      })
    },
  }
}

/**
 * First what is given back, then what that leaves.
 *
 * @param held what may change hands; absent: anything
 */
function planned(
  rows: readonly ShardRow[],
  nodes: readonly NodeRow[],
  owner: string,
  now: number,
  givesBack: boolean,
  held?: ReadonlySet<number>,
): OwnershipPlan {
  const isHeld = (shard: number) => held?.has(shard) ?? true
  const giveBack = givesBack
    ? planOwnership(rows.map(leaseOf), nodes, owner, now).giveBack.filter(isHeld)
    : []
  const leaving = new Set(giveBack)
  const left = rows.map((row) => leaseOf(leaving.has(row.shard) ? { ...row, leaving: true } : row))
  const { keep, take } = planOwnership(left, nodes, owner, now)
  return { keep, take: take.filter(isHeld), giveBack }
}

function leaseOf({ shard, owner, aliveUntilMs, leaving, busy }: ShardRow): ShardLease {
  const lease = { shard, aliveUntilMs, leaving, busy }
  return owner === null ? lease : { ...lease, owner }
}
