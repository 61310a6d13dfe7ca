import { createHeap } from '../values/heap.js'
import { type Endpoint, IDLE, type Roster } from './roster.js'

/** Endpoints that wait for a time. */
export interface DueTimes {
  /** Has an endpoint wait for its due time. */
  add(endpoint: Endpoint): void
  /** Takes out those that are due. */
  take(now: number, each: (endpoint: Endpoint) => void): void
  /** When the next one becomes due; `undefined`: none waits. */
  next(): number | undefined
}

/** Entries of times that hold no longer stay until those are over, unless they become the most. */
export function createDueTimes(roster: Roster): DueTimes {
  const heap = createHeap<{ dueMs: number; endpoint: Endpoint }>((a, b) => a.dueMs < b.dueMs)

  const waits = (endpoint: Endpoint) =>
    roster.find(endpoint.id) === endpoint && endpoint.where === 'nowhere' && endpoint.dueMs !== IDLE

  function push(endpoint: Endpoint): void {
    endpoint.heapMs = endpoint.dueMs
    heap.push({ dueMs: endpoint.dueMs, endpoint })
  }

  function pop(): void {
    const { dueMs, endpoint } = heap.pop()!
    if (endpoint.heapMs === dueMs) endpoint.heapMs = Number.NaN
  }

  function rebuild(): void {
    heap.clear()
    for (const endpoint of roster.all()) {
      endpoint.heapMs = Number.NaN
      if (waits(endpoint)) push(endpoint)
    }
  }

  return {
    add(endpoint) {
      if (endpoint.heapMs === endpoint.dueMs) return
      push(endpoint)
      if (heap.size > 2 * roster.size + 64) rebuild()
    },
    take(now, each) {
      for (let top = heap.peek(); top !== undefined && top.dueMs <= now; top = heap.peek()) {
        pop()
        if (waits(top.endpoint) && top.endpoint.dueMs <= now) each(top.endpoint)
      }
    },
    next() {
      for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
        if (waits(top.endpoint) && top.endpoint.dueMs === top.dueMs) return top.dueMs
        pop()
      }
      return undefined
    },
  }
}
