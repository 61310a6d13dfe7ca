import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idKey, textKey } from '../../../adapters/storage/sqlite/text-key.js'
import { seededRandom } from '../../../src/testkit/random.js'
import { timedIdMaker } from '../../../src/values/ids.js'

const START_MS = Date.UTC(2026, 0, 1)

describe('the number by which SQLite finds a text', () => {
  it('is what files have had from the first on', () => {
    expect(textKey('')).toBe(35_186_538_225_093)
    expect(textKey('a1/call-1')).toBe(7_412_626_794_702_682)
    expect(idKey('019b76da8000aaaaaaaaaaaaaaaaaaaa')).toBe(3_865_252_597_010_827)
    expect(idKey('not-an-id-of-ours')).toBe(textKey('not-an-id-of-ours'))
  })

  it('is whole and exact for every text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{32}$/)), (text) => {
        for (const key of [textKey(text), idKey(text)]) {
          expect(Number.isSafeInteger(key) && key >= 0).toBe(true)
        }
      }),
    )
  })

  it('grows with the time that an id begins with, and differs within a moment', () => {
    let ms = START_MS
    const newId = timedIdMaker(seededRandom('keys').bytes, () => ms)
    const steps = Array.from({ length: 200 }, () => {
      ms += 32
      return Array.from({ length: 20 }, () => idKey(newId()))
    })
    for (const [index, keys] of steps.entries()) {
      const before = steps[index - 1]
      if (before) expect(Math.max(...before)).toBeLessThan(Math.min(...keys))
    }
    expect(new Set(steps.flat()).size).toBeGreaterThan(3_990)
  })
})
