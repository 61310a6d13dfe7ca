/**
 * A naive model of a shared store: lists that are scanned. It takes shard ownership from the leases that the store grants,
 * after it has checked that no two living nodes own a shard.
 */
import type { Acceptance, NewDelivery, Settlement } from '../../../src/delivery/delivery-store.js'
import { isTerminal } from '../../../src/delivery/lifecycle.js'
import type { Group, NodeLease, Start } from '../../../src/delivery/queue-store.js'
import { shardOf } from '../../../src/store/shards.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'

export interface ModelDelivery {
  readonly delivery: NewDelivery
  readonly sequence: number
  state: string
  attempts: number
  records: string[]
  /** Nobody has polled it since it was accepted for another node. */
  isNudged: boolean
}

export interface ModelNode {
  readonly owner: string
  fence: number
  aliveUntilMs: number
  shards: readonly number[]
  /** Somebody has changed its deliveries since it read changes or loaded. */
  isOutdated: boolean
  /** It has to load before it can read changes. */
  mustLoad: boolean
  changed: Set<string>
  removed: Set<string>
  starts: Map<number, readonly Start[]>
}

export interface ModelResult {
  accepted: (readonly [id: string, sequence: number, duplicate: boolean] | string)[]
  ended: string[]
  notStarted: number[]
}

export const keyOf = ({ webhookId, position }: { webhookId: string; position?: number | undefined }) =>
  `${webhookId} ${position}`

export class Model {
  deliveries: ModelDelivery[] = []
  readonly webhooks = new Map<string, Webhook>()
  readonly nodes = new Map<string, ModelNode>()
  numbers = new Map<string, { sequence: number; owner: string }>()
  keys = new Map<string, { id: string; sequence: number; bodyHash: string; callId: string | undefined }>()
  /** Starts of earlier owners. */
  left: Start[] = []

  node(owner: string): ModelNode {
    const existing = this.nodes.get(owner)
    if (existing) return existing
    const node: ModelNode = {
      owner,
      fence: 0,
      aliveUntilMs: 0,
      shards: [],
      isOutdated: false,
      mustLoad: false,
      changed: new Set(),
      removed: new Set(),
      starts: new Map(),
    }
    this.nodes.set(owner, node)
    return node
  }

  isAlive(node: ModelNode, fence: number, now: number): boolean {
    return node.fence !== 0 && node.fence === fence && now < node.aliveUntilMs
  }

  ownerOf(webhookId: string): ModelNode | undefined {
    return [...this.nodes.values()].find(
      (node) => node.fence !== 0 && node.shards.includes(shardOf(webhookId)),
    )
  }

  /** A node has called `own` or `renew`. Throws if two living nodes own a shard. */
  granted(owner: string, lease: NodeLease): void {
    for (const node of this.nodes.values()) if (node.aliveUntilMs <= lease.storeMs) this.endLease(node)
    const node = this.node(owner)
    for (const other of this.nodes.values()) {
      if (other === node || other.fence === 0) continue
      const both = other.shards.find((shard) => lease.shards.includes(shard))
      if (both !== undefined) throw new Error(`${owner} and ${other.owner} own shard ${both}`)
    }
    node.fence = lease.fence
    node.aliveUntilMs = lease.aliveUntilMs
    node.shards = lease.shards
  }

  endLease(node: ModelNode): void {
    if (node.fence === 0) return
    for (const starts of node.starts.values()) {
      this.left.push(...starts.filter(({ webhookId }) => node.shards.includes(shardOf(webhookId))))
    }
    node.starts.clear()
    node.fence = 0
    node.shards = []
    node.isOutdated = true
    node.mustLoad = true
  }

  handedOver(node: ModelNode, shards: readonly number[]): void {
    node.shards = node.shards.filter((shard) => !shards.includes(shard))
    for (const [key, starts] of node.starts) {
      node.starts.set(
        key,
        starts.filter(({ webhookId }) => !shards.includes(shardOf(webhookId))),
      )
    }
  }

  replaced(webhook: Webhook): void {
    this.webhooks.set(webhook.id, webhook)
    const owner = this.ownerOf(webhook.id)
    if (!owner) return
    owner.isOutdated = true
    owner.changed.add(webhook.id)
  }

  erased(callId: string): void {
    for (const { delivery, state } of this.deliveries) {
      if (delivery.callId !== callId || state !== 'waiting') continue
      const owner = this.ownerOf(delivery.webhookId)
      owner?.removed.add(keyOf(delivery))
      if (owner) owner.isOutdated = true
    }
    this.deliveries = this.deliveries.filter(({ delivery }) => delivery.callId !== callId)
    this.numbers.delete(callId)
    for (const [key, { callId: of }] of this.keys) if (of === callId) this.keys.delete(key)
  }

