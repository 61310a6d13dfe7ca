import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toGregorian } from '../../src/values/gregorian-time.js'
import { isFailure, parseTime } from '../../src/wire/time.js'

const NOON = Date.UTC(2026, 0, 31, 12)
const span = (value: unknown) => {
  const parsed = parseTime('created_from', value)
  return isFailure(parsed) ? parsed.rule : [parsed.firstMs, parsed.lastMs]
}

describe('a time in a request', () => {
  it.each<[unknown, number, number]>([
    [63_937_080_000, 0, 999],
    ['63937080000', 0, 999],
    ['2026-01-31T12:00:00Z', 0, 999],
    ['2026-01-31T12:00Z', 0, 999],
    ['2026-01-31T13:00:00+01:00', 0, 999],
    ['2026-01-31T13:00:00 01:00', 0, 999],
    ['2026-01-31T06:30:00-05:30', 0, 999],
    ['2026-01-31T12:00:00.250Z', 250, 250],
    ['2026-01-31T12:00:00.250999Z', 250, 250],
    ['2026-01-31', -43_200_000, 43_199_999],
  ])('%j is a span', (value, first, last) => {
    expect(span(value)).toEqual([NOON + first, NOON + last])
  })

  it.each([
    ['', 'type'],
    ['soon', 'type'],
    ['2026-01-31T12:00:00', 'type'],
    ['2026-02-30T12:00:00Z', 'type'],
    ['2026-02-30', 'type'],
    ['2026-13-01T00:00:00Z', 'type'],
    ['2026-01-31T25:00:00Z', 'type'],
    ['31.01.2026', 'type'],
    ['1e3', 'type'],
    [1.5, 'type'],
    [null, 'type'],
    [-1, 'minimum'],
    ['-1', 'minimum'],
    [315_569_520_000, 'maximum'],
  ])('%j is refused', (value, rule) => {
    expect(span(value)).toBe(rule)
  })

  it('means the same in both forms', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        const iso = new Date(seconds * 1000).toISOString().replace('.000', '')
        expect(span(iso)).toEqual(span(toGregorian(seconds * 1000)))
      }),
    )
  })

  it('that is refused is explained', () => {
    expect(parseTime('created_to', 'soon')).toEqual({
      path: 'created_to',
      rule: 'type',
      message: 'Value must be a time: Gregorian seconds, or ISO 8601 such as 2026-01-31T12:00:00Z',
      target: 'Gregorian seconds or ISO 8601',
      value: 'soon',
    })
  })
})
