import { describe, expect, it } from 'vitest'
import { constant, custom, exponential, schedule } from '../../src/delivery/policy.js'

describe('an invalid retry policy', () => {
  it.each([
    ['baseMs', () => exponential({ baseMs: -1 })],
    ['capMs', () => exponential({ baseMs: 10, capMs: 5 })],
    ['factor', () => exponential({ factor: 0.5 })],
    ['jitter', () => exponential({ jitter: 2 })],
    ['delayMs', () => constant(Number.NaN)],
    ['delaysMs', () => schedule([])],
    ['delaysMs[1]', () => schedule([1, Number.POSITIVE_INFINITY])],
    ['name', () => custom('')],
  ])('throws and names the field: %s', (field, make) => {
    expect(make).toThrow(`retryPolicy.${field}`)
  })
})
