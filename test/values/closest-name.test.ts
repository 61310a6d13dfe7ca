import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closestName, editDistance } from '../../src/values/closest-name.js'

describe('closestName', () => {
  const NAMES = [
    'retryPolicy',
    'policies',
    'log',
    'tls',
    'channel_create',
    'channel_destroy',
    'attemptTimeoutMs',
  ]

  it.each([
    ['retrypolicy', 'retryPolicy'],
    ['retryPolciy', 'retryPolicy'],
    ['logs', 'log'],
    ['channel_created', 'channel_create'],
    ['channel_destory', 'channel_destroy'],
    ['CHANNEL_CREATE', 'channel_create'],
    ['attemptTimeout', 'attemptTimeoutMs'],
    ['attemptTimeoutMsec', 'attemptTimeoutMs'],
  ])('suggests for %s the name %s', (name, suggestion) => {
    expect(closestName(name, NAMES)).toBe(suggestion)
  })

  it.each([[''], ['x'], ['to'], ['colour'], ['channel_transfer'], ['r'.repeat(10_000)]])(
    'suggests nothing for %.20s',
    (name) => {
      expect(closestName(name, NAMES)).toBeUndefined()
    },
  )

  it('prefers the name with the fewest edits, and the first of several', () => {
    expect(closestName('hook', ['hooked', 'hooks', 'books'])).toBe('hooks')
    expect(closestName('allow', ['allowx', 'allowy'])).toBe('allowx')
  })

  it('prefers few edits to a prefix', () => {
    expect(closestName('allows', ['all', 'allow'])).toBe('allow')
  })
})

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'acb', 1],
    ['abc', 'ab', 1],
    ['abc', 'abd', 1],
    ['ca', 'abc', 3],
    ['kitten', 'sitting', 3],
  ])('from %j to %j is %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance)
  })

  it('is symmetric, and zero only for equal texts', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(editDistance(left, right)).toBe(editDistance(right, left))
        expect(editDistance(left, right) === 0).toBe(left === right)
      }),
    )
  })
})
