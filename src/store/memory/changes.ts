/** What others did to the deliveries of a node. */
import type { Changes, DeliveryKey, Lease } from '../../delivery/queue-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { nodeOf } from './leases.js'
import type { State } from './state.js'

/** Changes that are listed; a node that is further behind reloads. */
const MAX_CHANGES = 10_000

/** Raises the version of the shard's owner. A shard without an owner is loaded by its next one. */
export function recordChange(
  state: State,
  shard: number,
  change: { readonly webhookId: string } | { readonly removed: DeliveryKey },
): void {
  const node = state.shards[shard]!.owner
  if (!node) return
  node.version += 1
  node.changes.push({ version: node.version, ...change })
  if (node.changes.length <= MAX_CHANGES) return
  node.changes = []
  node.changesFrom = node.version
}

export function changes(
  state: State,
  lease: Lease,
  sinceVersion: number,
  storeMs: number,
): Changes | undefined {
  const node = nodeOf(state, lease, storeMs)
  if (!node) return undefined
  const { version, changesFrom } = node
  if (sinceVersion < changesFrom || sinceVersion > version) {
    return { version, webhooks: [], removed: [], mustReload: true }
  }
  const webhooks = new Map<string, Webhook>()
  const removed: DeliveryKey[] = []
  for (const change of node.changes) {
    if (change.version <= sinceVersion) continue
    if ('removed' in change) removed.push(change.removed)
    else {
      const endpoint = state.endpoints.get(change.webhookId)
      if (endpoint) webhooks.set(change.webhookId, endpoint.webhook)
    }
  }
  return { version, webhooks: [...webhooks.values()], removed, mustReload: false }
}
