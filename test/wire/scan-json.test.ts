import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { JSON_LIMITS, peekBody } from '../../src/wire/body.js'
import { type JsonLimits, scanJson } from '../../src/wire/scan-json.js'

const NAMES = ['auth_token', 'verb']
const scan = (text: string, limits: Partial<JsonLimits> = {}) =>
  scanJson(Buffer.from(text), { ...JSON_LIMITS, ...limits }, NAMES)
const fieldsOf = (text: string) => ({ ...scan(text).fields })

/** What a scan must find in a parsed document. */
function expectedFields(value: unknown): Record<string, string | true> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const entries = Object.entries(value).filter(([name, member]) => NAMES.includes(name) && member !== null)
  return Object.fromEntries(
    entries.map(([name, member]) => [name, typeof member === 'string' ? member : true]),
  )
}
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const widthOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return Math.max(inner.length, ...inner.map(widthOf))
}

const totalOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return inner.reduce((total: number, entry) => total + totalOf(entry), Math.max(inner.length, 1))
}

const name = fc.oneof(fc.constantFrom(...NAMES, 'data', 'x'), fc.string({ unit: 'binary' }))
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    fc.constantFrom(null, true, 0, -1.5, '', '"', '\\', '{', ']', 'null'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
})).value

describe('scanJson', () => {
  it('finds the same top-level fields as a parser, the depth, and the number of entries', () => {
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(undefined, 2),
        fc.integer({ min: 1, max: 5 }),
        (value, indent, limit) => {
          const text = JSON.stringify(value, undefined, indent)
          expect(fieldsOf(text)).toEqual(expectedFields(JSON.parse(text)))
          expect(scan(text, { depth: limit }).isTooDeep).toBe(depthOf(value) > limit)
          expect(scan(text, { entries: limit }).isTooWide).toBe(widthOf(JSON.parse(text)) > limit)
          expect(scan(text, { total: 4 * limit }).isTooLarge).toBe(totalOf(JSON.parse(text)) > 4 * limit)
        },
      ),
    )
  })

  it.each([
    ['{"auth_token":"a","auth_token":"b"}', { auth_token: 'b' }],
    ['{"auth_token":"a","auth_token":null}', {}],
    ['{"auth_token":"\\u0061b"}', { auth_token: 'ab' }],
    ['{"auth\\u005ftoken":"ab"}', {}],
    ['{"verb":{"verb":"x"},"data":{"verb":"y"}}', { verb: true }],
    ['["verb","x"]', {}],
    [`{"verb":"${'x'.repeat(9_000)}"}`, { verb: true }],
    ['\ufeff{"verb":"x"}', { verb: 'x' }],
  ])('reads %j', (text, fields) => {
    expect(fieldsOf(text)).toEqual(fields)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (bytes, text) => {
        expect(typeof scanJson(bytes, { depth: 4, entries: 4, total: 8 }, NAMES).isTooDeep).toBe('boolean')
        expect(typeof scan(`{"verb${text}`).isTooDeep).toBe('boolean')
      }),
    )
  })

  it('ends at the limit of the depth', () => {
    let reads = 0
    const deep = new Proxy(Buffer.from('['.repeat(1_000)), {
      get(bytes, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1
        return Reflect.get(bytes, key, bytes)
      },
    })
    expect(scanJson(deep, { depth: 8, entries: 8, total: 8 }, NAMES).isTooDeep).toBe(true)
    expect(reads).toBe(9)
  })
})

describe('peekBody', () => {
  it('parses nothing before it is told to, and a document that is too deep never', () => {
    const { parse } = peekBody(`{"data":${'['.repeat(100)}`)
    expect(parse().failures).toMatchObject([{ message: 'The request body is nested deeper than 32 levels' }])
  })

  it('never parses a document with an object of very many members', () => {
    const headers = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`x-${index}`, 'v']))
    const { parse } = peekBody(JSON.stringify({ data: { custom_request_headers: headers } }))
    const parser = vi.spyOn(JSON, 'parse')
    try {
      expect(parse()).toMatchObject({
        envelope: {},
        failures: [
          { path: 'json', message: 'An object or list of the request body has more than 10000 entries' },
        ],
      })
      expect(parser).not.toHaveBeenCalled()
    } finally {
      parser.mockRestore()
    }
  })

  it('counts the entries of each object by itself', () => {
    const event = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`, 1]))
    const text = JSON.stringify({ data: Array.from({ length: 40 }, () => event) })
    expect(peekBody(text).parse().failures).toBe(undefined)
  })
})
