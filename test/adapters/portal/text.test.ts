import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashCredentials, setDigest } from '../../../adapters/portal/app/api/credentials.js'
import { curlCommand, quote } from '../../../adapters/portal/app/text/curl.js'
import { fromGregorian, toGregorian } from '../../../adapters/portal/app/text/gregorian-time.js'
import { indentJson } from '../../../adapters/portal/app/text/json-tokens.js'
import { formatMessage } from '../../../adapters/portal/app/text/plural.js'
import { sha1 } from '../../../adapters/portal/app/text/sha1.js'
import {
  clockTime,
  dayTime,
  duration,
  exactTime,
  isSameDay,
  longDate,
  offset,
  parseInputTime,
  roughSpan,
  shortDate,
  span,
  zoneCity,
  zoneName,
} from '../../../adapters/portal/app/text/times.js'

describe('SHA-1', () => {
  it('is that of Node for every length around a block', () => {
    for (let length = 0; length < 200; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 255)
      expect(sha1(bytes), String(length)).toBe(createHash('sha1').update(bytes).digest('hex'))
    }
  })

  it('is that of Node for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
        expect(sha1(bytes)).toBe(createHash('sha1').update(bytes).digest('hex'))
      }),
    )
  })

  it('makes the credentials of a login', () => {
    expect(() => hashCredentials('a', 'b', 'sha')).toThrow('sha')
    setDigest(sha1)
    const expected = createHash('sha1').update('Ünal:pässword').digest('hex')
    expect(hashCredentials('Ünal', 'pässword', 'sha')).toBe(expected)
    expect(() => hashCredentials('a', 'b')).toThrow('sha')
  })
})

const joined = (source: string) =>
  indentJson(source)
    ?.map(({ text }) => text)
    .join('')

describe('JSON tokens', () => {
  it('indent and keep every digit and escape', () => {
    const source =
      '{"big":12345678901234567890.10,"e":1E+400,"s":"\\u0041\\"","l":[],"o":{},"a":[1,{"b":null}]}'
    expect(joined(source)).toBe(`{
  "big": 12345678901234567890.10,
  "e": 1E+400,
  "s": "\\u0041\\"",
  "l": [],
  "o": {},
  "a": [
    1,
    {
      "b": null
    }
  ]
}`)
  })

  it('are undefined for what is not JSON', () => {
    for (const source of ['', '{', 'plain', "{'a':1}", '{"a":1}}', '[1,]', '<script>']) {
      expect(indentJson(source), source).toBeUndefined()
    }
  })

  it('mean what the source means', () => {
    fc.assert(
      fc.property(fc.json(), (source) => {
        expect(JSON.parse(joined(source)!)).toEqual(JSON.parse(source))
      }),
    )
  })

  it('tell keys, strings, numbers and literals apart', () => {
    const kinds = indentJson('{"a":["b",-1.5e3,true,null]}')!
      .filter(({ kind }) => kind !== 'space' && kind !== 'punctuation')
      .map(({ kind, text }) => `${kind} ${text}`)
    expect(kinds).toEqual(['key "a"', 'string "b"', 'number -1.5e3', 'literal true', 'literal null'])
  })

  it('take nesting of any depth', () => {
    const depth = 5_000
    expect(indentJson('['.repeat(depth) + ']'.repeat(depth))).toHaveLength(depth * 4 - 2)
  })
})

describe('the curl command', () => {
  it('asks the shell for what was redacted, and leaves out what curl computes', () => {
    const command = curlCommand({
      method: 'post',
      uri: 'https://crm.example/in?a=1&b=$(id)',
      headers: { 'content-type': 'application/json', authorization: '[redacted]', 'content-length': '9' },
      body: `{"name":"O'Brien"}`,
    })
    expect(command).toBe(
      [
        `curl -X 'POST' 'https://crm.example/in?a=1&b=$(id)'`,
        `-H 'content-type: application/json'`,
        `-H 'authorization: '"$AUTHORIZATION"`,
        `--data-raw '{"name":"O'\\''Brien"}'`,
      ].join(' \\\n  '),
    )
  })

  it('quotes so that a shell passes every text on unchanged', () => {
    const texts = [
      "it's",
      '$(touch file)',
      '`id`',
      '"',
      '\\',
      '\n',
      '!',
      '*',
      "''",
      '-n',
      'é😀',
      '; rm -rf /',
    ]
    for (const text of texts) {
      const printed = execFileSync('sh', ['-c', `printf %s ${quote(text)}`], { encoding: 'utf8' })
      expect(printed).toBe(text)
    }
  })
})

