import { type HeapItem, heapPush, heapRemove } from '../../values/heap.js'
import { type EndpointRegistry, IDLE, type ScheduledEndpoint } from './endpoint-registry.js'

/**
 * The endpoints that wait for their due time.
 *
 * Stale heap entries are removed lazily; the heap is rebuilt when they outnumber the live ones.
 */
interface DelayQueue {
  /** Adds an endpoint at its due time. */
  add(endpoint: ScheduledEndpoint): void
  /** Removes the endpoints that are due, and passes each to `onDue`. */
  takeDue(now: number, onDue: (endpoint: ScheduledEndpoint) => void): void
  /** When the next endpoint becomes due; `undefined`: none waits. */
  nextDueMs(): number | undefined
}

interface Entry extends HeapItem {
  readonly endpoint: ScheduledEndpoint
}

export function createDelayQueue(registry: EndpointRegistry): DelayQueue {
  const heap: Entry[] = []

  const isWaiting = (endpoint: ScheduledEndpoint) =>
    registry.find(endpoint.id) === endpoint && endpoint.queue === undefined && endpoint.dueMs !== IDLE

  function push(endpoint: ScheduledEndpoint): void {
    endpoint.queuedDueMs = endpoint.dueMs
    heapPush(heap, { dueMs: endpoint.dueMs, position: 0, heapIndex: -1, endpoint })
  }

  function remove(entry: Entry): void {
    heapRemove(heap, entry)
    const { dueMs, endpoint } = entry
    if (endpoint.queuedDueMs === dueMs) endpoint.queuedDueMs = Number.NaN
  }

  function rebuild(): void {
    heap.length = 0
    for (const endpoint of registry.all()) {
      endpoint.queuedDueMs = Number.NaN
      if (isWaiting(endpoint)) push(endpoint)
    }
  }

  return {
    add(endpoint) {
      if (endpoint.queuedDueMs === endpoint.dueMs) return
      push(endpoint)
      if (heap.length > 2 * registry.size + 64) rebuild()
    },
    takeDue(now, onDue) {
      for (let top = heap[0]; top !== undefined && top.dueMs <= now; top = heap[0]) {
        remove(top)
        if (isWaiting(top.endpoint) && top.endpoint.dueMs <= now) onDue(top.endpoint)
      }
    },
    nextDueMs() {
      for (let top = heap[0]; top !== undefined; top = heap[0]) {
        if (isWaiting(top.endpoint) && top.endpoint.dueMs === top.dueMs) return top.dueMs
        remove(top)
      }
      return undefined
    },
  }
}
