import { type HeapItem, heapPush, heapRemove } from '../values/heap.js'

/** A priority queue of items by time; items with equal times keep their insertion order. */
export interface TimeQueue<Item extends { readonly atMs: number }> {
  /** Number of items. */
  readonly size: number
  /** Adds an item at its `atMs`. */
  add(item: Item): void
  /** The earliest time; Infinity if the queue is empty. */
  firstMs(): number
  /** Removes and returns the earliest item. Throws a RangeError if the queue is empty. */
  take(): Item
}

/** Creates an empty queue: a binary heap, so `add` and `take` cost O(log n). */
export function timeQueue<Item extends { readonly atMs: number }>(): TimeQueue<Item> {
  const heap: (HeapItem & { readonly item: Item })[] = []
  let added = 0
  return {
    get size() {
      return heap.length
    },
    firstMs: () => heap[0]?.dueMs ?? Infinity,
    add(item) {
      heapPush(heap, { item, dueMs: item.atMs, position: added++, heapIndex: -1 })
    },
    take() {
      const first = heap[0]
      if (!first) throw new RangeError('the queue is empty')
      heapRemove(heap, first)
      return first.item
    },
  }
}
