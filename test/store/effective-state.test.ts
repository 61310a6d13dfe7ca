import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { truncateUtf8 } from '../../src/store/effective-state.js'
import { hostileText } from '../support/hostile-text.js'

describe('cutToBytes', () => {
  it('returns the longest prefix that fits and never splits a character', () => {
    const text = hostileText({ maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(60), (whole, bytes) => {
        const cut = truncateUtf8(whole, bytes)
        expect(whole.startsWith(cut)).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes)
        const [next] = whole.slice(cut.length)
        if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(bytes)
      }),
    )
  })
})
