/** Leases of nodes and ownership of shards. A store that is not shared has one owner, whose lease never ends. */

import { MAX_NODES } from '../../delivery/positions.js'
import type { Lease, NodeLease, Start, StoredNode } from '../../delivery/queue-store.js'
import { planOwnership, type ShardLease, shardOf } from '../shards.js'
import { notifyListeners } from './notify.js'
import { append, createPositionLog, walk } from './position-log.js'
import type { Node, State } from './state.js'

/** Nodes without a lease whose versions are remembered. */
const MAX_ENDED_NODES = 256

/** The node of a live lease. @param now store time, ms */
export function nodeOf(state: State, lease: Lease, now: number): Node | undefined {
  const node = state.nodes.get(lease.owner)
  return node && node.fence !== 0 && node.fence === lease.fence && now < node.aliveUntilMs ? node : undefined
}

export function own(state: State, owner: string, leaseMs: number, storeMs: number): NodeLease {
  if (state.isShared) return grant(state, owner, leaseMs, storeMs, false)
  const current = state.shards[0]!.owner
  if (current && current.owner !== owner) endLease(state, current)
  const node = aliveNode(state, owner, Number.POSITIVE_INFINITY)
  for (const shard of state.shards) shard.owner = node
  return leaseOf(state, node, storeMs)
}

export function renew(state: State, owner: string, leaseMs: number, storeMs: number): NodeLease {
  if (state.isShared) return grant(state, owner, leaseMs, storeMs, true)
  const current = state.shards[0]!.owner
  if (current?.owner === owner) return leaseOf(state, current, storeMs)
  // A later run of this node has fenced it, or it has released its shards.
  return {
    owner,
    fence: 0,
    node: 0,
    position: state.lastPosition,
    shards: [],
    leaving: [],
    aliveUntilMs: storeMs,
    storeMs,
    pendingElsewhere: 0,
  }
}

export function nodes(state: State): readonly StoredNode[] {
  const live = [...state.nodes.values()].filter(({ fence }) => fence !== 0)
  return live
    .map((node) => {
      const shards = state.shards.filter(({ owner }) => owner === node)
      const leaving = shards.filter((shard) => shard.leaving).length
      return { owner: node.owner, aliveUntilMs: node.aliveUntilMs, shards: shards.length, leaving }
    })
    .sort((a, b) => (a.owner < b.owner ? -1 : 1))
}

/** Gives up shards, whose starts are over. */
export function handOver(state: State, lease: Lease, shards: readonly number[], storeMs: number): void {
  const node = nodeOf(state, lease, storeMs)
  if (!node) return
  const given = new Set<number>()
  for (const number of shards) {
    const shard = state.shards[number]
    if (shard?.owner !== node) continue
    shard.owner = undefined
    shard.leaving = false
    given.add(number)
  }
  if (given.size === 0) return
  const left = createPositionLog<readonly Start[]>()
  for (const [key, deliveries] of walk(node.starts, true)) {
    const others = deliveries.filter(({ webhookId }) => !given.has(shardOf(webhookId)))
    if (others.length > 0) append(left, key, others)
  }
  node.starts = left
  notifyListeners(state)
}

export function release(state: State, owner: string): void {
  const node = state.nodes.get(owner)
  if (!node || node.fence === 0) return
  node.starts = createPositionLog()
  endLease(state, node)
  notifyListeners(state)
}

function grant(
  state: State,
  owner: string,
  leaseMs: number,
  storeMs: number,
  canGiveBack: boolean,
): NodeLease {
  let hasFreed = false
  for (const node of state.nodes.values()) {
    if (node.fence === 0 || storeMs < node.aliveUntilMs) continue
    endLease(state, node)
    hasFreed = true
  }
  const node = aliveNode(state, owner, storeMs + leaseMs)
  const plan = planOwnership(shardLeases(state), liveNodes(state), owner, storeMs)
  for (const number of plan.take) {
    const shard = state.shards[number]!
    shard.owner = node
    shard.leaving = false
  }
  if (canGiveBack) for (const number of plan.giveBack) state.shards[number]!.leaving = true
  if (hasFreed || (canGiveBack && plan.giveBack.length > 0)) notifyListeners(state)
  return leaseOf(state, node, storeMs)
}

/** The node with a lease until then: a new one if it has none. */
function aliveNode(state: State, owner: string, aliveUntilMs: number): Node {
  let node = state.nodes.get(owner)
  if (!node) {
    node = {
      owner,
      fence: 0,
      number: -1,
      aliveUntilMs,
      version: 0,
      changes: [],
      changesFrom: 0,
      starts: createPositionLog(),
      pending: 0,
    }
    state.nodes.set(owner, node)
  }
  if (node.fence === 0) {
    state.lastFence += 1
    node.fence = state.lastFence
    node.number = freeNumber(state)
  }
  node.aliveUntilMs = aliveUntilMs
  return node
}

/** A number that no living node has. The number that was free for the longest time is next, because its positions are old. */
function freeNumber(state: State): number {
  if (!state.isShared) return 0
  const used = new Set<number>()
  for (const { fence, number } of state.nodes.values()) if (fence !== 0) used.add(number)
  let number = state.lastNodeNumber
  do number = (number + 1) % MAX_NODES
  while (used.has(number) && used.size < MAX_NODES)
  state.lastNodeNumber = number
  return number
}

/** Frees the node's shards and leaves its starts there. It is remembered for a while, because its version must not go back. */
function endLease(state: State, node: Node): void {
  for (const [, deliveries] of walk(node.starts, true)) {
    for (const start of deliveries) state.shards[shardOf(start.webhookId)]!.left.push(start)
  }
  node.starts = createPositionLog()
  for (const shard of state.shards) {
    if (shard.owner !== node) continue
    shard.owner = undefined
    shard.leaving = false
  }
  node.fence = 0
  node.number = -1
  node.pending = 0
  // What changes in its shards from now on is in no list.
  node.version += 1
  node.changes = []
  node.changesFrom = node.version
  let excess = state.nodes.size - MAX_NODES - MAX_ENDED_NODES
  for (const [owner, { fence }] of state.nodes) {
    if (excess <= 0) return
    if (fence !== 0) continue
    state.nodes.delete(owner)
    excess -= 1
  }
}

function shardLeases(state: State): ShardLease[] {
  return state.shards.map(({ owner, leaving }, shard): ShardLease => {
    return owner
      ? { shard, owner: owner.owner, aliveUntilMs: owner.aliveUntilMs, leaving }
      : { shard, aliveUntilMs: 0, leaving }
  })
}

function liveNodes(state: State): { owner: string; aliveUntilMs: number }[] {
  const live: { owner: string; aliveUntilMs: number }[] = []
  for (const { owner, fence, aliveUntilMs } of state.nodes.values())
    if (fence !== 0) live.push({ owner, aliveUntilMs })
  return live
}

/** The pending deliveries that the other nodes reported. */
export function pendingElsewhere(state: State, node: Node): number {
  let pending = 0
  for (const other of state.nodes.values()) if (other !== node) pending += other.pending
  return pending
}

function leaseOf(state: State, node: Node, storeMs: number): NodeLease {
  const shards: number[] = []
  const leaving: number[] = []
  for (const [number, shard] of state.shards.entries()) {
    if (shard.owner !== node) continue
    shards.push(number)
    if (shard.leaving) leaving.push(number)
  }
  return {
    owner: node.owner,
    fence: node.fence,
    node: node.number,
    position: state.lastPosition,
    shards,
    leaving,
    aliveUntilMs: node.aliveUntilMs,
    storeMs,
    pendingElsewhere: pendingElsewhere(state, node),
  }
}
