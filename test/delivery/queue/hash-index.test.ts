import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Entries, NONE, POSITION } from '../../../src/delivery/queue/entries.js'
import { HashIndex } from '../../../src/delivery/queue/hash-index.js'
import { propertyRuns } from '../../support/property-runs.js'

const SEGMENTS = 128

function create(seed = 1) {
  const entries = new Entries()
  const index = new HashIndex(entries, POSITION, seed)
  const newEntry = (endpoint: number, position: number) => {
    const entry = entries.allocate(endpoint, 0, 0, 0, 0, 0)
    entries.setNumber(entry, POSITION, position)
    return entry
  }
  const add = (endpoint: number, position: number) => {
    const entry = newEntry(endpoint, position)
    index.set(entry)
    return entry
  }
  return { entries, index, add, newEntry }
}

describe('an index', () => {
  it('finds entries by endpoint and key, and replaces that with the same key', () => {
    const { index, add, newEntry } = create()
    const first = add(1, 2 ** 52 + 7)
    const second = add(2, 2 ** 52 + 7)
    expect([index.find(1, 2 ** 52 + 7), index.find(2, 2 ** 52 + 7)]).toEqual([first, second])
    expect([index.find(3, 2 ** 52 + 7), index.find(1, 7), index.find(1, 2 ** 52)]).toEqual([NONE, NONE, NONE])
    const third = newEntry(1, 2 ** 52 + 7)
    expect(index.add(third)).toBe(false)
    expect(index.findSame(third)).toBe(first)
    index.set(third)
    expect(index.find(1, 2 ** 52 + 7)).toBe(third)
    index.delete(third)
    index.delete(third)
    expect([index.find(1, 2 ** 52 + 7), index.find(2, 2 ** 52 + 7)]).toEqual([NONE, second])
  })

  it('agrees with a map after many additions and removals', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.array(fc.nat(9_999), { minLength: 6_000, maxLength: 6_000 }),
        (seed, keys) => {
          const { entries, index, newEntry } = create(seed)
          const map = new Map<number, number>()
          for (const key of keys) {
            const known = map.get(key)
            if (known === undefined) {
              const entry = newEntry(key % 3, key)
              index.set(entry)
              map.set(key, entry)
            } else {
              index.delete(known)
              entries.free(known)
              map.delete(key)
            }
          }
          for (let key = 0; key < 10_000; key++)
            if (index.find(key % 3, key) !== (map.get(key) ?? NONE)) throw new Error(`key ${key}`)
        },
      ),
      { numRuns: propertyRuns(20) / 4 },
    )
  })

  it('removes entries from full segments without losing their neighbours', () => {
    const { index, add } = create()
    const all = Array.from({ length: 80_000 }, (_, position) => add(1, position))
    for (const [position, entry] of all.entries()) {
      index.delete(entry)
      const next = (position + 1) * 7
      if (next > position && next < all.length) expect(index.find(1, next)).toBe(all[next])
    }
    expect(all.every((_, position) => index.find(1, position) === NONE)).toBe(true)
  })

  it('grows with its entries, one segment at a time, and shrinks again', () => {
    const { index, add } = create()
    expect(index.bytes).toBe(0)
    const added: number[] = []
    let largestStep = 0
    for (let position = 0; position < 200_000; position++) {
      const before = index.bytes
      added.push(add(1, position))
      largestStep = Math.max(largestStep, index.bytes - before)
    }
    expect(index.bytes).toBeLessThan(200_000 * 11)
    expect(largestStep).toBeLessThanOrEqual((2 * index.bytes) / SEGMENTS)
    for (const entry of added) index.delete(entry)
    expect(index.bytes).toBe(SEGMENTS * 32 * Uint32Array.BYTES_PER_ELEMENT)
    index.clear()
    expect(index.bytes).toBe(0)
  })

  it('places the same keys differently with another seed', () => {
    const orderOf = (seed: number) => {
      const { index, add } = create(seed)
      const sizes: number[] = []
      for (let position = 0; position < 5_000; position++) {
        add(1, position * 128)
        sizes.push(index.bytes)
      }
      return sizes
    }
    expect(orderOf(1)).toEqual(orderOf(1))
    expect(orderOf(1)).not.toEqual(orderOf(2))
  })
})
