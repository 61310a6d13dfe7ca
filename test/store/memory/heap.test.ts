import fc from 'fast-check'
import { expect, it } from 'vitest'
import { push, type Scheduled, takeOut } from '../../../src/store/memory/heap.js'

it('gives items by due time, then position, whatever is added and taken out in between', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ takeOut: fc.nat() }),
    fc.constant('first' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap: Scheduled[] = []
      const model: Scheduled[] = []
      for (const [position, action] of steps.entries()) {
        model.sort((a, b) => a.dueMs - b.dueMs || a.position - b.position)
        expect(heap[0]).toBe(model[0])
        expect(heap.every((item, index) => item.heapIndex === index)).toBe(true)
        if (action !== 'first' && 'add' in action) {
          const item = { dueMs: action.add, position, heapIndex: -1 }
          push(heap, item)
          model.push(item)
        } else if (model.length > 0) {
          const [item] = model.splice(action === 'first' ? 0 : action.takeOut % model.length, 1)
          takeOut(heap, item!)
          expect(item?.heapIndex).toBe(-1)
        }
        expect(heap).toHaveLength(model.length)
      }
    }),
  )
})
