import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HeapItem, heapPush, heapRemove } from '../../src/values/heap.js'

describe('a heap', () => {
  it('yields items by due time, then position, while items are added and removed', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ remove: fc.nat() }),
      fc.constant('first' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap: HeapItem[] = []
        const model: HeapItem[] = []
        for (const [position, action] of steps.entries()) {
          model.sort((a, b) => a.dueMs - b.dueMs || a.position - b.position)
          expect(heap[0]).toBe(model[0])
          expect(heap.every((item, index) => item.heapIndex === index)).toBe(true)
          if (action !== 'first' && 'add' in action) {
            const item = { dueMs: action.add, position, heapIndex: -1 }
            heapPush(heap, item)
            model.push(item)
          } else if (model.length > 0) {
            const [item] = model.splice(action === 'first' ? 0 : action.remove % model.length, 1)
            heapRemove(heap, item!)
            expect(item?.heapIndex).toBe(-1)
          }
          expect(heap).toHaveLength(model.length)
        }
      }),
    )
  })
})
