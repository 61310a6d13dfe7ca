import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromGregorian, toGregorian } from '../../src/values/gregorian-time.js'

describe('Gregorian seconds', () => {
  it('are counted from year 0, rounded down', () => {
    expect(toGregorian(0)).toBe(62_167_219_200)
    expect(toGregorian(999)).toBe(62_167_219_200)
    expect(toGregorian(-1)).toBe(62_167_219_199)
    expect(toGregorian(Date.UTC(2024, 1, 29, 12))).toBe(63_876_427_200)
  })

  it('convert back to the start of their second', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 8e15 }), (ms) => {
        expect(fromGregorian(toGregorian(ms))).toBe(Math.floor(ms / 1000) * 1000)
      }),
    )
  })
})
