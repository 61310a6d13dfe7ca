/** What waits for its moment: taken in order of time, and of insertion where the times are equal. */
export interface TimeQueue<Item extends { readonly atMs: number }> {
  readonly size: number
  add(item: Item): void
  /** The earliest moment, Infinity when nothing waits. */
  firstMs(): number
  /** Takes the earliest out; throws a RangeError when nothing waits. */
  take(): Item
}

interface Entry<Item> {
  readonly item: Item
  readonly number: number
}

/** An empty queue: a binary heap, so a step costs the logarithm of what waits. */
export function timeQueue<Item extends { readonly atMs: number }>(): TimeQueue<Item> {
  const heap: Entry<Item>[] = []
  let added = 0
  const before = (a: Entry<Item>, b: Entry<Item>) =>
    a.item.atMs < b.item.atMs || (a.item.atMs === b.item.atMs && a.number < b.number)

  return {
    get size() {
      return heap.length
    },
    firstMs: () => heap[0]?.item.atMs ?? Infinity,
    add(item) {
      const entry = { item, number: added++ }
      let place = heap.length
      for (let above = (place - 1) >> 1; place > 0 && before(entry, heap[above]!); above = (place - 1) >> 1) {
        heap[place] = heap[above]!
        place = above
      }
      heap[place] = entry
    },
    take() {
      const first = heap[0]
      const last = heap.pop()
      if (!first || !last) throw new RangeError('nothing waits in the queue')
      if (heap.length > 0) sink(last)
      return first.item
    },
  }

  /** Puts the entry at the top and lets it down to its place. */
  function sink(entry: Entry<Item>): void {
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below += 1
      if (!before(heap[below]!, entry)) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = entry
  }
}
