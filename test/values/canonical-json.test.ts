import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, jsonProblem } from '../../src/values/canonical-json.js'

// Written and read once: negative zero, which JSON reads but does not write, is zero then.
const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** The same value with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const)
  return Object.fromEntries(members.reverse())
}

describe('canonical JSON', () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: { d: [2, { z: 0, y: null }], c: 'x' } }, '{"a":{"c":"x","d":[2,{"y":null,"z":0}]},"b":1}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['é"', '"é\\""'],
    [undefined, 'null'],
    [null, 'null'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('is the same for equal values, whatever the order of their keys, and reads back as the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(value)
      }),
    )
  })

  it('differs for different values', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(
          JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)),
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

describe('what JSON cannot carry', () => {
  it('is found wherever it is, or the value arrives equal to itself', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        if (jsonProblem(value, 10) !== undefined) return
        const read: unknown = JSON.parse(JSON.stringify(value))
        expect(canonicalJson(read)).toBe(canonicalJson(value))
        expect(read).toEqual(value)
      }),
      { numRuns: 1000 },
    )
  })

  it('is nothing of what came from JSON', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(jsonProblem(value, 10)).toBeUndefined()
      }),
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
    expect(jsonProblem(value, 2)).toMatchObject({ path, problem: expect.stringContaining(problem) })
  })
})
