import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDelayQueue } from '../../../src/delivery/scheduler/delay-queue.js'
import {
  createEndpointRegistry,
  IDLE,
  type ScheduledEndpoint,
} from '../../../src/delivery/scheduler/endpoint-registry.js'
import { enqueue, unqueue } from '../../../src/values/linked-queue.js'

const UNLIMITED = { failing: false, probed: false, limit: Number.POSITIVE_INFINITY }

/** As the scheduler does with an endpoint that is due: it waits for a slot. */
function waitForSlot(endpoint: ScheduledEndpoint): void {
  if (!endpoint.queue) enqueue(endpoint.account.due[endpoint.priority]!, endpoint)
}

function createQueue() {
  const registry = createEndpointRegistry()
  const queue = createDelayQueue(registry)
  const register = (id: string) =>
    registry.upsert({ webhookId: id, accountId: 'acc', origin: `https://${id}.example`, ...UNLIMITED })
  const addAt = (endpoint: ScheduledEndpoint, dueMs: number) => {
    endpoint.dueMs = dueMs
    queue.add(endpoint)
    return endpoint
  }
  return {
    registry,
    queue,
    register,
    addAt,
    waiting: (id: string, dueMs: number) => addAt(register(id), dueMs),
    /** Takes what is due and, as the scheduler does, puts each endpoint into the queue of its account. */
    take(now: number) {
      const taken: string[] = []
      queue.takeDue(now, (endpoint) => {
        taken.push(endpoint.id)
        waitForSlot(endpoint)
      })
      return taken
    },
    /** Takes what is due and leaves each endpoint as it was. */
    peekTaken(now: number) {
      const taken: ScheduledEndpoint[] = []
      queue.takeDue(now, (endpoint) => taken.push(endpoint))
      return taken
    },
  }
}

describe('a delay queue', () => {
  it('has neither a next due time nor due endpoints while it is empty', () => {
    const { queue, peekTaken } = createQueue()
    expect(queue.nextDueMs()).toBeUndefined()
    expect(peekTaken(1_000)).toEqual([])
  })

  it('passes the endpoints that are due by due time, and keeps the others', () => {
    const { queue, waiting, take } = createQueue()
    for (const dueMs of [300, 100, 400, 200]) waiting(`at-${dueMs}`, dueMs)
    expect(queue.nextDueMs()).toBe(100)
    expect(take(300)).toEqual(['at-100', 'at-200', 'at-300'])
    expect(queue.nextDueMs()).toBe(400)
    expect(take(400)).toEqual(['at-400'])
    expect(queue.nextDueMs()).toBeUndefined()
  })

  it('notes the due time of the entry on the endpoint until the entry is taken', () => {
    const { waiting, peekTaken } = createQueue()
    const endpoint = waiting('a', 100)
    expect(endpoint.queuedDueMs).toBe(100)
    expect(peekTaken(100)).toEqual([endpoint])
    expect(endpoint.queuedDueMs).toBeNaN()
  })

  it('passes in the same call what becomes due while it passes another endpoint', () => {
    const { queue, register, addAt, waiting } = createQueue()
    const late = register('late')
    const later = register('later')
    waiting('first', 100)
    const taken: string[] = []
    queue.takeDue(100, (endpoint) => {
      taken.push(endpoint.id)
      if (endpoint.id !== 'first') return
      addAt(late, 50)
      addAt(later, 101)
    })
    expect(taken).toEqual(['first', 'late'])
    expect(queue.nextDueMs()).toBe(101)
  })
})

describe('a stale entry', () => {
  it('of a removed endpoint does not stand for the one that is registered under its id later', () => {
    const { registry, queue, register, waiting, peekTaken } = createQueue()
    registry.remove(waiting('a', 100))
    const successor = register('a')
    successor.dueMs = 100
    expect(queue.nextDueMs()).toBeUndefined()
    queue.add(successor)
    expect(peekTaken(100)).toEqual([successor])
  })
})

describe('a delay queue with many stale entries', () => {
  /** Entries that two registered endpoints may have before the heap is rebuilt. */
  const MAX_ENTRIES = 2 * 2 + 64

  /** Two endpoints, of which `queued` has a stale entry at 5; the entries of `moving` make up the others. */
  function createCrowdedQueue(entries: number) {
    const created = createQueue()
    const queued = created.waiting('queued', 5)
    waitForSlot(queued)
    const moving = created.register('moving')
    for (let n = 1; n < entries; n++) created.addAt(moving, 1_000 + n)
    return { ...created, queued, moving }
  }

  it('keeps them while they are at most twice the endpoints and 64', () => {
    const { queued, moving } = createCrowdedQueue(MAX_ENTRIES)
    expect(queued.queuedDueMs).toBe(5)
    expect(moving.queuedDueMs).toBe(moving.dueMs)
  })

  it('drops them with one more, and keeps the endpoints that wait', () => {
    const { queue, queued, moving, take } = createCrowdedQueue(MAX_ENTRIES + 1)
    expect(queued.queuedDueMs).toBeNaN()
    expect(moving.queuedDueMs).toBe(moving.dueMs)
    unqueue(queued)
    expect(queue.nextDueMs()).toBe(moving.dueMs)
    queue.add(queued)
    expect(queue.nextDueMs()).toBe(5)
    expect(take(5)).toEqual(['queued'])
    expect(take(moving.dueMs)).toEqual(['moving'])
  })

  it('starts counting again after it has dropped them', () => {
    // After the rebuild there is one entry, that of the moving endpoint.
    const { queue, queued, moving, addAt } = createCrowdedQueue(MAX_ENTRIES + 1)
    unqueue(queued)
    queue.add(queued)
    waitForSlot(queued)
    for (let n = 2; n < MAX_ENTRIES; n++) addAt(moving, 2_000 + n)
    expect(queued.queuedDueMs).toBe(5)
    addAt(moving, 3_000)
    expect(queued.queuedDueMs).toBeNaN()
  })
})

describe('any sequence of changes', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const change = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), id, ms: fc.nat(20) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('queue' as const, 'idle', 'remove'), id, ms: fc.nat(0) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('take' as const, 'next'), id, ms: fc.nat(20) }),
    },
  )

  it('yields every waiting endpoint once when it is due, and knows the next due time', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400, size: 'max' }), (changes) => {
        const { registry, queue, register, addAt, take } = createQueue()
        const model = new Map<string, number>()
        for (const { kind, id, ms } of changes) {
          const found = registry.find(id)
          if (kind === 'add') {
            const endpoint = found ?? register(id)
            unqueue(endpoint)
            addAt(endpoint, ms)
            model.set(id, ms)
          } else if (kind === 'take') {
            const due = [...model].filter(([, dueMs]) => dueMs <= ms).map(([id]) => id)
            expect(take(ms).sort()).toEqual(due.sort())
            for (const id of due) model.delete(id)
          } else if (kind === 'next') {
            expect(queue.nextDueMs()).toBe(model.size > 0 ? Math.min(...model.values()) : undefined)
          } else if (found) {
            if (kind === 'queue') waitForSlot(found)
            else if (kind === 'idle') found.dueMs = IDLE
            else registry.remove(found)
            model.delete(id)
          }
        }
        expect(queue.nextDueMs()).toBe(model.size > 0 ? Math.min(...model.values()) : undefined)
        expect(take(20).sort()).toEqual([...model.keys()].sort())
      }),
      { numRuns: 100 },
    )
  })
})
