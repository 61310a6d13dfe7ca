import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AcceptQueue } from '../../src/delivery/accept-queue.js'
import { propertyRuns } from '../support/property-runs.js'

interface Item {
  readonly accountId: string
  readonly size: number
  readonly name: string
}

const item = (accountId: string, size = 1, name = ''): Item => ({ accountId, size, name })
const accountsOf = (items: readonly Item[]) => items.map(({ accountId }) => accountId).join('')

function queueOf(...items: readonly Item[]) {
  const queue = new AcceptQueue<Item>()
  for (const item of items) queue.add(item)
  return queue
}

describe('what waits to be accepted', () => {
  it('is taken in order of arrival while it fits into one group', () => {
    const queue = queueOf(item('a'), item('b', 3), item('a', 2))
    expect(queue.size).toBe(6)
    expect(accountsOf(queue.take(6))).toBe('aba')
    expect(queue.size).toBe(0)
    expect(queue.take(6)).toEqual([])
  })

  it('gives each account the same part of a group where it does not fit', () => {
    const many = Array.from({ length: 100 }, () => item('a'))
    const queue = queueOf(...many, item('b'), item('c', 4))
    expect(accountsOf(queue.take(12)).replaceAll('a', '')).toBe('bc')
    expect(queue.size).toBe(105 - 12)
    expect(queue.sizeOf('a')).toBe(105 - 12)
    expect(queue.sizeOf('c')).toBe(0)
  })

  it('goes alone if it is as large as a group, in turn with the others', () => {
    const queue = queueOf(item('a', 50), item('a', 50), item('b'), item('c'))
    expect(accountsOf(queue.take(10))).toBe('a')
    queue.add(item('b'))
    expect(accountsOf(queue.take(10))).toBe('bbc')
    queue.add(item('b'))
    expect(accountsOf(queue.take(10))).toBe('a')
    expect(accountsOf(queue.take(10))).toBe('b')
  })

  it('gives no account more than its part of a group, but one item', () => {
    const queue = queueOf(item('a', 3), item('a', 3), item('b', 2), item('a', 1), item('c', 8), item('b', 2))
    expect(accountsOf(queue.take(100, undefined, () => 4))).toBe('aabbc')
    expect(accountsOf(queue.take(100, undefined, () => 4))).toBe('a')
    expect(queue.size).toBe(0)
  })

  it('gives each account the part that its first item has', () => {
    const queue = queueOf(
      item('a', 1, 'late'),
      item('b'),
      ...Array.from({ length: 4 }, () => item('a')),
      item('b'),
    )
    const partOf = ({ name }: Item) => (name === 'late' ? 4 : 1)
    expect(accountsOf(queue.take(100, undefined, partOf))).toBe('aaaab')
    expect(accountsOf(queue.take(100, undefined, partOf))).toBe('ab')
  })

  it('waits while it is held, with everything of its account that came later', () => {
    const queue = queueOf(item('a', 1, 'held'), item('b'), item('a', 1, 'free'))
    const isHeld = ({ name }: Item) => name === 'held'
    expect(accountsOf(queue.take(10, isHeld))).toBe('b')
    expect(queue.take(10, isHeld)).toEqual([])
    expect(queue.take(10).map(({ name }) => name)).toEqual(['held', 'free'])
  })

  it('is first again if it could not be accepted', () => {
    const queue = queueOf(item('a', 1, 'first'))
    const taken = queue.take(10)
    queue.add(item('a', 1, 'second'))
    queue.addFirst(taken)
    expect(queue.sizeOf('a')).toBe(2)
    expect(queue.take(10).map(({ name }) => name)).toEqual(['first', 'second'])
  })

  it('can be given up', () => {
    const queue = queueOf(item('a', 2), item('b'))
    expect(queue.sizeOf('a')).toBe(2)
    expect(accountsOf(queue.removeIf(({ accountId }) => accountId === 'a'))).toBe('a')
    expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b')]).toEqual([1, 0, 1])
  })

  it('is taken once each, in order within an account, and no account waits for ever', () => {
    const step = fc.record({
      adds: fc.array(
        fc.record({ accountId: fc.constantFrom('a', 'b', 'c'), size: fc.constantFrom(1, 1, 2, 5, 30) }),
        { maxLength: 6 },
      ),
      heldAccount: fc.constantFrom(undefined, undefined, 'a'),
      part: fc.constantFrom(undefined, 4),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const queue = new AcceptQueue<Item & { readonly number: number }>()
        let number = 0
        const taken: { accountId: string; number: number }[] = []
        /** Groups since an account that waits and is not held was served. */
        const waited = new Map<string, number>()
        const take = (heldAccount?: string, part?: number) => {
          const waiting = ['a', 'b', 'c'].filter((id) => queue.sizeOf(id) > 0 && id !== heldAccount)
          const items = queue.take(
            10,
            heldAccount === undefined ? undefined : (item) => item.accountId === heldAccount,
            part === undefined ? undefined : () => part,
          )
          expect(items.every(({ accountId }) => accountId !== heldAccount)).toBe(true)
          if (waiting.length > 0) expect(items.length).toBeGreaterThan(0)
          let size = 0
          const given = new Map<string, number>()
          for (const item of items) {
            // Only the last one of an account may go beyond its part.
            if (part !== undefined) expect(given.get(item.accountId) ?? 0).toBeLessThan(part)
            given.set(item.accountId, (given.get(item.accountId) ?? 0) + item.size)
            // Only the last one may go beyond, and one that is as large as a group is alone.
            expect(size).toBeLessThan(10)
            size += item.size
            if (item.size >= 10 && heldAccount !== undefined) expect(items.length).toBe(1)
          }
          for (const id of waiting) {
            const isServed = items.some(({ accountId }) => accountId === id)
            waited.set(id, isServed ? 0 : (waited.get(id) ?? 0) + 1)
            expect(waited.get(id)).toBeLessThanOrEqual(3)
          }
          taken.push(...items)
        }
        for (const { adds, heldAccount, part } of steps) {
          for (const add of adds) queue.add({ ...add, name: '', number: number++ })
          take(heldAccount, part)
        }
        while (queue.size > 0) take()
        expect(taken.map((item) => item.number).sort((a, b) => a - b)).toEqual(
          Array.from({ length: number }, (_, index) => index),
        )
        for (const id of ['a', 'b', 'c']) {
          const own = taken.filter(({ accountId }) => accountId === id).map((item) => item.number)
          expect(own).toEqual([...own].sort((a, b) => a - b))
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})

it('a long line of one account costs each group no walk through it', () => {
  const queue = queueOf(item('b'))
  let reads = 0
  const counted = (index: number): Item => ({
    get accountId() {
      reads++
      return 'a'
    },
    size: 1,
    name: `${index}`,
  })
  for (let index = 0; index < 20_000; index++) queue.add(counted(index))
  for (let group = 0; group < 50; group++) {
    queue.add(item('b'))
    expect(queue.take(5_000, undefined, () => 200)).toHaveLength(group === 0 ? 202 : 201)
  }
  expect(reads).toBeLessThan(100_000)
  expect(queue.sizeOf('a')).toBe(20_000 - 50 * 200)
})
