import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { queryValue, readQuery } from '../../src/wire/query.js'

describe('readQuery', () => {
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
  ])('reads %s', (url, pairs) => {
    expect(readQuery(url)).toEqual(pairs)
  })

  it('reads back what URLSearchParams writes', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        expect(readQuery(`/p?${new URLSearchParams(pairs)}`)).toEqual(pairs)
      }),
    )
  })

  it('takes the first of several values', () => {
    expect(queryValue(readQuery('/?a=1&a=2'), 'a')).toBe('1')
    expect(queryValue(readQuery('/?a=1'), 'b')).toBeUndefined()
  })
})
