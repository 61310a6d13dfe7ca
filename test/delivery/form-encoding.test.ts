import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formEncode, formEscape } from '../../src/delivery/form-encoding.js'

const text = fc.string({ unit: 'grapheme' })

describe('formEncode', () => {
  it.each<[string, object, string]>([
    ['space is a plus', { a: 'b c' }, 'a=b+c'],
    ['a plus is escaped', { a: '1+1' }, 'a=1%2B1'],
    ['unreserved characters are unchanged', { a: 'AZaz09.-_~' }, 'a=AZaz09.-_~'],
    [
      'everything else is %XX in upper case',
      { a: '!\'()*@:/?#[]&=%;,$"' },
      'a=%21%27%28%29%2A%40%3A%2F%3F%23%5B%5D%26%3D%25%3B%2C%24%22',
    ],
    ['other scripts are UTF-8', { a: 'é€😀' }, 'a=%C3%A9%E2%82%AC%F0%9F%98%80'],
    ['line ends are escaped', { a: 'x\r\ny' }, 'a=x%0D%0Ay'],
    ['booleans are words', { a: true, b: false }, 'a=true&b=false'],
    ['numbers are decimal', { a: 0, b: 63_871_372_800, c: 1.5, d: -2 }, 'a=0&b=63871372800&c=1.5&d=-2'],
    ['arrays repeat their key', { a: ['x', 1] }, 'a[]=x&a[]=1'],
    ['objects put their keys in brackets', { a: { b: 'c', d: 'e' } }, 'a[b]=c&a[d]=e'],
    ['deeper objects nest their brackets', { a: { b: { c: 1 }, d: [2] } }, 'a[b][c]=1&a[d][]=2'],
    ['key parts are escaped, brackets are not', { 'a b': { 'c]d': 1 } }, 'a+b[c%5Dd]=1'],
    [
      'empty objects, empty lists, null and undefined are left out',
      { a: {}, b: [], c: null, d: undefined, e: '' },
      'e=',
    ],
    ['keys keep their order', { z: 1, a: 2, m: 3 }, 'z=1&a=2&m=3'],
    ['an empty key is a key', { '': 'x' }, '=x'],
    ['an empty object is an empty string', {}, ''],
  ])('%s', (_, object, expected) => {
    expect(formEncode(object as Record<string, unknown>)).toBe(expected)
  })

  it('decodes to the same flat object', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        const object = Object.fromEntries(pairs)
        expect([...new URLSearchParams(formEncode(object))]).toEqual(Object.entries(object))
      }),
    )
  })

  it('decodes every leaf of a nested object under its path', () => {
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(text, fc.integer().map(String), fc.boolean().map(String)),
      tree: fc.dictionary(
        fc.stringMatching(/^[a-z ]{1,4}$/),
        fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('tree')),
      ),
    }))
    const leaves = (value: unknown, path: string): [string, string][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, member]) =>
            leaves(member, path === '' ? key : `${path}[${key}]`),
          )
        : [[path, String(value)]]
    fc.assert(
      fc.property(tree, (object) => {
        const encoded = formEncode(object as Record<string, unknown>)
        expect([...new URLSearchParams(encoded)]).toEqual(leaves(object, ''))
      }),
    )
  })

  it('produces no character that a URL parser would change in a query', () => {
    fc.assert(
      fc.property(text, (value) => {
        const url = `https://example.com/?a=${formEscape(value)}`
        expect(new URL(url).href).toBe(url)
      }),
    )
  })
})
