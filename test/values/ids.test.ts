import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createIdGenerator, createTimeOrderedIdGenerator, isId } from '../../src/values/ids.js'

describe('an id', () => {
  it('that is generated is 32 lower-case hex digits and unique', () => {
    const newId = createIdGenerator(seededRandom('ids').bytes)
    const ids = Array.from({ length: 1000 }, newId)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(ids).size).toBe(1000)
    expect(ids.every(isId)).toBe(true)
    const digits = new Set(ids.join(''))
    expect(digits.size).toBe(16)
  })

  it('that is time-ordered starts with its time and has the same format', () => {
    let ms = Date.UTC(2026, 0, 1)
    const newId = createTimeOrderedIdGenerator(seededRandom('ids').bytes, () => ms)
    const ids = Array.from({ length: 1000 }, () => {
      ms += 1.5
      return newId()
    })
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(ids.toSorted()).toEqual(ids)
    expect(Number.parseInt(ids[999]!.slice(0, 12), 16)).toBe(ms)
    expect(new Set(ids.map((id) => id.slice(12))).size).toBe(1000)
    for (const odd of [-1, 0, 2 ** 48, 8.64e15]) {
      ms = odd
      expect(newId()).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  it.each(['a', 'A-Z_9', 'x'.repeat(64)])('may be %s', (id) => {
    expect(isId(id)).toBe(true)
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a.b', 'a/b', 'é', 'a\n', '%41'])('may not be %j', (id) => {
    expect(isId(id)).toBe(false)
  })
})
