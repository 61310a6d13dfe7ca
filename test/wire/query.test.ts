import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getQueryValue, parseQuery } from '../../src/wire/query.js'

describe('parseQuery', () => {
  it.each([
    ['/p', []],
    ['/p?', []],
    [
      '/p?a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['/p?a=x+y%20z', [['a', 'x y z']]],
    ['/p?a+b=1', [['a b', '1']]],
    ['/p?a%2Bb=%2B', [['a+b', '+']]],
    ['/p?a', [['a', '']]],
    ['/p?a==b', [['a', '=b']]],
    ['/p?a=1?b', [['a', '1?b']]],
    ['/p?&&a=1&', [['a', '1']]],
    [
      '/p?a=%zz&b=%ff',
      [
        ['a', '%zz'],
        ['b', '%ff'],
      ],
    ],
    ['/p?=x', [['', 'x']]],
  ])('parses %s', (url, pairs) => {
    expect(parseQuery(url)).toEqual(pairs)
  })

  it('parses the output of URLSearchParams', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        expect(parseQuery(`/p?${new URLSearchParams(pairs)}`)).toEqual(pairs)
      }),
    )
  })

  it('returns the first of several values', () => {
    expect(getQueryValue(parseQuery('/?a=1&a=2'), 'a')).toBe('1')
    expect(getQueryValue(parseQuery('/?a=1'), 'b')).toBeUndefined()
  })
})
