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

interface Entry<Item> {
  readonly item: Item
  readonly number: number
}

/** Creates an empty queue: a binary heap, so `add` and `take` cost O(log n). */
export function timeQueue<Item extends { readonly atMs: number }>(): TimeQueue<Item> {
  const heap: Entry<Item>[] = []
  let added = 0
  const isBefore = (a: Entry<Item>, b: Entry<Item>) =>
    a.item.atMs < b.item.atMs || (a.item.atMs === b.item.atMs && a.number < b.number)

  return {
    get size() {
      return heap.length
    },
    firstMs: () => heap[0]?.item.atMs ?? Infinity,
    add(item) {
      const entry = { item, number: added++ }
      let index = heap.length
      for (
        let parent = (index - 1) >> 1;
        index > 0 && isBefore(entry, heap[parent]!);
        parent = (index - 1) >> 1
      ) {
        heap[index] = heap[parent]!
        index = parent
      }
      heap[index] = entry
    },
    take() {
      const first = heap[0]
      const last = heap.pop()
      if (!first || !last) throw new RangeError('the queue is empty')
      if (heap.length > 0) siftDown(last)
      return first.item
    },
  }

  /** Moves an entry from the root to its position. */
  function siftDown(entry: Entry<Item>): void {
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, entry)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = entry
  }
}
