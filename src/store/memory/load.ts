/** What a node reads to build its queue: waiting deliveries, starts of earlier owners, handoffs, bodies. */
import type { DeliveryContent } from '../../delivery/delivery-store.js'
import type { DeliveryKey, Lease, LoadedPart, Polled, Start } from '../../delivery/queue-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { compareInLane } from '../engine/lanes.js'
import { isInterrupted } from '../engine/settlement.js'
import { nodeOf, pendingElsewhere } from './leases.js'
import { valueAt, walk } from './position-log.js'
import { bodyOf, deliveryOf, toColumns } from './readers.js'
import type { Endpoint, Row, State } from './state.js'

/** A part ends with the endpoint that reaches this number of deliveries. */
const PART_SIZE = 4_096

/** The cursor is the ordinal of the last endpoint of the part before. */
export function load(
  state: State,
  lease: Lease,
  shards: readonly number[],
  cursor: string | undefined,
  storeMs: number,
): LoadedPart | undefined {
  const node = nodeOf(state, lease, storeMs)
  if (!node) return undefined
  const { version } = node
  const owned = new Set(shards.filter((number) => state.shards[number]?.owner === node))
  const after = cursor === undefined ? 0 : Number(cursor)
  const rows: Row[] = []
  let last = 0
  for (const endpoint of state.endpoints.values()) {
    if (endpoint.ordinal <= after || endpoint.waitingCount === 0 || !owned.has(endpoint.shard)) continue
    if (rows.length >= PART_SIZE) {
      const waiting = toColumns(rows)
      const webhooks = webhooksOf(state, waiting.webhookIds)
      return { version, waiting, webhooks, interrupted: [], cursor: String(last) }
    }
    addWaiting(endpoint, rows)
    last = endpoint.ordinal
  }
  const waiting = toColumns(rows)
  const webhooks = webhooksOf(state, waiting.webhookIds)
  return { version, waiting, webhooks, interrupted: interruptedIn(state, owned) }
}

/** Adds the waiting deliveries by position, each lane at the place of its head. */
function addWaiting(endpoint: Endpoint, rows: Row[]): void {
  for (const [, row] of walk(endpoint.deliveries, true)) {
    if (row.state !== 'waiting' || row.laneBefore) continue
    for (let member: Row | undefined = row; member; member = member.laneAfter) rows.push(member)
  }
}

function webhooksOf(state: State, webhookIds: readonly string[]): Webhook[] {
  return webhookIds.map((id) => state.endpoints.get(id)!.webhook)
}

function interruptedIn(state: State, shards: Iterable<number>): Start[] {
  const found = new Map<string, Start>()
  for (const number of shards) {
    for (const start of state.shards[number]!.left) {
      const row = waitingAt(state, start)
      if (isInterrupted(row, start)) found.set(`${start.position}/${start.webhookId}`, start)
    }
  }
  return [...found.values()]
}

function waitingAt(state: State, { webhookId, position }: DeliveryKey): Row | undefined {
  const endpoint = state.endpoints.get(webhookId)
  const row = endpoint && valueAt(endpoint.deliveries, position)
  return row?.state === 'waiting' ? row : undefined
}

export function completeTakeover(
  state: State,
  lease: Lease,
  shards: readonly number[],
  storeMs: number,
): void {
  const node = nodeOf(state, lease, storeMs)
  if (!node) return
  for (const number of shards) {
    const shard = state.shards[number]
    if (shard?.owner === node) shard.left = []
  }
}

export function bodies(state: State, keys: readonly DeliveryKey[]): readonly (DeliveryContent | undefined)[] {
  return keys.map((key) => {
    const row = waitingAt(state, key)
    if (!row) return undefined
    const delivery = deliveryOf(row)
    if (row.due) delivery.dueMs = row.due.ms
    const { traceparent } = row.event
    const body = bodyOf(row)
    return traceparent === undefined ? { delivery, body } : { delivery, body, traceparent }
  })
}

export function poll(state: State, lease: Lease, storeMs: number): Polled | undefined {
  const node = nodeOf(state, lease, storeMs)
  if (!node) return undefined
  const rows: Row[] = []
  for (const shard of state.shards) {
    if (shard.owner !== node || shard.handoffs.length === 0) continue
    for (const row of shard.handoffs) if (row.isStored && row.state === 'waiting') rows.push(row)
    shard.handoffs = []
  }
  const waiting = toColumns(rows.sort(compareInLane))
  return {
    waiting,
    webhooks: webhooksOf(state, waiting.webhookIds),
    version: node.version,
    pendingElsewhere: pendingElsewhere(state, node),
  }
}
