import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { isFailing } from '../../webhooks/health.js'
import { push, takeOut } from './heap.js'
import type { Endpoint, Queue, Row } from './state.js'

/** Puts a delivery behind the others of its lane. True: it is the first. */
export function enterLane(row: Row): boolean {
  const { lanes } = row.endpoint
  const key = row.delivery.lane
  const lane = lanes.get(key)
  if (!lane) {
    row.lane = { key, head: row, tail: row }
    lanes.set(key, row.lane)
    return true
  }
  row.lane = lane
  row.laneBefore = lane.tail
  lane.tail.laneBehind = row
  lane.tail = row
  return false
}

/** Takes an ended delivery out of its lane. The new head, when it was the head and another follows. */
export function leaveLane(row: Row): Row | undefined {
  const lane = row.lane!
  const { laneBefore: before, laneBehind: behind } = row
  row.lane = row.laneBefore = row.laneBehind = undefined
  if (before) before.laneBehind = behind
  if (behind) behind.laneBefore = before
  if (lane.tail === row && before) lane.tail = before
  if (lane.head !== row) return undefined
  if (behind) lane.head = behind
  else row.endpoint.lanes.delete(lane.key)
  return behind
}

export function isHead(row: Row): boolean {
  return row.lane?.head === row
}

/** Lets a delivery wait: among those of its epoch, and by its due time where it has one. */
export function startWaiting(row: Row): void {
  const queue = queueOf(row.endpoint, row.delivery.epoch)
  row.waitBefore = queue.newest
  if (queue.newest) queue.newest.waitBehind = row
  else queue.oldest = row
  queue.newest = row
  schedule(queue, row)
}

/** A waiting delivery has become the first of its lane. */
export function becomeDue(row: Row, delivery: Delivery): void {
  row.delivery = delivery
  schedule(queueOf(row.endpoint, delivery.epoch), row)
}

export function stopWaiting(row: Row): void {
  const queue = queueOf(row.endpoint, row.delivery.epoch)
  const { waitBefore: before, waitBehind: behind } = row
  row.waitBefore = row.waitBehind = undefined
  if (before) before.waitBehind = behind
  else queue.oldest = behind
  if (behind) behind.waitBefore = before
  else queue.newest = before
  if (row.heapIndex >= 0) takeOut(heapOf(queue, row), row)
}

/** The queue of the webhook's own epoch, if anything ever waited in it. */
export function currentQueue(endpoint: Endpoint): Queue | undefined {
  const last = endpoint.queues[endpoint.queues.length - 1]
  return last?.epoch === endpoint.webhook.epoch ? last : undefined
}

/** How an endpoint stands: due when its earliest head is, and its pause has ended. */
export function readiness(endpoint: Endpoint): ReadyEndpoint {
  const { webhook, origin } = endpoint
  const { id: webhookId, accountId } = webhook
  return { webhookId, accountId, origin, failing: isFailing(webhook.health), dueMs: dueMsOf(endpoint) }
}

export function dueMsOf(endpoint: Endpoint): number | undefined {
  const { webhook } = endpoint
  if (webhook.deletedMs !== undefined) return undefined
  const queue = currentQueue(endpoint)
  const first = queue?.firstAttempts[0]?.dueMs ?? Number.POSITIVE_INFINITY
  const retry = queue?.retries[0]?.dueMs ?? Number.POSITIVE_INFINITY
  const dueMs = Math.min(first, retry)
  if (dueMs === Number.POSITIVE_INFINITY) return undefined
  return Math.max(dueMs, webhook.health?.pausedUntilMs ?? dueMs)
}

function schedule(queue: Queue, row: Row): void {
  const { dueMs } = row.delivery
  if (dueMs === undefined) return
  row.dueMs = dueMs
  push(heapOf(queue, row), row)
}

function heapOf(queue: Queue, row: Row): Row[] {
  return row.delivery.attempts === 0 ? queue.firstAttempts : queue.retries
}

function queueOf(endpoint: Endpoint, epoch: number): Queue {
  const { queues } = endpoint
  const last = queues[queues.length - 1]
  if (last?.epoch === epoch) return last
  const known = queues.find((queue) => queue.epoch === epoch)
  if (known) return known
  const made: Queue = { epoch, firstAttempts: [], retries: [], oldest: undefined, newest: undefined }
  // Empty queues of older epochs have done their work.
  endpoint.queues = [...queues.filter((queue) => queue.oldest), made].sort((a, b) => a.epoch - b.epoch)
  return made
}
