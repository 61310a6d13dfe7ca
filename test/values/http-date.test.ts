import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHttpDate } from '../../src/values/http-date.js'

const NOW = Date.UTC(2026, 6, 1)
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** The three forms of RFC 9110 5.6.7, formatted with `Date`. */
function forms(ms: number): readonly [imf: string, rfc850: string, asctime: string] {
  const date = new Date(ms)
  const imf = date.toUTCString()
  const [, day, month, year, time] = /, (\d\d) (\w+) (\d+) (.+) GMT/.exec(imf)!
  const name = DAYS[date.getUTCDay()]!
  return [
    imf,
    `${name}, ${day}-${month}-${year!.slice(-2)} ${time} GMT`,
    `${name.slice(0, 3)} ${month} ${String(Number(day)).padStart(2, ' ')} ${time} ${year}`,
  ]
}

describe('parseHttpDate', () => {
  it('parses all three forms', () => {
    const seconds = fc.integer({ min: Date.UTC(1977, 0, 1) / 1000, max: Date.UTC(2075, 0, 1) / 1000 })
    fc.assert(
      fc.property(seconds, (at) => {
        for (const text of forms(at * 1000)) expect(parseHttpDate(text, NOW)).toBe(at * 1000)
      }),
    )
  })

  it('parses any four-digit year', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (at) => {
        const [imf, , asctime] = forms(at * 1000)
        expect(parseHttpDate(imf, NOW)).toBe(at * 1000)
        expect(parseHttpDate(asctime, NOW)).toBe(at * 1000)
      }),
    )
  })

  it.each([
    ['76', 2076],
    ['77', 1977],
    ['26', 2026],
    ['99', 1999],
    ['00', 2000],
  ])('reads a two-digit year as at most fifty years ahead: %s is %i', (digits, year) => {
    expect(parseHttpDate(`Monday, 15-Jun-${digits} 00:00:00 GMT`, NOW)).toBe(Date.UTC(year, 5, 15))
  })

  it('accepts leap seconds and leap days', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW)).toBe(Date.UTC(2017, 0, 1))
    expect(parseHttpDate('Sat, 29 Feb 2020 00:00:00 GMT', NOW)).toBe(Date.UTC(2020, 1, 29))
  })

  it.each([
    '',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun,  06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 8:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Mon, 29 Feb 2021 08:49:37 GMT',
    'Thu, 29 Feb 1900 08:49:37 GMT',
    'Mon, 32 Dec 2021 08:49:37 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sun Nov 06 08:49:37 94',
    'Sun Nov 6 08:49:37 1994',
    '1994-11-06T08:49:37Z',
  ])('rejects %j', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined()
  })

  it('accepts no other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^[A-Z][a-z]{2,8},? [0-9 :A-Za-z-]{0,30}$/)),
        (text) => {
          const at = parseHttpDate(text, NOW)
          if (at !== undefined) expect(forms(at)).toContain(text)
        },
      ),
    )
  })
})
