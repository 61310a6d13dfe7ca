import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractData, JSON_LIMITS, peekBody, peekParsedBody } from '../../src/wire/body.js'

const parseBody = (bytes: Uint8Array | undefined) => peekBody(bytes).parse()
const wrapParsedBody = (parsed: unknown) => peekParsedBody(parsed).parse()

const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (depth: number) => `${'{"data":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`

describe('peekBody', () => {
  it.each([undefined, bytes(''), bytes(' \r\n\t')])(
    'reads an absent body as an empty `data` object',
    (body) => {
      expect(parseBody(body)).toMatchObject({ envelope: { data: {} }, isPresent: false })
    },
  )

  it('parses the top-level object, with or without a byte order mark', () => {
    expect(parseBody(bytes('{"data":{"a":1},"verb":"PUT"}')).envelope).toEqual({
      data: { a: 1 },
      verb: 'PUT',
    })
    expect(parseBody(bytes('\ufeff{"data":{}}')).failures).toBeUndefined()
  })

  it.each(['{', 'data', '{"data":{}}x', "{'data':{}}", '{"data":NaN}', '[]', '"x"', '1', 'null', 'true'])(
    'reports %s as invalid JSON',
    (text) => {
      expect(parseBody(bytes(text)).failures).toEqual([
        { path: 'json', rule: 'invalid', message: expect.any(String), target: 'body' },
      ])
    },
  )

  it.each([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]])(
    'reports invalid UTF-8 as invalid JSON',
    (...invalid) => {
      const body = new Uint8Array([...bytes('{"data":{"a":"'), ...invalid, ...bytes('"}}')])
      expect(parseBody(body).failures?.[0]).toMatchObject({ path: 'json', rule: 'invalid' })
    },
  )

  it('accepts at most 32 levels of nesting', () => {
    expect(parseBody(bytes(nested(JSON_LIMITS.depth))).failures).toBeUndefined()
    expect(parseBody(bytes(nested(JSON_LIMITS.depth + 1))).failures?.[0]).toMatchObject({ path: 'json' })
    expect(parseBody(bytes('['.repeat(200_000))).failures?.[0]).toMatchObject({ path: 'json' })
    const deep = `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(parseBody(bytes(deep)).failures?.[0]).toMatchObject({ path: 'json' })
  })

  it.each([
    ['{"data":{"name":"a\\u0000b"}}', 'name'],
    ['{"data":{"list":["a","\\ud800"]}}', 'list.1'],
    ['{"data":{"a":{"\\udfff":1}}}', 'a.\udfff'],
    ['{"data":{"retries":1e400}}', 'retries'],
    ['{"data":{"retries":9007199254740993}}', 'retries'],
    ['{"data":{"custom_data":{"__proto__":"x"}}}', 'custom_data.__proto__'],
    ['{"data":{"__proto__":{"a":1}}}', '__proto__'],
    ['{"data":[{"__proto__":null}]}', '0.__proto__'],
    ['{"verb":"\\u0000"}', 'verb'],
  ])('names the invalid field of %s', (text, path) => {
    expect(parseBody(bytes(text)).failures).toEqual([{ path, rule: 'error', message: expect.any(String) }])
  })

  it('accepts a surrogate pair, and `__proto__` beside the document', () => {
    expect(
      parseBody(bytes('{"data":{"name":"\\ud83d\\ude00"},"__proto__":{"a":1}}')).failures,
    ).toBeUndefined()
    expect(({} as { a?: number }).a).toBeUndefined()
  })

  it('parses every JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (data) => {
        const text = JSON.stringify({ data })
        const parsed = parseBody(bytes(text))
        if (parsed.failures === undefined) expect(parsed.envelope).toEqual(JSON.parse(text))
      }),
    )
  })
})

describe('peekParsedBody', () => {
  it('accepts the output of another parser: a value, text or bytes', () => {
    const envelope = { data: { a: 1 } }
    const text = JSON.stringify(envelope)
    for (const parsed of [envelope, text, bytes(text)])
      expect(wrapParsedBody(parsed).envelope).toEqual(envelope)
    expect(wrapParsedBody(undefined).isPresent).toBe(false)
    expect(wrapParsedBody([]).failures?.[0]).toMatchObject({ path: 'json' })
  })

  it('reports its depth before any other defect, as for bytes', () => {
    let deep: unknown = 1
    for (let level = 0; level < 40; level += 1) deep = { a: deep }
    const { failures } = wrapParsedBody({ data: { 'a\0': 1, deep } })
    expect(failures).toMatchObject([{ message: 'The request body is nested deeper than 32 levels' }])
  })
})

describe('an object or list with very many entries', () => {
  const parsers: [string, (body: unknown) => ReturnType<typeof parseBody>][] = [
    ['bytes', (body) => parseBody(bytes(JSON.stringify(body)))],
    ['a parsed value', wrapParsedBody],
  ]
  const list = (length: number, item: unknown) => Array.from({ length }, () => item)
  const object = (length: number) =>
    Object.fromEntries(list(length, 0).map((_, index) => [`k${index}`, 'a\0']))
  const tooWide = 'An object or list of the request body has more than 10000 entries'
  const tooLarge = 'The objects and lists of the request body have more than 65000 entries'

  it.each(parsers)('is refused before any other defect: %s', (_, parse) => {
    expect(parse({ data: object(10_001) }).failures).toMatchObject([{ path: 'json', message: tooWide }])
    expect(parse({ data: { api_key: list(10_001, {}) } }).failures).toMatchObject([{ message: tooWide }])
    expect(parse({ data: {}, other: list(10_001, 1) }).failures).toMatchObject([{ message: tooWide }])
    expect(parse({ data: list(10_000, 1) }).failures).toBe(undefined)
  })

  it.each(parsers)('is refused with all others together: %s', (_, parse) => {
    // One for the body, one for `data`; an empty list counts as one.
    expect(parse({ data: list(9_999, list(5, 1)), x: [] }).failures).toBe(undefined)
    expect(parse({ data: list(9_999, [{}]) }).failures).toBe(undefined)
    const rest = 65_000 - 2 - 9_999 * 6
    expect(parse({ data: list(9_999, list(5, 1)), x: list(rest, 1) }).failures).toBe(undefined)
    expect(parse({ data: list(9_999, list(5, 1)), x: list(rest + 1, 1) }).failures).toMatchObject([
      { path: 'json', message: tooLarge },
    ])
    expect(parse({ data: list(7_000, list(5, {})) }).failures).toMatchObject([{ message: tooLarge }])
  })
})

describe('extractData', () => {
  it('requires an object, or a list if the route accepts one', () => {
    expect(extractData({ data: { a: 1 } }, 'object')).toEqual({ data: { a: 1 } })
    expect(extractData({ data: [1] }, 'object or list')).toEqual({ data: [1] })
    expect(extractData({ data: 'x' }, 'none')).toEqual({ data: {} })
    expect(extractData({}, 'none')).toEqual({ data: {} })
    expect(extractData({ auth_token: 't', verb: 'put' }, 'object or nothing')).toEqual({ data: {} })
    expect(extractData({ data: { a: 1 } }, 'object or nothing')).toEqual({ data: { a: 1 } })
  })

  it('reports missing data and data of another type', () => {
    expect(extractData({ name: 'x' }, 'object')).toMatchObject({
      failures: [{ path: 'data', rule: 'required' }],
    })
    expect(extractData({ name: 'x' }, 'object or nothing')).toMatchObject({
      failures: [{ path: 'data', rule: 'required' }],
    })
    for (const data of [null, [], 'x', 1, true]) {
      expect(extractData({ data }, 'object')).toMatchObject({
        failures: [{ path: 'data', rule: 'type', target: 'object' }],
      })
    }
  })
})
