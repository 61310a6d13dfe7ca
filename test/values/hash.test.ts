import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constantTimeEqual, hmacSha256, md5, sha1, sha256 } from '../../src/values/hash.js'

describe('hash functions', () => {
  it('match the test vectors of the standards', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(md5('abc')).toBe('900150983cd24fb0d6963f7d28e17f72')
    expect(sha1('abc')).toBe('a9993e364706816aba3e25717850c26c9cd0d89d')
    // RFC 4231, test case 2
    const mac = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    expect(hmacSha256('Jefe', 'what do ya want ', 'for nothing?').toString('hex')).toBe(mac)
  })

  it('compare strings correctly in constant time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(constantTimeEqual(a, b)).toBe(a === b)
        expect(constantTimeEqual(a, a)).toBe(true)
      }),
    )
  })
})
