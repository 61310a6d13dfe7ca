import { describe, expect, it } from 'vitest'
import { createPendingQueue } from '../../../src/delivery/queue/pending-queue.js'
import type { WaitingDeliveries } from '../../../src/delivery/queue-store.js'
import { aWebhook } from '../fixtures.js'
import { LIMITS } from './fixtures.js'

const COUNT = 300_000
const WEBHOOKS = 50

/** Waiting deliveries of 50 webhooks; `perLane` of them in each lane, 0: each has its own. */
function rowsOf(perLane: number): WaitingDeliveries {
  const column = <T>(
    from: { from(source: ArrayLike<number>, map: (_: number, row: number) => number): T },
    map: (row: number) => number,
  ) => from.from({ length: COUNT } as ArrayLike<number>, (_, row) => map(row))
  return {
    count: COUNT,
    webhookIds: Array.from({ length: WEBHOOKS }, (_, index) => `w${index}`),
    webhook: column(Uint32Array, (row) => row % WEBHOOKS),
    position: column(Float64Array, (row) => 1.3e15 + row * 977),
    lane: column(Float64Array, (row) => (perLane === 0 ? 0 : 4e15 + Math.floor(row / WEBHOOKS / perLane))),
    sequence: column(Uint32Array, (row) => row),
    dueMs: new Float64Array(COUNT),
    epoch: new Uint32Array(COUNT).fill(1),
    attempts: new Uint32Array(COUNT),
    tries: new Uint32Array(COUNT),
    interruptions: new Uint8Array(COUNT),
    failedMs: new Float64Array(COUNT),
  }
}

describe('the memory of the queue', () => {
  it.each([
    ['with a lane each', 1],
    ['in lanes of ten', 10],
    ['in no lanes', 0],
  ])('is at most 90 bytes for each of 300,000 waiting deliveries %s, and is released', (_, perLane) => {
    const queue = createPendingQueue({ maxContents: 1_000, shardOf: () => 0, limits: LIMITS })
    for (let index = 0; index < WEBHOOKS; index++) queue.setWebhook(aWebhook({}, { id: `w${index}` }))
    const empty = queue.bytes
    queue.load(rowsOf(perLane), 1_000)
    expect(queue.size).toBe(COUNT)
    expect(queue.bytes / COUNT).toBeLessThanOrEqual(90)
    queue.dropShards('all')
    // One page of entries and small heaps.
    expect(queue.bytes - empty).toBeLessThan(400_000)
  })
})
