/** What a heap orders: earliest due first, of equal ones the lowest position. In one heap at a time. */
export interface Scheduled {
  dueMs: number
  readonly position: number
  /** Its place in the heap, for taking it out; -1 in none. Kept by these functions. */
  heapIndex: number
}

function earlier(a: Scheduled, b: Scheduled): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.position < b.position)
}

function place<T extends Scheduled>(heap: T[], item: T, index: number): void {
  heap[index] = item
  item.heapIndex = index
}

function rise<T extends Scheduled>(heap: T[], item: T, from: number): void {
  let index = from
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex]!
    if (!earlier(item, parent)) break
    place(heap, parent, index)
    index = parentIndex
  }
  place(heap, item, index)
}

function sink<T extends Scheduled>(heap: T[], item: T, from: number): void {
  let index = from
  for (;;) {
    let childIndex = 2 * index + 1
    if (childIndex >= heap.length) break
    if (childIndex + 1 < heap.length && earlier(heap[childIndex + 1]!, heap[childIndex]!)) childIndex += 1
    const child = heap[childIndex]!
    if (!earlier(child, item)) break
    place(heap, child, index)
    index = childIndex
  }
  place(heap, item, index)
}

/** Adds an item, in O(log n); at once when it is the latest. The first of the heap is `heap[0]`. */
export function push<T extends Scheduled>(heap: T[], item: T): void {
  rise(heap, item, heap.length)
}

/** Takes out an item, wherever it is, in O(log n). */
export function takeOut<T extends Scheduled>(heap: T[], item: T): void {
  const index = item.heapIndex
  const last = heap.pop()!
  item.heapIndex = -1
  if (last === item) return
  if (index > 0 && earlier(last, heap[(index - 1) >> 1]!)) rise(heap, last, index)
  else sink(heap, last, index)
}