describe('times', () => {
  const NOW = Date.UTC(2026, 0, 31, 2, 31, 25)

  const unit = (name: string, count: number) => `${count} ${name}`

  it('last in at most two units, of which a second of zero is left out', () => {
    const cases: readonly (readonly [number, string])[] = [
      [-5, '0 ms'],
      [31.4, '31 ms'],
      [999, '999 ms'],
      [2_140, '2.1 seconds'],
      [37_900, '37 seconds'],
      [221_000, '3 minutes 41 seconds'],
      [180_500, '3 minutes'],
      [47 * 60_000 + 59_000, '47 minutes'],
      [107 * 60_000, '1 hours 47 minutes'],
      [2 * 3_600_000, '2 hours'],
      [47 * 3_600_000, '47 hours'],
      [3 * 86_400_000 + 5, '3 days'],
    ]
    for (const [ms, text] of cases) expect(span(ms, unit)).toBe(text)
  })

  it('pass in the largest unit that fits', () => {
    const cases = [-1, 4_000, 119_000, 3_600_000, 86_400_000, 3 * 86_400_000]
    expect(cases.map((ms) => roughSpan(ms, unit))).toEqual([
      '0 seconds',
      '4 seconds',
      '1 minutes',
      '1 hours',
      '24 hours',
      '3 days',
    ])
  })

  it('have a date where the day is another one, and a year where the year is', () => {
    const day = 86_400_000
    expect(dayTime(NOW - 3_600_000, NOW, 'utc', 'en')).toBe('01:31')
    expect(dayTime(NOW - 2 * day, NOW, 'utc', 'en')).toBe('Thu 29 Jan 02:31')
    expect(dayTime(NOW - 2 * day, NOW, 'utc', 'de')).toBe('Do., 29. Jan. 02:31')
    expect(dayTime(NOW - 40 * day, NOW, 'utc', 'en')).toBe('Mon 22 Dec 2025 02:31')
    expect(longDate(NOW, NOW, 'utc', 'en')).toBe('Saturday 31 January')
    expect(longDate(NOW, NOW, 'utc', 'de')).toBe('Samstag, 31. Januar')
    expect(shortDate(Number.NaN, NOW, 'utc', 'en')).toBe('–')
    // The day is that of the zone.
    expect(isSameDay(Date.UTC(2026, 0, 31), Date.UTC(2026, 0, 31, 23, 59), 'utc')).toBe(true)
    expect(isSameDay(new Date(2026, 0, 31).getTime(), new Date(2026, 0, 30, 23, 59).getTime(), 'local')).toBe(
      false,
    )
    expect([zoneName('utc'), zoneCity('utc')]).toEqual(['UTC', 'UTC'])
    expect(zoneName('local').endsWith(zoneCity('local').replaceAll(' ', '_'))).toBe(true)
  })

  it('are exact in UTC or in the zone of the browser', () => {
    expect(exactTime(NOW + 412, 'utc')).toBe('2026-01-31 02:31:25.412')
    expect(clockTime(NOW, 'utc')).toBe('02:31:25.000')
    const local = new Date(NOW)
    expect(exactTime(NOW, 'local').slice(11, 13)).toBe(String(local.getHours()).padStart(2, '0'))
    expect(exactTime(Number.NaN, 'utc')).toBe('–')
    expect(exactTime(Number.POSITIVE_INFINITY, 'local')).toBe('–')
  })

  it('have durations in a fitting unit', () => {
    expect([0, 31.4, 999, 1_000, 2_140, 60_000, 5_400_000, 172_800_000].map(duration)).toEqual([
      '0 ms',
      '31 ms',
      '999 ms',
      '1 s',
      '2.1 s',
      '1 min',
      '1.5 h',
      '2 d',
    ])
    expect(offset(412)).toBe('+0.412')
  })

  it('are read from an input in either zone', () => {
    expect(parseInputTime('2026-01-31T02:31', 'utc')).toBe(Date.UTC(2026, 0, 31, 2, 31))
    expect(parseInputTime('2026-01-31T02:31', 'local')).toBe(new Date(2026, 0, 31, 2, 31).getTime())
    expect(parseInputTime('', 'utc')).toBeUndefined()
    expect(parseInputTime('tomorrow', 'utc')).toBeUndefined()
  })

  it('are those of the API in Gregorian seconds', () => {
    expect(toGregorian(0)).toBe(62_167_219_200)
    expect(fromGregorian(toGregorian(NOW))).toBe(NOW)
  })
})

describe('messages', () => {
  const messages = {
    'call.legs_one': '{count} leg',
    'call.legs_other': '{count} legs',
    hello: 'Hello {name}, {missing}',
  }

  it('have the plural form and the numbers of the language', () => {
    expect(formatMessage(messages, 'en', 'call.legs', { count: 1 })).toBe('1 leg')
    expect(formatMessage(messages, 'en', 'call.legs', { count: 1_204 })).toBe('1,204 legs')
    expect(formatMessage(messages, 'de', 'call.legs', { count: 1_204 })).toBe('1.204 legs')
  })

  it('keep placeholders without a value, insert values once, and show unknown keys', () => {
    expect(formatMessage(messages, 'en', 'hello', { name: '{missing}' })).toBe('Hello {missing}, {missing}')
    expect(formatMessage(messages, 'en', 'nothing')).toBe('nothing')
    expect(formatMessage(messages, 'en', 'hello', { constructor: 'x' })).toContain('{name}')
  })

  it('end with one full stop', () => {
    const next = { next: 'Erneut {time}.' }
    expect(formatMessage(next, 'de', 'next', { time: 'in 1 Min.' })).toBe('Erneut in 1 Min.')
    expect(formatMessage(next, 'de', 'next', { time: 'jetzt' })).toBe('Erneut jetzt.')
  })
})
