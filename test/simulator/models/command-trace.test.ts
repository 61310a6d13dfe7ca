import { describe, expect, it } from 'vitest'
import { isEqual } from '../../../src/simulator/models/command-trace.js'

describe('isEqual', () => {
  it.each([
    [
      { a: 1, b: [2, { c: null }] },
      { b: [2, { c: null }], a: 1 },
    ],
    [{ a: 1, b: undefined }, { a: 1 }],
    [undefined, null],
    [-0, 0],
    [new Date(5), new Date(5)],
  ])('is true for %j and %j', (left, right) => {
    expect([isEqual(left, right), isEqual(right, left)]).toEqual([true, true])
  })

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: null }, {}],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [JSON.parse('{"__proto__":{}}'), { a: 1 }],
    [
      { constructor: Object, x: 1 },
      { a: 1, x: 1 },
    ],
    [new Date(5), new Date(6)],
    [{ at: new Date(5) }, { at: {} }],
    [Array(1), [5]],
  ])('is false for %j and %j', (left, right) => {
    expect([isEqual(left, right), isEqual(right, left)]).toEqual([false, false])
  })
})
