import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonProblem, toCanonicalJson } from '../../src/values/canonical-json.js'
import { propertyRuns } from '../support/property-runs.js'

// Round trip: turns negative zero, which JSON parses but does not write, into zero.
const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** The same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const)
  return Object.fromEntries(members.reverse())
}

describe('toCanonicalJson', () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: { d: [2, { z: 0, y: null }], c: 'x' } }, '{"a":{"c":"x","d":[2,{"y":null,"z":0}]},"b":1}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['é"', '"é\\""'],
    [undefined, 'null'],
    [null, 'null'],
  ])('of %j is %s', (value, text) => {
    expect(toCanonicalJson(value)).toBe(text)
  })

  it('is equal for values that differ only in key order, and parses to the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(toCanonicalJson(reversed(value))).toBe(toCanonicalJson(value))
        expect(JSON.parse(toCanonicalJson(value))).toEqual(value)
      }),
    )
  })

  it('differs for different values', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(toCanonicalJson(left) === toCanonicalJson(right)).toBe(
          JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)),
        )
      }),
    )
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)]
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return ['object', ...members.map(([key, member]) => [key, sorted(member)])]
}

describe('findJsonProblem', () => {
  it('finds a problem, or the value survives a JSON round trip', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        if (findJsonProblem(value, 10) !== undefined) return
        const read: unknown = JSON.parse(JSON.stringify(value))
        expect(toCanonicalJson(read)).toBe(toCanonicalJson(value))
        expect(read).toEqual(value)
      }),
      { numRuns: propertyRuns(1000) },
    )
  })

  it('finds no problem in parsed JSON but the name __proto__', () => {
    fc.assert(
      fc.property(json, (value) => {
        // A quotation mark inside a string has a backslash.
        const hasName = JSON.stringify(value).includes('"__proto__":')
        const expected = hasName ? 'is a name that is not allowed' : undefined
        expect(findJsonProblem(value, 10)?.problem).toBe(expected)
      }),
      { examples: [[JSON.parse('[{"__proto__":false}]')]] },
    )
  })

  it.each<[unknown, string, string]>([
    [undefined, '', 'undefined'],
    [{ b: [Number.NaN] }, 'b.0', 'finite'],
    [{ a: -0 }, 'a', 'negative zero'],
    [['\ud83d'], '0', 'surrogate'],
    [{ a: Symbol('x') }, 'a', 'symbol'],
    [{ a: new (class Own {})() }, 'a', 'plain'],
    [[[[]]], '0.0', 'deeply'],
    [{ a: Object.assign([1], { toJSON: () => 2 }) }, 'a', 'toJSON'],
  ])('%o: at "%s", %s', (value, path, problem) => {
    expect(findJsonProblem(value, 2)).toMatchObject({ path, problem: expect.stringContaining(problem) })
  })
})
