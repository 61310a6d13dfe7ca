/**
 * A first-in first-out queue from which any item can be removed in constant time: a doubly linked list through the
 * items. An item is in at most one queue at a time.
 */
export interface LinkedQueue<Item extends QueueItem<Item>> {
  readonly length: number
  /** Adds an item that is in no queue. */
  push(item: Item): void
  shift(): Item | undefined
  peek(): Item | undefined
  /** Removes an item of this queue. */
  remove(item: Item): void
}

/** The links of an item. Written only by the functions of this file. */
export interface QueueItem<Item extends QueueItem<Item>> {
  /** The queue that it is in; `undefined`: none. */
  queue: LinkedQueue<Item> | undefined
  previous: Item | undefined
  next: Item | undefined
}

/** Creates an empty queue. */
export function createLinkedQueue<Item extends QueueItem<Item>>(): LinkedQueue<Item> {
  let first: Item | undefined
  let last: Item | undefined
  let length = 0
  const queue: LinkedQueue<Item> = {
    get length() {
      return length
    },
    push(item) {
      item.queue = queue
      item.previous = last
      if (last) last.next = item
      else first = item
      last = item
      length++
    },
    shift() {
      const item = first
      if (item) queue.remove(item)
      return item
    },
    peek: () => first,
    remove(item) {
      const { previous, next } = item
      if (previous) previous.next = next
      else first = next
      if (next) next.previous = previous
      else last = previous
      item.queue = item.previous = item.next = undefined
      length--
    },
  }
  return queue
}