  find(key: { webhookId: string; position?: number | undefined }): ModelDelivery | undefined {
    return this.deliveries.find(({ delivery }) => keyOf(delivery) === keyOf(key))
  }

  waitingOf(node: ModelNode): ModelDelivery[] {
    return this.deliveries.filter(
      ({ delivery, state }) => state === 'waiting' && node.shards.includes(shardOf(delivery.webhookId)),
    )
  }

  interruptedOf(node: ModelNode): string[] {
    const found = this.left.filter(
      (start) =>
        node.shards.includes(shardOf(start.webhookId)) &&
        this.find(start)?.state === 'waiting' &&
        this.find(start)?.attempts === start.attempt - 1,
    )
    return [...new Set(found.map(keyOf))].sort()
  }

  commit(node: ModelNode, group: Group): ModelResult | 'fenced' | 'outdated' {
    if (group.lease) {
      if (!this.isAlive(node, group.lease.fence, group.now)) return 'fenced'
      if (node.isOutdated) return 'outdated'
    }
    const holder = group.lease && node
    const result: ModelResult = {
      accepted: group.accepted.map((acceptance) => this.accept(holder, acceptance)),
      ended: group.ended.map((settlement) => this.settle(holder, settlement)),
      notStarted: [],
    }
    const { starting } = group
    if (starting) {
      const stored = starting.deliveries.filter((start) => this.canStart(holder, start))
      result.notStarted = [...starting.deliveries.keys()].filter(
        (index) => !stored.includes(starting.deliveries[index]!),
      )
      if (stored.length > 0) holder?.starts.set(starting.key, stored)
    }
    for (const key of group.finished) holder?.starts.delete(key)
    return result
  }

  private accept(node: ModelNode | undefined, { events, deliveries }: Acceptance) {
    const [event] = events
    if (!event) throw new Error('the model accepts one event at a time')
    const { idempotency, callId, id } = event
    const used = idempotency && this.keys.get(idempotency.key)
    if (used) {
      return used.bodyHash === idempotency.bodyHash
        ? ([used.id, used.sequence, true] as const)
        : 'idempotencyKey'
    }
    if (deliveries.some(({ webhookId }) => !this.webhooks.has(webhookId))) return 'NotFound'
    const sequence = (this.numbers.get(callId!)?.sequence ?? 0) + 1
    this.numbers.set(callId!, { sequence, owner: node?.owner ?? '' })
    if (idempotency) {
      this.keys.set(idempotency.key, { id, sequence, bodyHash: idempotency.bodyHash, callId })
    }
    for (const delivery of deliveries) {
      const isNudged = !node?.shards.includes(shardOf(delivery.webhookId))
      this.deliveries.push({ delivery, sequence, state: 'waiting', attempts: 0, records: [], isNudged })
    }
    return [id, sequence, false] as const
  }

  private settle(node: ModelNode | undefined, settlement: Settlement): string {
    const row = this.find(settlement)
    if (!row || !node?.shards.includes(shardOf(settlement.webhookId))) return 'fenced'
    if (row.state !== 'waiting' || row.attempts !== settlement.expect.attempts) return 'fenced'
    row.state = settlement.next.state
    row.attempts = settlement.next.attempts
    if (settlement.record) row.records.push(settlement.record.id)
    const webhook = this.webhooks.get(settlement.webhookId)!
    const { endpoint } = settlement
    if (!endpoint?.disable || endpoint.epoch !== webhook.epoch || !webhook.settings.enabled) return 'settled'
    this.webhooks.set(webhook.id, {
      ...webhook,
      epoch: webhook.epoch + 1,
      revision: webhook.revision + 1,
      settings: { ...webhook.settings, enabled: false },
    })
    return 'disabled'
  }

  private canStart(node: ModelNode | undefined, start: Start): boolean {
    const row = this.find(start)
    if (row?.state !== 'waiting' || row.attempts !== start.attempt - 1) return false
    if (!node?.shards.includes(shardOf(start.webhookId))) return false
    return row.delivery.epoch >= this.webhooks.get(start.webhookId)!.epoch
  }

  /** The state as readers see it. */
  stateOf({ delivery, state }: ModelDelivery): string {
    const isOld = delivery.epoch < this.webhooks.get(delivery.webhookId)!.epoch
    return !isTerminal(state as 'waiting') && isOld ? 'cancelled' : state
  }
}
