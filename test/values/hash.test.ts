import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  constantTimeEqual,
  HmacKey,
  hmacSha256,
  hmacSha256Base64,
  md5,
  sha1,
  sha256,
} from '../../src/values/hash.js'
import { hostileText } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'

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

const reference = (key: Uint8Array, prefix: string, text: string) =>
  createHmac('sha256', key)
    .update(prefix + text, 'utf8')
    .digest('base64')

describe('hmacSha256Base64', () => {
  // RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
  it.each([
    ['0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      '4a656665',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      'aa'.repeat(131),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('matches the test vector for the key %s', (key, text, mac) => {
    const result = hmacSha256Base64(new HmacKey(Buffer.from(key, 'hex')), '', text)
    expect(Buffer.from(result, 'base64').toString('hex')).toBe(mac)
  })

  it('equals createHmac for any sequence of keys, prefixes and texts', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), hostileText({ maxLength: 300 }))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 150 }), text, text), { maxLength: 6 }),
        (calls) => {
          const keys = calls.map(([key]) => new HmacKey(key))
          for (const [index, [key, prefix, body]] of [...calls.entries(), ...calls.entries()]) {
            expect(hmacSha256Base64(keys[index]!, prefix, body)).toBe(reference(key, prefix, body))
          }
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })

  it('equals createHmac around the maximum length of one-shot hashing', () => {
    const key = Buffer.alloc(32, 7)
    for (const length of [10_830, 10_896, 10_901, 10_902, 10_920, 32_700, 32_768, 70_000, 10]) {
      for (const letter of ['a', 'ü', '電']) {
        const text = letter.repeat(length)
        expect(hmacSha256Base64(new HmacKey(key), 'id.1.', text)).toBe(reference(key, 'id.1.', text))
      }
    }
  })
})
