import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFifoQueue } from '../../src/values/fifo-queue.js'

it('a FIFO queue behaves like an array', () => {
  const step = fc.oneof(fc.constantFrom(undefined, 1, 2), fc.constant('shift' as const))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createFifoQueue<number | undefined>()
      const list: (number | undefined)[] = []
      for (const value of steps) {
        if (value === 'shift') expect(queue.shift()).toBe(list.shift())
        else {
          queue.push(value)
          list.push(value)
        }
        expect([queue.length, queue.peek()]).toEqual([list.length, list[0]])
      }
    }),
  )
})
