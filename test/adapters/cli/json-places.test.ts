import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FormatError, parseJson } from '../../../adapters/cli/json-places.js'
import { hostileText } from '../../support/hostile-text.js'
import { propertyRuns } from '../../support/property-runs.js'

const textAt = (text: string, { line, column }: { line: number; column: number }) =>
  text
    .split('\n')
    .slice(line - 1)
    .join('\n')
    .slice(column - 1)

describe('parseJson', () => {
  it('parses every JSON text as JSON.parse does, and knows where each value begins', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = ` ${JSON.stringify(value, null, indent)}\n`
        const parsed = parseJson(text)
        expect(parsed.value).toEqual(JSON.parse(text))
        for (const [path, inner] of places(JSON.parse(text))) {
          const head = JSON.stringify(inner, null, indent).slice(0, 1)
          expect(textAt(text, parsed.placeOf(path)).startsWith(head)).toBe(true)
          const key = path.at(-1)
          if (typeof key !== 'string') continue
          expect(textAt(text, parsed.placeOf(path, true)).startsWith(JSON.stringify(key))).toBe(true)
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it('rejects what JSON.parse rejects, with a place inside the text', () => {
    const mutated = fc
      .tuple(
        fc.jsonValue().map((value) => JSON.stringify(value)),
        fc.nat(),
        hostileText({ maxLength: 2 }),
      )
      .map(([text, at, inserted]) => {
        const offset = at % (text.length + 1)
        return text.slice(0, offset) + inserted + text.slice(offset + (at % 3))
      })
    fc.assert(
      fc.property(mutated, (text) => {
        const isValid = attempt(() => JSON.parse(text)) === undefined
        const thrown = attempt(() => parseJson(text))
        if (isValid) {
          // JSON.parse accepts a key that occurs twice.
          if (thrown) expect((thrown as FormatError).problem).toBe('a key occurs twice')
          return
        }
        expect(thrown).toBeInstanceOf(FormatError)
        const { place } = thrown as FormatError
        const lines = text.split('\n')
        expect(place.line).toBeLessThanOrEqual(lines.length)
        expect(place.column).toBeLessThanOrEqual((lines[place.line - 1]?.length ?? 0) + 1)
      }),
      { numRuns: propertyRuns(400) },
    )
  })

  it.each([
    ['', 1, 1, 'a value is expected'],
    ['{"a": 1,}', 1, 9, 'a name in double quotes is expected'],
    ["{\r\n  'a': 1}", 2, 3, 'an unknown word or sign (names and strings need double quotes)'],
    ['[True]', 1, 2, 'an unknown word or sign (names and strings need double quotes)'],
    ['[1 2]', 1, 4, 'a comma is expected'],
    ['[01]', 1, 3, 'a comma is expected'],
    ['{"a" 1}', 1, 6, 'a colon is expected'],
    ['{"a": 1', 1, 8, '} is expected'],
    ['[1', 1, 3, '] is expected'],
    ['[]\r]', 1, 4, 'something follows the value'],
    ['[1, // one\n2]', 1, 5, 'JSON has no comments'],
    ['["a\n"]', 1, 2, 'a string does not end on its line'],
    ['[1.]', 1, 2, 'a number ends too early'],
    ['["\\u12"]', 1, 2, '\\u needs four hexadecimal digits'],
    ['["\\x"]', 1, 2, 'an unknown character follows a backslash'],
    ['["\t"]', 1, 2, 'a string has a control character'],
  ])('says what is wrong in %j', (text, line, column, problem) => {
    const thrown = attempt(() => parseJson(text)) as FormatError
    expect([thrown.place, thrown.problem]).toEqual([{ line, column }, problem])
  })

  it('rejects a key that occurs twice, however it is written and wherever it is', () => {
    const twice = [
      '{"a":1,"a":2}',
      '[{"b:":1},{"x":{"a":[":"],"\\u0061":":\\""}}]',
      '{"__proto__":1,"__proto__":{"a":1}}',
    ]
    for (const text of twice) expect(() => parseJson(text)).toThrow('a key occurs twice')
    const once = '{"a:":{"a":"\\":\\\\","b":[{"a":1},{"a":":"}]},"__proto__":{"a":1}}'
    expect(parseJson(once).value).toEqual(JSON.parse(once))
  })

  it('limits the depth', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(() => parseJson(nested(101))).toThrow('more than 100 levels')
    expect(parseJson(nested(100)).value).toEqual(JSON.parse(nested(100)))
    expect(() => parseJson('['.repeat(10_000))).toThrow('more than 100 levels')
  })

  it('gives the place of the enclosing value for a path that does not exist', () => {
    expect(parseJson('{"a": [1]}').placeOf(['a', 3])).toEqual({ line: 1, column: 7 })
    expect(parseJson('{"a": [1]}').placeOf(['b'], true)).toEqual({ line: 1, column: 1 })
  })
})

function attempt(run: () => unknown): unknown {
  try {
    run()
    return undefined
  } catch (thrown) {
    return thrown
  }
}

/** Every value inside a value, with its path. */
function places(
  value: unknown,
  path: readonly (string | number)[] = [],
): [readonly (string | number)[], unknown][] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => places(item, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) => places(item, [...path, key]))
      : []
  return [[path, value], ...inner]
}
