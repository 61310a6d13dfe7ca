import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createLinkedQueue,
  dequeue,
  enqueue,
  type LinkedQueue,
  type QueueItem,
  unqueue,
} from '../../src/values/linked-queue.js'

interface Item extends QueueItem<Item> {
  readonly id: number
}

const anItem = (id: number): Item => ({ id, queue: undefined, previous: undefined, next: undefined })

/** The items from first to last. */
function itemsOf(queue: LinkedQueue<Item>): Item[] {
  const items: Item[] = []
  for (let item = queue.first; item; item = item.next) items.push(item)
  return items
}

describe('a linked queue', () => {
  it('is empty at first', () => {
    const queue = createLinkedQueue<Item>()
    expect([queue.length, queue.first, dequeue(queue)]).toEqual([0, undefined, undefined])
  })

  it('yields its items in order, and frees them for another queue', () => {
    const [first, second] = [createLinkedQueue<Item>(), createLinkedQueue<Item>()]
    const items = [anItem(1), anItem(2)]
    for (const item of items) enqueue(first, item)
    expect(items.map(({ queue }) => queue)).toEqual([first, first])
    expect(dequeue(first)).toBe(items[0])
    expect(items[0]!.queue).toBeUndefined()
    enqueue(second, items[0]!)
    expect([itemsOf(first), itemsOf(second)].map((list) => list.map(({ id }) => id))).toEqual([[2], [1]])
  })

  it('is left by an item once', () => {
    const queue = createLinkedQueue<Item>()
    const [first, second] = [anItem(1), anItem(2)]
    enqueue(queue, first)
    enqueue(queue, second)
    unqueue(first)
    unqueue(first)
    expect(itemsOf(queue)).toEqual([second])
    expect(queue.length).toBe(1)
  })

  it('is like an array under any pushes, shifts and removals', () => {
    const step = fc.oneof(fc.constant('push' as const), fc.constant('shift' as const), fc.nat(50))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = createLinkedQueue<Item>()
        const model: Item[] = []
        steps.forEach((action, id) => {
          if (action === 'push') {
            const item = anItem(id)
            enqueue(queue, item)
            model.push(item)
          } else if (action === 'shift') expect(dequeue(queue)).toBe(model.shift())
          else if (model.length > 0) {
            const [item] = model.splice(action % model.length, 1)
            unqueue(item!)
            expect(item).toEqual(anItem(item!.id))
          }
          expect(queue.length).toBe(model.length)
          expect(queue.first).toBe(model[0])
          expect(queue.last).toBe(model.at(-1))
          expect(itemsOf(queue).every((item, index) => item === model[index])).toBe(true)
        })
      }),
    )
  })
})
