import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutToBytes } from '../../src/store/reading.js'
import { anyText } from '../texts.js'

describe('cutToBytes', () => {
  it('gives the longest beginning that fits and splits no character', () => {
    const text = anyText({ maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(60), (whole, bytes) => {
        const cut = cutToBytes(whole, bytes)
        expect(whole.startsWith(cut)).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes)
        const [next] = whole.slice(cut.length)
        if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(bytes)
      }),
    )
  })
})
