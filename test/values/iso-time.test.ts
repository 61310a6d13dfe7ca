import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toIsoTime } from '../../src/values/iso-time.js'

describe('toIsoTime', () => {
  it('formats every time as Date does', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 8_640_000_000_000_000 }), (ms) => {
        expect(toIsoTime(ms)).toBe(new Date(ms).toISOString())
      }),
    )
  })

  it.each([0, -1, 951_782_400_000, 951_868_799_999, 4_107_542_400_000, -62_167_219_200_001])(
    'formats the edge case %d as Date does',
    (ms) => {
      expect(toIsoTime(ms)).toBe(new Date(ms).toISOString())
    },
  )

  it('rounds fractions down', () => {
    expect(toIsoTime(1.9)).toBe('1970-01-01T00:00:00.001Z')
  })
})
