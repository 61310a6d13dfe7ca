import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareSortKeys,
  decodePosition,
  decodeReplayPlace,
  decodeSortKey,
  encodePosition,
  encodeReplayPlace,
  encodeSortKey,
  type SortKey,
} from '../../src/wire/cursor.js'
import { hostileText } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'

const base64url = (content: string | Uint8Array) => Buffer.from(content).toString('base64url')
const URL_SAFE = /^[A-Za-z0-9_-]+$/

/** Texts that no encoder of cursors produces. */
const FOREIGN: [string, string][] = [
  ['empty text', ''],
  ['text that is not base64url', '!!!'],
  ['a start key in clear', 'p7'],
  ['an encoded space', base64url(' ')],
  ['an unknown prefix', base64url('x7')],
  ['bytes that are not UTF-8', base64url(Uint8Array.of(0x70, 0x37, 0xff))],
]

describe('the cursor of a position', () => {
  it('returns the position that it was made of', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (position) => {
        const cursor = encodePosition(position)
        expect(cursor).toMatch(URL_SAFE)
        expect(decodePosition(cursor)).toBe(position)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it.each([0, 1, 9, 10, Number.MAX_SAFE_INTEGER])('carries the position %d', (position) => {
    expect(decodePosition(encodePosition(position))).toBe(position)
  })

  it.each([-1, 1.5, Number.MAX_SAFE_INTEGER + 1, 1e21, Number.NaN, Infinity])(
    'is invalid for %d, which is no position',
    (position) => {
      expect(decodePosition(encodePosition(position))).toBeUndefined()
    },
  )

  it.each<[string, string]>([
    ...FOREIGN,
    ['no digits', base64url('p')],
    ['a leading zero', base64url('p07')],
    ['a sign', base64url('p+7')],
    ['a space', base64url('p 7')],
    ['a line break at its end', base64url('p7\n')],
    ['a hexadecimal number', base64url('p0x7')],
    ['17 digits', base64url('p10000000000000000')],
    ['digits other than ASCII', base64url('p٧')],
    ['the cursor of a sort key', encodeSortKey(['p7', '7'])],
  ])('rejects %s', (_, cursor) => {
    expect(decodePosition(cursor)).toBeUndefined()
  })

  it('is rejected in any other encoding of the same bytes', () => {
    expect(encodePosition(7)).toBe('cDc')
    for (const other of ['cDc=', 'cDd', ' cDc', 'cDc\n', 'cD c', 'cDc.']) {
      expect(Buffer.from(other, 'base64url').toString()).toBe('p7')
      expect(decodePosition(other)).toBeUndefined()
    }
  })
})

describe('the cursor of a replay', () => {
  const id = '0123456789abcdef'.repeat(2)

  it('returns the place that it was made of', () => {
    const cursor = encodeReplayPlace({ createdMs: 1_767_225_600_000, id })
    expect(cursor).toMatch(URL_SAFE)
    expect(decodeReplayPlace(cursor)).toEqual({ createdMs: 1_767_225_600_000, id })
  })

  it.each<[string, string]>([
    ...FOREIGN,
    ['the cursor of a position', encodePosition(7)],
    ['no id', base64url('r7-')],
    ['an id that is too short', base64url(`r7-${id.slice(1)}`)],
    ['an id in capitals', base64url(`r7-${id.toUpperCase()}`)],
    ['a leading zero', base64url(`r07-${id}`)],
    ['a time beyond 2^53', base64url(`r9999999999999999-${id}`)],
  ])('rejects %s', (_, cursor) => {
    expect(decodeReplayPlace(cursor)).toBeUndefined()
  })
})

const text = fc.oneof(hostileText({ maxLength: 20 }), fc.constantFrom('', '"', ',', '\ud800', '\udc00b'))
const sortKey: fc.Arbitrary<SortKey> = fc.tuple(text, text)

describe('the cursor of a sort key', () => {
  it('returns any name and id, with quotes, controls and lone surrogates', () => {
    fc.assert(
      fc.property(sortKey, (key) => {
        const cursor = encodeSortKey(key)
        expect(cursor).toMatch(URL_SAFE)
        expect(decodeSortKey(cursor)).toEqual(key)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('distinguishes where the name ends and the id begins', () => {
    const cursors = [encodeSortKey(['ab', 'c']), encodeSortKey(['a', 'bc']), encodeSortKey(['abc', ''])]
    expect(new Set(cursors).size).toBe(3)
  })

  it.each<[string, string]>([
    ...FOREIGN,
    ['the cursor of a position', encodePosition(7)],
    ['JSON that is cut off', base64url('k["a","b"')],
    ['one text', base64url('k["a"]')],
    ['three texts', base64url('k["a","b","c"]')],
    ['an empty list', base64url('k[]')],
    ['a name that is a number', base64url('k[1,"b"]')],
    ['an id that is null', base64url('k["a",null]')],
    ['an object', base64url('k{"0":"a","1":"b"}')],
    ['a list without the prefix', base64url('["a","b"]')],
    ['JSON with a space', base64url('k["a", "b"]')],
    ['JSON with a needless escape', base64url('k["\\u0061","b"]')],
    ['padding', `${encodeSortKey(['a', 'b'])}=`],
  ])('rejects %s', (_, cursor) => {
    expect(decodeSortKey(cursor)).toBeUndefined()
  })

  it('is never accepted in two spellings: whatever decodes encodes to the same cursor', () => {
    const content = fc.oneof(
      hostileText(),
      fc.tuple(fc.constantFrom('k', 'p'), fc.json()).map(([prefix, json]) => prefix + json),
      fc.tuple(text, text).map((key) => `k${JSON.stringify(key)}`),
    )
    fc.assert(
      fc.property(fc.oneof(hostileText(), content.map(base64url)), (cursor) => {
        const key = decodeSortKey(cursor)
        if (key !== undefined) expect(encodeSortKey(key)).toBe(cursor)
        const position = decodePosition(cursor)
        if (position !== undefined) expect(encodePosition(position)).toBe(cursor)
        expect(key === undefined || position === undefined).toBe(true)
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})

describe('compareSortKeys', () => {
  it.each<[SortKey, SortKey, number]>([
    [['a', '2'], ['b', '1'], -1],
    [['b', '1'], ['a', '2'], 1],
    [['a', '1'], ['a', '2'], -1],
    [['a', '2'], ['a', '1'], 1],
    [['a', '1'], ['a', '1'], 0],
    [['', 'z'], ['a', ''], -1],
    [['a', '10'], ['a', '9'], -1],
    [['Z', '1'], ['a', '1'], -1],
    [['z', '1'], ['ä', '1'], -1],
    [['\u{1f600}', '1'], ['\uffff', '1'], -1],
  ])('compares %j with %j by code units: %d', (a, b, expected) => {
    expect(compareSortKeys(a, b)).toBe(expected)
  })

  it('is a total order: antisymmetric, transitive, and equal only for equal keys', () => {
    fc.assert(
      fc.property(sortKey, sortKey, sortKey, (a, b, c) => {
        expect(compareSortKeys(a, b) + compareSortKeys(b, a)).toBe(0)
        expect(compareSortKeys(a, b) === 0).toBe(a[0] === b[0] && a[1] === b[1])
        const [low, middle, high] = [a, b, c].sort(compareSortKeys)
        expect(compareSortKeys(low!, middle!)).toBeLessThanOrEqual(0)
        expect(compareSortKeys(middle!, high!)).toBeLessThanOrEqual(0)
        expect(compareSortKeys(low!, high!)).toBeLessThanOrEqual(0)
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})
