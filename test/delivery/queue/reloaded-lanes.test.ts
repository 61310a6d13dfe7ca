import { describe, expect, it } from 'vitest'
import { positionMs } from '../../../src/delivery/positions.js'
import { createPendingQueue, type PendingQueue } from '../../../src/delivery/queue/pending-queue.js'
import type { QueueEndpoint } from '../../../src/delivery/queue/queue-endpoint.js'
import type { QueuedDelivery } from '../../../src/delivery/queue/queued-delivery.js'
import { aWebhook } from '../fixtures.js'
import { columnsOf, fillMissing, LIMITS, queued } from './fixtures.js'

const LANE = 'acc/call-1'
const FAILED_MS = positionMs(0) + 5_000
const PATIENCE_MS = 60_000
const RETRY_MS = 600_000
const NOW = FAILED_MS + PATIENCE_MS

const RETRY = { state: 'waiting', dueMs: NOW + RETRY_MS, attempts: 1, tries: 1, interruptions: 0 } as const

/** A queue whose delivery 2 is on its way, out of order, when everything else is dropped and loaded again. */
function createReloadedQueue(dropped: 'all' | readonly number[]) {
  const queue = createPendingQueue({ maxContents: 100, shardOf: () => 1, limits: LIMITS })
  const endpoint = queue.setWebhook(aWebhook())
  const failed = queued(endpoint, { position: 1, lane: LANE, attempts: 1, failedMs: FAILED_MS })
  queue.add(failed, NOW - 1)
  queue.take(endpoint, 1, NOW - 1)
  queue.add(queued(endpoint, { position: 2, lane: LANE }), NOW - 1)
  queue.add(queued(endpoint, { position: 3, lane: LANE }), NOW - 1)
  queue.retry(failed, { ...RETRY, attempts: 2, failedMs: FAILED_MS })
  const [second] = queue.take(endpoint, 9, NOW)
  queue.dropShards(dropped)
  const rows = [
    { webhookId: 'w1', position: 1, lane: LANE, attempts: 2, failedMs: FAILED_MS, dueMs: NOW + RETRY_MS },
    { webhookId: 'w1', position: 3, lane: LANE },
  ]
  queue.load(columnsOf(rows), NOW)
  fillMissing(queue, NOW + RETRY_MS)
  return { queue, endpoint, second: second! }
}

/** Takes everything that is due later, also what becomes a head meanwhile. */
function takeAll(queue: PendingQueue, endpoint: QueueEndpoint): readonly QueuedDelivery[] {
  const first = queue.take(endpoint, 9, NOW + RETRY_MS)
  fillMissing(queue, NOW + RETRY_MS)
  return [...first, ...queue.take(endpoint, 9, NOW + RETRY_MS)]
}

describe.each<['all' | readonly number[]]>([['all'], [[1]]])('after shards were dropped: %s', (dropped) => {
  const positions = (some: readonly { readonly position: number }[]) =>
    some.map(({ position }) => position).sort()

  it('what has overtaken an earlier delivery still holds back later ones', () => {
    const { queue, endpoint, second } = createReloadedQueue(dropped)
    expect(second.position).toBe(2)
    expect(queue.isOutOfOrder(second)).toBe(true)
    const [first, ...others] = queue.take(endpoint, 9, NOW + RETRY_MS)
    expect(first?.position).toBe(1)
    expect(queue.isOutOfOrder(first!)).toBe(true)
    expect(others).toEqual([])
  })

  it('what was overtaken does not wait for it', () => {
    const { queue, endpoint, second } = createReloadedQueue(dropped)
    queue.retry(second, { ...RETRY, failedMs: NOW })
    const taken = takeAll(queue, endpoint)
    expect(positions(taken)).toEqual([1, 2, 3])
    expect(taken.every((item) => queue.isOutOfOrder(item))).toBe(true)
  })

  it('the lane is in order again when they have ended', () => {
    const { queue, endpoint, second } = createReloadedQueue(dropped)
    queue.end(second, NOW)
    for (const delivery of takeAll(queue, endpoint)) queue.end(delivery, NOW)
    expect(queue.size).toBe(0)
    queue.add(queued(endpoint, { position: 4, lane: LANE }), NOW)
    const [last] = queue.take(endpoint, 9, NOW)
    expect(queue.isOutOfOrder(last!)).toBe(false)
  })
})
