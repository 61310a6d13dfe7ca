/** A binary min-heap. Items with equal order leave in no particular order. */
export interface Heap<T> {
  readonly size: number
  push(item: T): void
  peek(): T | undefined
  pop(): T | undefined
  clear(): void
}

/** @param before whether `a` must leave before `b` */
export function createHeap<T>(before: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = []

  function rise(start: number): void {
    let index = start
    const item = items[index]!
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(item, items[parent]!)) break
      items[index] = items[parent]!
      index = parent
    }
    items[index] = item
  }

  function sink(): void {
    const item = items[0]!
    const half = items.length >> 1
    let index = 0
    while (index < half) {
      let child = 2 * index + 1
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++
      if (!before(items[child]!, item)) break
      items[index] = items[child]!
      index = child
    }
    items[index] = item
  }

  return {
    get size() {
      return items.length
    },
    push(item) {
      items.push(item)
      rise(items.length - 1)
    },
    peek: () => items[0],
    pop() {
      const top = items[0]
      const last = items.pop()
      if (items.length > 0) {
        items[0] = last!
        sink()
      }
      return top
    },
    clear() {
      items.length = 0
    },
  }
}
