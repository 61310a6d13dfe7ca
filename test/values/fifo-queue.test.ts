import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFifoQueue } from '../../src/values/fifo-queue.js'

/** Steps: a number is pushed, `shift` removes one, `clear` removes all. */
const history = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(50) },
    { weight: 4, arbitrary: fc.constant('shift' as const) },
    { weight: 1, arbitrary: fc.constant('clear' as const) },
  ),
  { maxLength: 200 },
)

describe('createFifoQueue', () => {
  it('behaves like an array', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const queue = createFifoQueue<number>()
        let list: number[] = []
        for (const step of steps) {
          if (step === 'clear') {
            queue.clear()
            list = []
          } else if (step === 'shift') expect(queue.shift()).toBe(list.shift())
          else {
            queue.push(step)
            list.push(step)
          }
          expect(queue.length).toBe(list.length)
        }
      }),
    )
  })

  it('keeps its order across compactions', () => {
    const queue = createFifoQueue<number>()
    let next = 0
    for (let pushed = 0; pushed < 10_000; pushed++) {
      queue.push(pushed)
      if (pushed % 3 !== 0) expect(queue.shift()).toBe(next++)
    }
    while (queue.length > 0) expect(queue.shift()).toBe(next++)
    expect(next).toBe(10_000)
    expect(queue.shift()).toBeUndefined()
  })

  it('can hold undefined', () => {
    const queue = createFifoQueue<undefined>()
    queue.push(undefined)
    expect(queue.length).toBe(1)
    queue.shift()
    expect(queue.length).toBe(0)
  })
})
