/** Shard leases of a memory store. Unshared stores have one owner whose lease never ends. */

import type { Ownership } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { type OwnershipPlan, planOwnership, type ShardLease } from '../shards.js'
import type { Shard, State } from './state.js'

/** Whether this node may settle deliveries of this shard. */
export function holdsLease(state: State, owner: string, shard: number, now: number): boolean {
  const lease = state.shards[shard]!
  return lease.owner === owner && now < lease.aliveUntilMs
}

/** Whether this node may also claim there: it has not given the shard back. */
export function canClaim(state: State, owner: string, shard: number, now: number): boolean {
  return holdsLease(state, owner, shard, now) && !state.shards[shard]!.leaving
}

export function own(state: State, owner: string, leaseMs: number, storeMs: number): Ownership {
  if (!state.shared) return ownAlone(state, owner, storeMs)
  registerNode(state, owner, leaseMs, storeMs)
  return grant(state, plan(state, owner, storeMs), owner, leaseMs, storeMs)
}

export function renew(state: State, owner: string, leaseMs: number, storeMs: number): Ownership {
  if (!state.shared) return ownership(state, owner, storeMs, Number.POSITIVE_INFINITY)
  registerNode(state, owner, leaseMs, storeMs)
  const planned = plan(state, owner, storeMs)
  if (planned.giveBack.length === 0) return grant(state, planned, owner, leaseMs, storeMs)
  for (const shard of planned.giveBack) state.shards[shard]!.leaving = true
  return grant(state, plan(state, owner, storeMs), owner, leaseMs, storeMs)
}

export function release(state: State, owner: string): void {
  state.nodes.delete(owner)
  for (const shard of state.shards) {
    if (shard.owner === owner) shard.owner = undefined
  }
}

/** Deliveries in flight in this node's shards that were claimed in an earlier term. */
export function orphans(state: State, owner: string, limit: number, storeMs: number): readonly Delivery[] {
  const found: Delivery[] = []
  for (const [index, shard] of state.shards.entries()) {
    if (!canClaim(state, owner, index, storeMs)) continue
    for (const row of shard.inFlight) {
      if (found.length >= limit) return found
      if (row.term !== shard.term) found.push(row.delivery)
    }
  }
  return found
}

function grant(
  state: State,
  { keep, take }: OwnershipPlan,
  owner: string,
  leaseMs: number,
  storeMs: number,
): Ownership {
  for (const shard of keep) state.shards[shard]!.aliveUntilMs = storeMs + leaseMs
  for (const shard of take) takeShard(state.shards[shard]!, owner, storeMs, storeMs + leaseMs)
  return ownership(state, owner, storeMs, storeMs + leaseMs)
}

/** Unshared store: one process, one node. The last one to call `own` owns all shards. */
function ownAlone(state: State, owner: string, storeMs: number): Ownership {
  for (const shard of state.shards) {
    if (shard.owner !== owner) takeShard(shard, owner, storeMs, Number.POSITIVE_INFINITY)
  }
  return ownership(state, owner, storeMs, Number.POSITIVE_INFINITY)
}

/** Records that a node is alive, and removes nodes whose lease has expired. */
function registerNode(state: State, owner: string, leaseMs: number, storeMs: number): void {
  for (const [name, aliveUntilMs] of state.nodes) {
    if (aliveUntilMs <= storeMs) state.nodes.delete(name)
  }
  state.nodes.set(owner, storeMs + leaseMs)
}

function plan(state: State, owner: string, storeMs: number): OwnershipPlan {
  const leases = state.shards.map((shard, index): ShardLease => {
    const { owner: name, aliveUntilMs, leaving } = shard
    const busy = isBusy(shard)
    if (name === undefined) return { shard: index, aliveUntilMs, leaving, busy }
    return { shard: index, owner: name, aliveUntilMs, leaving, busy }
  })
  const nodes = Array.from(state.nodes, ([name, aliveUntilMs]) => ({ owner: name, aliveUntilMs }))
  return planOwnership(leases, nodes, owner, storeMs)
}

function isBusy(shard: Shard): boolean {
  for (const row of shard.inFlight) {
    if (row.term === shard.term) return true
  }
  return false
}

function takeShard(shard: Shard, owner: string, storeMs: number, aliveUntilMs: number): void {
  const isContinued = shard.owner === owner && storeMs < shard.aliveUntilMs
  if (!isContinued) shard.term += 1
  shard.owner = owner
  shard.aliveUntilMs = aliveUntilMs
  shard.leaving = false
}

function ownership(state: State, owner: string, storeMs: number, aliveUntilMs: number): Ownership {
  const shards: number[] = []
  for (let index = 0; index < state.shards.length; index += 1) {
    if (canClaim(state, owner, index, storeMs)) shards.push(index)
  }
  return { shards, aliveUntilMs, storeMs }
}
