/**
 * A binary min-heap in a plain array, ordered by due time, from which any item can be removed.
 *
 * The first item is `heap[0]`. Each item stores its own index, so removing one needs no search. An item is in one heap
 * at a time; its owner changes neither `dueMs` nor `position` while it is there.
 */

/** An item of a heap: the earliest due time first, then the lowest position. */
export interface HeapItem {
  dueMs: number
  readonly position: number
  /** Index in the heap, -1 in none. Written only by the functions of this file. */
  heapIndex: number
}

/** Adds an item in O(log n); in O(1) when it is the latest. */
export function heapPush<T extends HeapItem>(heap: T[], item: T): void {
  siftUp(heap, item, heap.length)
}

/** Removes an item of this heap, wherever it is, in O(log n). */
export function heapRemove<T extends HeapItem>(heap: T[], item: T): void {
  const index = item.heapIndex
  const last = heap.pop()!
  item.heapIndex = -1
  if (last === item) return
  if (index > 0 && isEarlier(last, heap[(index - 1) >> 1]!)) siftUp(heap, last, index)
  else siftDown(heap, last, index)
}

function isEarlier(a: HeapItem, b: HeapItem): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.position < b.position)
}

function place<T extends HeapItem>(heap: T[], item: T, index: number): void {
  heap[index] = item
  item.heapIndex = index
}

function siftUp<T extends HeapItem>(heap: T[], item: T, from: number): void {
  let index = from
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex]!
    if (!isEarlier(item, parent)) break
    place(heap, parent, index)
    index = parentIndex
  }
  place(heap, item, index)
}

function siftDown<T extends HeapItem>(heap: T[], item: T, from: number): void {
  let index = from
  for (;;) {
    let childIndex = 2 * index + 1
    if (childIndex >= heap.length) break
    if (childIndex + 1 < heap.length && isEarlier(heap[childIndex + 1]!, heap[childIndex]!)) childIndex += 1
    const child = heap[childIndex]!
    if (!isEarlier(child, item)) break
    place(heap, child, index)
    index = childIndex
  }
  place(heap, item, index)
}
