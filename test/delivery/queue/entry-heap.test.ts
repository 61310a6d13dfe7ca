import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DUE, Entries, NONE, POSITION } from '../../../src/delivery/queue/entries.js'
import { EntryHeap } from '../../../src/delivery/queue/entry-heap.js'
import { propertyRuns } from '../../support/property-runs.js'

function allocate(entries: Entries, position: number, dueMs: number): number {
  const entry = entries.allocate(1, 0, 0, 0, 0, 0)
  entries.setNumber(entry, POSITION, position)
  entries.setNumber(entry, DUE, dueMs)
  return entry
}

describe('a heap of entries', () => {
  it('has the earliest entry first, by due time and then position, whatever is removed', () => {
    const step = fc.oneof(
      fc.record({ dueMs: fc.nat(20), position: fc.nat(1_000) }),
      fc.record({ dueMs: fc.nat(20), position: fc.nat(1_000) }),
      fc.record({ removed: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const entries = new Entries()
        const heap = new EntryHeap()
        const all: number[] = []
        const compare = (a: number, b: number) =>
          entries.number(a, DUE) - entries.number(b, DUE) ||
          entries.number(a, POSITION) - entries.number(b, POSITION)
        for (const [index, item] of steps.entries()) {
          if ('removed' in item) {
            const [entry] = all.splice(item.removed % (all.length || 1), 1)
            if (entry !== undefined) heap.remove(entries, entry)
          } else {
            // A position is unique.
            const entry = allocate(entries, item.position * 1_000 + index, item.dueMs)
            all.push(entry)
            heap.push(entries, entry)
          }
          expect(heap.length).toBe(all.length)
          expect(heap.first).toBe([...all].sort(compare)[0] ?? NONE)
        }
        const drained: number[] = []
        while (heap.length > 0) {
          drained.push(heap.first)
          heap.remove(entries, heap.first)
        }
        expect(drained).toEqual(all.sort(compare))
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('grows by halves and shrinks', () => {
    const entries = new Entries()
    const heap = new EntryHeap()
    const all = Array.from({ length: 10_000 }, (_, index) => allocate(entries, index, index))
    for (const entry of all) heap.push(entries, entry)
    expect(heap.bytes).toBeLessThanOrEqual(10_000 * 1.5 * 4)
    for (const entry of all) heap.remove(entries, entry)
    expect(heap.bytes).toBeLessThan(600)
  })
})
