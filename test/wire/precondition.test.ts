import { describe, expect, it } from 'vitest'
import { allowedRevisions, matchesRevision } from '../../src/wire/precondition.js'

describe('matchesRevision', () => {
  it.each([
    ['"3"', true],
    ['W/"3"', true],
    ['"1", "3"', true],
    ['*', true],
    ['"33"', false],
    ['3', false],
    [undefined, false],
    ['', false],
  ])('compares revision 3 with If-None-Match: %s', (sent, expected) => {
    expect(matchesRevision(sent, 3)).toBe(expected)
  })
})

describe('allowedRevisions', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"3"', [3]],
    ['"3", "5"', [3, 5]],
    ['W/"3"', []],
    ['3', []],
    ['"03"', []],
    ['"0"', []],
    ['"abc"', []],
    ['', []],
  ])('parses If-Match: %s', (sent, expected) => {
    expect(allowedRevisions(sent)).toEqual(expected)
  })
})
