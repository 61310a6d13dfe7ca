/**
 * The client of the store in a model run: some nodes and an editor. It knows only the results it has received, so it can
 * send calls while others are in progress. Commands choose their calls from its state.
 */

import { createPositions, type Positions } from '../../delivery/positions.js'
import {
  type ChangesResult,
  type DeliveryCall,
  type GroupCall,
  type GroupResultRow,
  type LeaseResult,
  type LoadResult,
  type SettlementCall,
  type ShardSet,
  type StoreCall,
  shardSet,
  shardsIn,
  type WebhookRow,
} from './store-calls.js'

/** A delivery as the client knows it. */
export interface KnownDelivery extends DeliveryCall {
  attempts: number
  hasEnded: boolean
}

export interface ClientNode {
  readonly owner: string
  readonly positions: Positions
  fence: number
  /** The version that it has applied. */
  version: number
  /** Its last group was outdated. */
  isOutdated: boolean
  shards: ShardSet
  leaving: ShardSet
  lastKey: number
  /** Keys of starts that are not finished. */
  readonly startKeys: number[]
  /** A group, load or poll is in progress. */
  isBusy: boolean
}

export interface StoreClient {
  readonly shared: boolean
  readonly leaseMs: number
  now: number
  /** Nodes that have not ended; commands concern one of them. */
  readonly nodes: ClientNode[]
  /** Nodes whose process has ended, or that lost their shards. */
  readonly formerNodes: ClientNode[]
  readonly webhooks: WebhookRow[]
  /** All deliveries it tried to accept, by id. */
  readonly deliveries: Map<string, KnownDelivery>
  /** Settlements of the past, which can be sent again. */
  readonly settled: SettlementCall[]
  /** It has called `prune`: deleted webhooks and events may be gone. */
  pruned: boolean
  /** A new id: `d1`, `d2`, … */
  newId(kind: string): string
}

export function createStoreClient(shared: boolean, leaseMs: number, now: number): StoreClient {
  const created: Record<string, number> = {}
  return {
    shared,
    leaseMs,
    now,
    nodes: [],
    formerNodes: [],
    webhooks: [],
    deliveries: new Map(),
    settled: [],
    pruned: false,
    newId(kind) {
      created[kind] = (created[kind] ?? 0) + 1
      return `${kind}${created[kind]}`
    },
  }
}

export const leaseOf = ({ owner, fence }: ClientNode) => ({ owner, fence })

export function nodeNamed(client: StoreClient, owner: string): ClientNode {
  const found = [...client.nodes, ...client.formerNodes].find((node) => node.owner === owner)
  if (found) return found
  const number = client.nodes.length + client.formerNodes.length
  const node: ClientNode = {
    owner,
    positions: createPositions(number % 128),
    fence: 0,
    version: 0,
    isOutdated: false,
    shards: '',
    leaving: '',
    lastKey: 0,
    startKeys: [],
    isBusy: false,
  }
  client.nodes.push(node)
  return node
}

/** The node has ended, or others have its shards. */
export function endNode(client: StoreClient, owner: string): void {
  const at = client.nodes.findIndex((node) => node.owner === owner)
  if (at >= 0) client.formerNodes.push(...client.nodes.splice(at, 1))
}

/** One of these calls of a node is in progress at a time. */
const EXCLUSIVE = new Set<StoreCall['do']>(['commit', 'load', 'poll', 'changes'])

const ownerOf = (call: StoreCall) =>
  call.do === 'commit' ? call.owner : 'lease' in call ? call.lease?.owner : undefined

/** Updates the client before a call is sent. */
export function trackCall(client: StoreClient, call: StoreCall): void {
  const owner = ownerOf(call)
  if (owner !== undefined && EXCLUSIVE.has(call.do)) nodeNamed(client, owner).isBusy = true
  if (call.do === 'prune') client.pruned = true
  if (call.do !== 'commit') return
  for (const delivery of call.accepted.flatMap(({ deliveries }) => deliveries)) {
    if (!client.deliveries.has(delivery.id))
      client.deliveries.set(delivery.id, { ...delivery, attempts: 0, hasEnded: false })
  }
}

/** Updates the client when a result arrives. */
export function trackResult(client: StoreClient, call: StoreCall, result: unknown): void {
  const put = (webhook: WebhookRow) => {
    const at = client.webhooks.findIndex(({ id }) => id === webhook.id)
    if (at < 0) client.webhooks.push(webhook)
    else if (client.webhooks[at]!.revision < webhook.revision) client.webhooks[at] = webhook
  }
  const owner = ownerOf(call)
  const node = owner === undefined ? undefined : nodeNamed(client, owner)
  if (node && EXCLUSIVE.has(call.do)) node.isBusy = false
  switch (call.do) {
    case 'insert':
      put(call.webhook)
      break
    case 'replace':
      if (result === true) put(call.webhook)
      break
    case 'read':
      if (result !== null) put(result as WebhookRow)
      break
    case 'own':
    case 'renew':
      trackLease(nodeNamed(client, call.owner), result as LeaseResult)
      break
    case 'hand over': {
      const given = shardsIn(call.shards)
      node!.shards = shardSet(shardsIn(node!.shards).filter((shard) => !given.includes(shard)))
      node!.leaving = ''
      break
    }
    case 'load':
    case 'changes': {
      const found = result as LoadResult | ChangesResult | null
      if (found) Object.assign(node!, { version: found.version, isOutdated: false })
      break
    }
    case 'commit':
      trackGroup(client, node!, call, result as GroupResultRow)
      break
    default:
  }
}

function trackLease(node: ClientNode, { fence, position, shards, leaving }: LeaseResult): void {
  if (fence !== node.fence) node.startKeys.length = 0
  Object.assign(node, { fence, shards, leaving })
  node.positions.raise(position)
}

function trackGroup(client: StoreClient, node: ClientNode, call: GroupCall, result: GroupResultRow): void {
  if (result === 'fenced') return
  if (result === 'outdated') {
    node.isOutdated = true
    return
  }
  if (call.lease) node.version = result.version
  call.accepted.forEach(({ events, deliveries }, at) => {
    const accepted = result.accepted[at]!
    for (const { id, eventId } of deliveries) {
      const index = events.findIndex((event) => event.id === eventId)
      if (typeof accepted === 'string' || accepted.events[index]?.duplicate) client.deliveries.delete(id)
    }
  })
  call.ended.forEach((settlement, at) => {
    const known = client.deliveries.get(settlement.id)
    if (result.ended[at] === 'fenced' || !known) return
    known.attempts = settlement.attempts
    known.hasEnded = settlement.to !== 'waiting'
    client.settled.push(settlement)
  })
  if (call.starting && call.starting.deliveries.length > result.notStarted.length) {
    if (!node.startKeys.includes(call.starting.key)) node.startKeys.push(call.starting.key)
  }
  for (const key of call.finished) {
    const at = node.startKeys.indexOf(key)
    if (at >= 0) node.startKeys.splice(at, 1)
  }
}
