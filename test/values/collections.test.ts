import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeap } from '../../src/values/heap.js'
import { createQueue } from '../../src/values/queue.js'

/** A number is pushed, `out` takes one, `clear` takes all. */
const history = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(50) },
    { weight: 4, arbitrary: fc.constant('out' as const) },
    { weight: 1, arbitrary: fc.constant('clear' as const) },
  ),
  { maxLength: 200 },
)

describe('a heap', () => {
  it('gives the least first, like a list that is sorted every time', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const heap = createHeap<number>((a, b) => a < b)
        let list: number[] = []
        for (const step of steps) {
          if (step === 'clear') {
            heap.clear()
            list = []
          } else if (step === 'out') expect(heap.pop()).toBe(list.shift())
          else {
            heap.push(step)
            list = [...list, step].sort((a, b) => a - b)
          }
          expect(heap.size).toBe(list.length)
          expect(heap.peek()).toBe(list[0])
        }
      }),
    )
  })
})

describe('a queue', () => {
  it('gives back in the order of coming, like a list', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const queue = createQueue<number>()
        let list: number[] = []
        for (const step of steps) {
          if (step === 'clear') {
            queue.clear()
            list = []
          } else if (step === 'out') expect(queue.shift()).toBe(list.shift())
          else {
            queue.push(step)
            list.push(step)
          }
          expect(queue.length).toBe(list.length)
        }
      }),
    )
  })

  it('keeps its order over many more than it compacts at', () => {
    const queue = createQueue<number>()
    let next = 0
    for (let pushed = 0; pushed < 10_000; pushed++) {
      queue.push(pushed)
      if (pushed % 3 !== 0) expect(queue.shift()).toBe(next++)
    }
    while (queue.length > 0) expect(queue.shift()).toBe(next++)
    expect(next).toBe(10_000)
    expect(queue.shift()).toBeUndefined()
  })

  it('may hold undefined', () => {
    const queue = createQueue<undefined>()
    queue.push(undefined)
    expect(queue.length).toBe(1)
    queue.shift()
    expect(queue.length).toBe(0)
  })
})
