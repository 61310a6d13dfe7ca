/**
 * Which node works on which webhooks. A node leases shards of webhooks, never single deliveries: one renewal covers
 * thousands of deliveries, and every decision about an endpoint is made in one node's memory.
 */

/** Number of shards. It cannot change: stores persist the result of `shardOf`. */
export const SHARDS = 64

/** The shard of a webhook: FNV-1a, 32 bits, folded. Identical on all nodes, versions and stores. */
export function shardOf(webhookId: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < webhookId.length; index += 1) {
    hash = Math.imul(hash ^ webhookId.charCodeAt(index), 0x01000193)
  }
  return ((hash >>> 16) ^ hash) & (SHARDS - 1)
}

/** The shard whose owner relays an inbox entry: the same for all entries of a call. */
export function inboxShard(entry: { readonly accountId: string; readonly callId?: string }): number {
  return shardOf(`${entry.accountId}/${entry.callId ?? ''}`)
}

/** The stored lease of one shard. */
export interface ShardLease {
  /** 0 to 63. */
  readonly shard: number
  /** Absent: the shard is free. */
  readonly owner?: string
  /** Store time, ms: the owner may act while `now < aliveUntilMs`. */
  readonly aliveUntilMs: number
  /** The owner should give it up: it starts nothing more there, and hands it over when nothing is in flight. */
  readonly leaving: boolean
}

/** A node that called `own` or `renew`, whether it has a shard or not. */
export interface LiveNode {
  /** The node, as passed to `own`. */
  readonly owner: string
  /** Store time, ms. */
  readonly aliveUntilMs: number
}

/** The changes of shard ownership that a node makes. */
export interface OwnershipPlan {
  /** Shards to renew that are not leaving; ascending. */
  readonly keep: readonly number[]
  /** Shards to take, up to the fair share: its own that are leaving, then free and expired ones. */
  readonly take: readonly number[]
  /** The part of `keep` above the fair share, which leaves from now on. */
  readonly giveBack: readonly number[]
}

/** Maximum number of shards per node. */
export function fairShare(liveNodes: number): number {
  return Math.ceil(SHARDS / Math.max(1, liveNodes))
}

/**
 * Plans which shards a node keeps, takes and gives back, so that all live nodes converge to a fair share.
 *
 * A shard changes its owner only when it was handed over or its lease has expired, so adding a node interrupts no
 * delivery.
 *
 * @param now store time, ms
 */
export function planOwnership(
  leases: readonly ShardLease[],
  nodes: readonly LiveNode[],
  owner: string,
  now: number,
): OwnershipPlan {
  const names = new Set([owner])
  for (const node of nodes) if (now < node.aliveUntilMs) names.add(node.owner)
  const own: number[] = []
  const givenBack: number[] = []
  const free: number[] = []
  // One pass: most renewals change nothing.
  for (const lease of leases) {
    const isLive = lease.owner !== undefined && now < lease.aliveUntilMs
    if (isLive) names.add(lease.owner!)
    if (!isLive) free.push(lease.shard)
    else if (lease.owner === owner) {
      if (lease.leaving) givenBack.push(lease.shard)
      else own.push(lease.shard)
    }
  }
  const share = fairShare(names.size)
  return {
    keep: own.sort((a, b) => a - b),
    take: [...givenBack, ...free].slice(0, Math.max(0, share - own.length)),
    giveBack: own.slice(share).reverse(),
  }
}
