/** A first-in first-out queue with constant-time operations at any length (an array's `shift` is linear). */
export interface FifoQueue<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
  peek(): T | undefined
  clear(): void
}

const COMPACT_ABOVE = 1024

/** Creates an empty queue. */
export function createFifoQueue<T>(): FifoQueue<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    get length() {
      return items.length - head
    },
    push(item) {
      items.push(item)
    },
    shift() {
      if (head === items.length) return undefined
      const item = items[head]
      items[head++] = undefined
      if (head === items.length) {
        items = []
        head = 0
      } else if (head > COMPACT_ABOVE && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    peek: () => items[head],
    clear() {
      items = []
      head = 0
    },
  }
}
