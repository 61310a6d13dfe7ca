/** Where a pending delivery is: in its lane, in the queue of its epoch, and in a heap while it has a due time. */

import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { heapPush, heapRemove } from '../../values/heap.js'
import { isFailing } from '../../webhooks/health.js'
import type { Endpoint, Queue, Row } from './state.js'

/** Appends a delivery to its lane. True: it is the head. */
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
  row.lanePrevious = lane.tail
  lane.tail.laneNext = row
  lane.tail = row
  return false
}

/** Removes a delivery from its lane. Returns the new head if the delivery was the head and another follows. */
export function leaveLane(row: Row): Row | undefined {
  const lane = row.lane!
  const { lanePrevious: previous, laneNext: next } = row
  row.lane = row.lanePrevious = row.laneNext = undefined
  if (previous) previous.laneNext = next
  if (next) next.lanePrevious = previous
  if (lane.tail === row && previous) lane.tail = previous
  if (lane.head !== row) return undefined
  if (next) lane.head = next
  else row.endpoint.lanes.delete(lane.key)
  return next
}

export function isHead(row: Row): boolean {
  return row.lane?.head === row
}

/** Adds a waiting delivery to the queue of its epoch, and to a heap if it has a due time. */
export function startWaiting(row: Row): void {
  const queue = queueOf(row.endpoint, row.delivery.epoch)
  row.waitPrevious = queue.newest
  if (queue.newest) queue.newest.waitNext = row
  else queue.oldest = row
  queue.newest = row
  schedule(queue, row)
}

/** A waiting delivery becomes the head of its lane: `delivery` has its due time. */
export function becomeDue(row: Row, delivery: Delivery): void {
  row.delivery = delivery
  schedule(queueOf(row.endpoint, delivery.epoch), row)
}

/** Removes a delivery from the queue of its epoch. */
export function stopWaiting(row: Row): void {
  const queue = queueOf(row.endpoint, row.delivery.epoch)
  const { waitPrevious: previous, waitNext: next } = row
  row.waitPrevious = row.waitNext = undefined
  if (previous) previous.waitNext = next
  else queue.oldest = next
  if (next) next.waitPrevious = previous
  else queue.newest = previous
  if (row.heapIndex >= 0) heapRemove(heapOf(queue, row), row)
}

/** The queue of the webhook's current epoch, if a delivery has ever waited in it. */
export function currentQueue(endpoint: Endpoint): Queue | undefined {
  const last = endpoint.queues[endpoint.queues.length - 1]
  return last?.epoch === endpoint.webhook.epoch ? last : undefined
}

/** The endpoint for the scheduler: due when its earliest head is due and its pause has ended. */
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
  heapPush(heapOf(queue, row), row)
}

function heapOf(queue: Queue, row: Row): Row[] {
  return row.delivery.attempts === 0 ? queue.firstAttempts : queue.retries
}

function queueOf(endpoint: Endpoint, epoch: number): Queue {
  const { queues } = endpoint
  const last = queues[queues.length - 1]
  if (last?.epoch === epoch) return last
  const existing = queues.find((queue) => queue.epoch === epoch)
  if (existing) return existing
  const created: Queue = { epoch, firstAttempts: [], retries: [], oldest: undefined, newest: undefined }
  // Empty queues of older epochs are dropped.
  endpoint.queues = [...queues.filter((queue) => queue.oldest), created].sort((a, b) => a.epoch - b.epoch)
  return created
}
