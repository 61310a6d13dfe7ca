import fc from 'fast-check'
import { timeQueue } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'

describe('timeQueue', () => {
  it('returns items in order of time, and of insertion if times are equal', () => {
    const anyOperations = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('take' as const)), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(anyOperations, (operations) => {
        const queue = timeQueue<{ atMs: number; number: number }>()
        const model: { atMs: number; number: number }[] = []
        operations.forEach((operation, number) => {
          if (operation !== 'take') {
            queue.add({ atMs: operation, number })
            model.push({ atMs: operation, number })
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

  it('throws from take() when empty', () => {
    const queue = timeQueue()
    expect(queue.firstMs()).toBe(Number.POSITIVE_INFINITY)
    expect(() => queue.take()).toThrow('the queue is empty')
  })
})
