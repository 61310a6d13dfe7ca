/**
 * A first-in first-out queue from which any item can be removed in constant time: a doubly linked list through the
 * items. An item is in at most one queue at a time. The first item is `queue.first`.
 */
export interface LinkedQueue<Item extends QueueItem<Item>> {
  // Written only by the functions of this file.
  first: Item | undefined
  last: Item | undefined
  length: number
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
  return { first: undefined, last: undefined, length: 0 }
}

/** Adds an item that is in no queue. */
export function enqueue<Item extends QueueItem<Item>>(queue: LinkedQueue<Item>, item: Item): void {
  const { last } = queue
  item.queue = queue
  item.previous = last
  if (last) last.next = item
  else queue.first = item
  queue.last = item
  queue.length++
}

/** Removes an item from the queue that it is in, if any. */
export function unqueue<Item extends QueueItem<Item>>(item: Item): void {
  const { queue, previous, next } = item
  if (!queue) return
  if (previous) previous.next = next
  else queue.first = next
  if (next) next.previous = previous
  else queue.last = previous
  queue.length--
  item.queue = item.previous = item.next = undefined
}

/** Removes the first item and returns it. */
export function dequeue<Item extends QueueItem<Item>>(queue: LinkedQueue<Item>): Item | undefined {
  const { first } = queue
  if (first) unqueue(first)
  return first
}
