import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey, idHashKey } from '../../../adapters/storage/sqlite/hash-key.js'
import { seededRandom } from '../../../src/testkit/random.js'
import { createTimeOrderedIdGenerator } from '../../../src/values/ids.js'

const START_MS = Date.UTC(2026, 0, 1)

describe('the hash key of a string', () => {
  it('never changes, because files contain it', () => {
    expect(hashKey('')).toBe(35_186_538_225_093)
    expect(hashKey('a1/call-1')).toBe(7_412_626_794_702_682)
    expect(idHashKey('019b76da8000aaaaaaaaaaaaaaaaaaaa')).toBe(3_865_252_597_536_346)
    expect(idHashKey('not-an-id-of-ours')).toBe(hashKey('not-an-id-of-ours'))
  })

  it('of the id of a delivery is that of its event', () => {
    const eventId = '019b76da8000aaaaaaaaaaaaaaaaaaaa'
    expect(idHashKey(`${eventId.slice(0, 24)}01234567`)).toBe(idHashKey(eventId))
  })

  it('is a safe non-negative integer for every string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{32}$/)), (text) => {
        for (const key of [hashKey(text), idHashKey(text)]) {
          expect(Number.isSafeInteger(key) && key >= 0).toBe(true)
        }
      }),
    )
  })

  it('grows with the time in an id, and differs for ids of the same time', () => {
    let ms = START_MS
    const newId = createTimeOrderedIdGenerator(seededRandom('keys').bytes, () => ms)
    const steps = Array.from({ length: 200 }, () => {
      ms += 32
      return Array.from({ length: 20 }, () => idHashKey(newId()))
    })
    for (const [index, keys] of steps.entries()) {
      const before = steps[index - 1]
      if (before) expect(Math.max(...before)).toBeLessThan(Math.min(...keys))
    }
    expect(new Set(steps.flat()).size).toBeGreaterThan(3_990)
  })
})
