import fc from 'fast-check'
import { timeQueue } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'

describe('timeQueue', () => {
  it('gives what waits in order of time, and of insertion where times are equal', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('take' as const)), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(steps, (todo) => {
        const queue = timeQueue<{ atMs: number; number: number }>()
        const model: { atMs: number; number: number }[] = []
        todo.forEach((step, number) => {
          if (step !== 'take') {
            queue.add({ atMs: step, number })
            model.push({ atMs: step, number })
          } else if (model.length > 0) {
            model.sort((a, b) => a.atMs - b.atMs || a.number - b.number)
            expect(queue.take()).toEqual(model.shift())
          }
          expect(queue.size).toBe(model.length)
          expect(queue.firstMs()).toBe(Math.min(...model.map((item) => item.atMs)))
        })
      }),
    )
  })

  it('has nothing to give when empty', () => {
    const queue = timeQueue()
    expect(queue.firstMs()).toBe(Number.POSITIVE_INFINITY)
    expect(() => queue.take()).toThrow('nothing waits')
  })
})
