import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataOf, MAX_BODY_DEPTH, readBytes, readParsed } from '../../src/wire/body.js'

const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (levels: number) => `${'{"data":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`

describe('readBytes', () => {
  it.each([undefined, bytes(''), bytes(' \r\n\t')])('takes no body for an empty `data`', (body) => {
    expect(readBytes(body)).toMatchObject({ envelope: { data: {} }, present: false })
  })

  it('reads the top-level object, with or without a byte order mark', () => {
    expect(readBytes(bytes('{"data":{"a":1},"verb":"PUT"}')).envelope).toEqual({
      data: { a: 1 },
      verb: 'PUT',
    })
    expect(readBytes(bytes('\ufeff{"data":{}}')).failures).toBeUndefined()
  })

  it.each(['{', 'data', '{"data":{}}x', "{'data':{}}", '{"data":NaN}', '[]', '"x"', '1', 'null', 'true'])(
    'calls %s bad JSON',
    (text) => {
      expect(readBytes(bytes(text)).failures).toEqual([
        { path: 'json', rule: 'invalid', message: expect.any(String), target: 'body' },
      ])
    },
  )

  it.each([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]])(
    'calls bytes that are no UTF-8 bad JSON',
    (...invalid) => {
      const body = new Uint8Array([...bytes('{"data":{"a":"'), ...invalid, ...bytes('"}}')])
      expect(readBytes(body).failures?.[0]).toMatchObject({ path: 'json', rule: 'invalid' })
    },
  )

  it('takes 32 levels and no more', () => {
    expect(readBytes(bytes(nested(MAX_BODY_DEPTH))).failures).toBeUndefined()
    expect(readBytes(bytes(nested(MAX_BODY_DEPTH + 1))).failures?.[0]).toMatchObject({ path: 'json' })
    expect(readBytes(bytes('['.repeat(200_000))).failures?.[0]).toMatchObject({ path: 'json' })
    const deep = `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(readBytes(bytes(deep)).failures?.[0]).toMatchObject({ path: 'json' })
  })

  it.each([
    ['{"data":{"name":"a\\u0000b"}}', 'name'],
    ['{"data":{"list":["a","\\ud800"]}}', 'list.1'],
    ['{"data":{"a":{"\\udfff":1}}}', 'a.\udfff'],
    ['{"data":{"retries":1e400}}', 'retries'],
    ['{"data":{"retries":9007199254740993}}', 'retries'],
    ['{"data":{"custom_data":{"__proto__":"x"}}}', 'custom_data.__proto__'],
    ['{"verb":"\\u0000"}', 'verb'],
  ])('names the field of %s', (text, path) => {
    expect(readBytes(bytes(text)).failures).toEqual([{ path, rule: 'error', message: expect.any(String) }])
  })

  it('lets a surrogate pair and a private `__proto__` of the document pass', () => {
    expect(
      readBytes(bytes('{"data":{"name":"\\ud83d\\ude00","__proto__":{"a":1}}}')).failures,
    ).toBeUndefined()
    expect(({} as { a?: number }).a).toBeUndefined()
  })

  it('reads back every JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (data) => {
        const text = JSON.stringify({ data })
        const read = readBytes(bytes(text))
        if (read.failures === undefined) expect(read.envelope).toEqual(JSON.parse(text))
      }),
    )
  })
})

describe('readParsed', () => {
  it('takes what another parser made: a value, text or bytes', () => {
    const envelope = { data: { a: 1 } }
    const text = JSON.stringify(envelope)
    for (const parsed of [envelope, text, bytes(text)]) expect(readParsed(parsed).envelope).toEqual(envelope)
    expect(readParsed(undefined).present).toBe(false)
    expect(readParsed([]).failures?.[0]).toMatchObject({ path: 'json' })
  })
})

describe('dataOf', () => {
  it('wants an object, or a list where the route takes one', () => {
    expect(dataOf({ data: { a: 1 } }, 'object')).toEqual({ data: { a: 1 } })
    expect(dataOf({ data: [1] }, 'object or list')).toEqual({ data: [1] })
    expect(dataOf({ data: 'x' }, 'none')).toEqual({ data: {} })
    expect(dataOf({}, 'none')).toEqual({ data: {} })
  })

  it('names what is missing or of another type', () => {
    expect(dataOf({ name: 'x' }, 'object')).toMatchObject({ failures: [{ path: 'data', rule: 'required' }] })
    for (const data of [null, [], 'x', 1, true]) {
      expect(dataOf({ data }, 'object')).toMatchObject({
        failures: [{ path: 'data', rule: 'type', target: 'object' }],
      })
    }
  })
})
