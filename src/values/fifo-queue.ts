import { createLinkedQueue, dequeue, enqueue, type QueueItem } from './linked-queue.js'

/** A first-in first-out queue of any values with constant-time operations at any length (an array's `shift` is linear). */
export interface FifoQueue<T> {
  readonly length: number
  push(value: T): void
  shift(): T | undefined
  peek(): T | undefined
}

interface Item<T> extends QueueItem<Item<T>> {
  readonly value: T
}

/** Creates an empty queue. */
export function createFifoQueue<T>(): FifoQueue<T> {
  const queue = createLinkedQueue<Item<T>>()
  return {
    get length() {
      return queue.length
    },
    push: (value) => enqueue(queue, { value, queue: undefined, previous: undefined, next: undefined }),
    shift: () => dequeue(queue)?.value,
    peek: () => queue.first?.value,
  }
}
