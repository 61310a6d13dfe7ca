import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hmacSha256Base64 } from '../../src/values/digest.js'
import { anyText } from '../texts.js'

const reference = (key: Uint8Array, prefix: string, text: string) =>
  createHmac('sha256', key)
    .update(prefix + text, 'utf8')
    .digest('base64')

describe('HMAC-SHA-256 over texts', () => {
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
  ])('gives the known answer for the key %s', (key, text, mac) => {
    const given = hmacSha256Base64(Buffer.from(key, 'hex'), '', text)
    expect(Buffer.from(given, 'base64').toString('hex')).toBe(mac)
  })

  it('is what node says, for any key, prefix and text, one after the other', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), anyText({ maxLength: 300 }))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 150 }), text, text), { maxLength: 6 }),
        (calls) => {
          for (const [key, prefix, body] of [...calls, ...calls]) {
            expect(hmacSha256Base64(key, prefix, body)).toBe(reference(key, prefix, body))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is so around the longest text that is hashed at one go', () => {
    const key = Buffer.alloc(32, 7)
    for (const length of [10_830, 10_896, 10_901, 10_902, 10_920, 32_700, 32_768, 70_000, 10]) {
      for (const letter of ['a', 'ü', '電']) {
        const text = letter.repeat(length)
        expect(hmacSha256Base64(key, 'id.1.', text)).toBe(reference(key, 'id.1.', text))
      }
    }
  })
})
