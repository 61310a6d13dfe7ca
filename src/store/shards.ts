/**
 * Who works on which webhooks. A node leases shards of webhooks, never single deliveries: so a lease is renewed
 * once for thousands of deliveries, and everything about one endpoint is decided in one node's memory.
 */

/** Shards of every store, for ever: `shardOf` is written into stores. */
export const SHARDS = 64

/** FNV-1a, 32 bits, folded: stable over nodes, versions and stores. */
export function shardOf(webhookId: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < webhookId.length; index += 1) {
    hash = Math.imul(hash ^ webhookId.charCodeAt(index), 0x01000193)
  }
  return ((hash >>> 16) ^ hash) & (SHARDS - 1)
}

/** The shard whose owner admits an inbox entry: one for each call. */
export function inboxShard(entry: { readonly accountId: string; readonly callId?: string }): number {
  return shardOf(`${entry.accountId}/${entry.callId ?? ''}`)
}

/** The lease of one shard, as a store keeps it. */
export interface ShardLease {
  readonly shard: number
  /** Absent: nobody's. */
  readonly owner?: string
  /** Store time, ms: the owner may act while `now < aliveUntilMs`. */
  readonly aliveUntilMs: number
  /** Given back by its owner: it claims no more there, settles what is in flight, and does not renew. */
  readonly leaving: boolean
  /** Its owner has deliveries in flight there. */
  readonly busy: boolean
}

/** A node that works on the store, or wants to: told by `own` and `renew`, whether it has a shard or not. */
export interface NodeLease {
  readonly owner: string
  readonly aliveUntilMs: number
}

/** What a node does about its shards. */
export interface OwnershipPlan {
  /** Its own, to be renewed; ascending. */
  readonly keep: readonly number[]
  /** Free, expired or emptied ones, up to the fair share. */
  readonly take: readonly number[]
  /** Of `keep`, those above the fair share, for `renew`: first those where nothing is in flight. */
  readonly giveBack: readonly number[]
}

/** Most shards for each of so many nodes. */
export function fairShare(liveNodes: number): number {
  return Math.ceil(SHARDS / Math.max(1, liveNodes))
}

/**
 * Which shards a node keeps, may take and should give back, so that all live nodes come to have a fair share.
 *
 * A busy shard changes hands when its last delivery has ended, or when its lease has: so adding a node interrupts
 * nothing.
 *
 * @param now store time, ms
 */
export function planOwnership(
  leases: readonly ShardLease[],
  nodes: readonly NodeLease[],
  owner: string,
  now: number,
): OwnershipPlan {
  const names = new Set([owner])
  for (const node of nodes) if (now < node.aliveUntilMs) names.add(node.owner)
  const mine: ShardLease[] = []
  const wasMine: number[] = []
  const free: number[] = []
  // Once through all of them: a node that renews mostly keeps what it has.
  for (const lease of leases) {
    const isLive = lease.owner !== undefined && now < lease.aliveUntilMs
    if (isLive) names.add(lease.owner!)
    if (!isLive) free.push(lease.shard)
    else if (lease.owner !== owner) {
      if (lease.leaving && !lease.busy) free.push(lease.shard)
    } else if (lease.leaving) wasMine.push(lease.shard)
    else mine.push(lease)
  }
  const share = fairShare(names.size)
  return {
    keep: mine.map((lease) => lease.shard).sort((a, b) => a - b),
    take: [...wasMine, ...free].slice(0, Math.max(0, share - mine.length)),
    giveBack: mine.length > share ? idleFirst(mine).slice(0, mine.length - share) : [],
  }
}

function idleFirst(leases: readonly ShardLease[]): number[] {
  const sorted = [...leases].sort((a, b) => Number(a.busy) - Number(b.busy) || b.shard - a.shard)
  return sorted.map((lease) => lease.shard)
}
