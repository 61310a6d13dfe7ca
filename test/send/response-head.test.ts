import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ResponseHeadDecoder } from '../../src/send/response-head.js'

const encode = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'latin1'))
const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })

describe('ResponseHeadDecoder', () => {
  it('decodes every head as it was received, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(latin1, { maxLength: 6 }), { maxLength: 6 }), (heads) => {
        const decoder = new ResponseHeadDecoder()
        for (const head of heads) {
          expect(decoder.decode(encode(head))).toEqual(head)
          expect(decoder.decode(encode([...head, 'x']))).toEqual([...head, 'x'])
        }
      }),
    )
  })

  it('returns the same list for the same bytes, and a new one after any change', () => {
    const decoder = new ResponseHeadDecoder()
    const head = ['Date', 'Mon', 'X-Name', 'caf\xe9']
    const first = decoder.decode(encode(head))
    expect(decoder.decode(encode(head))).toBe(first)
    for (const [index, text] of [
      [0, 'date'],
      [1, 'Tue'],
      [3, 'cafe'],
      [3, 'caf\xe9s'],
    ] as const) {
      const changed = head.with(index, text)
      expect(decoder.decode(encode(changed))).toEqual(changed)
      expect(decoder.decode(encode(head))).toEqual(head)
    }
  })

  it('returns lists that cannot be changed', () => {
    const headers = new ResponseHeadDecoder().decode(encode(['a', 'b'])) as string[]
    expect(() => headers.push('c')).toThrow(TypeError)
  })
})
