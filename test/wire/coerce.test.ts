import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import { coerce, parseInteger } from '../../src/wire/coerce.js'

const integer = { type: 'integer' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }

describe('coerce', () => {
  it.each([
    [integer, '3', 3],
    [integer, '-7', -7],
    [integer, '0', 0],
    [integer, '-0', 0],
    [number, '1.5', 1.5],
    [number, '1e3', 1000],
    [number, '-2', -2],
    [boolean, 'true', true],
    [boolean, 'false', false],
    [{ type: ['integer', 'null'] }, '3', 3],
  ])('converts for %j %j to %j', (schema, text, value) => {
    expect(coerce(schema, text)).toBe(value)
  })

  it.each([
    [integer, '0x10'],
    [integer, ' 5 '],
    [integer, '+5'],
    [integer, '05'],
    [integer, '1.0'],
    [integer, '1e2'],
    [integer, '1e400'],
    [integer, ''],
    [integer, '9007199254740992'],
    [integer, '٣'],
    [integer, 'true'],
    [number, '1e400'],
    [number, '.5'],
    [number, '1.'],
    [number, 'NaN'],
    [number, 'Infinity'],
    [boolean, 'True'],
    [boolean, '1'],
    [boolean, ''],
    [{ type: 'string' }, '3'],
    [{ type: ['string', 'integer'] }, '3'],
    [{}, '3'],
    [integer, 1.5],
    [integer, true],
    [integer, null],
    [boolean, 1],
    [{ type: 'string' }, 3],
    [{ type: 'object' }, '{}'],
  ])('does not convert for %j: %j', (schema, value) => {
    expect(coerce(schema, value)).toBe(value)
  })

  it('converts properties and items, and nothing that the schema does not mention', () => {
    const schema = {
      type: 'object',
      properties: { count: integer, list: { type: 'array', items: boolean } },
      additionalProperties: number,
    }
    const given = { count: '1', list: ['true', 'x'], other: '2.5', nested: { count: '1' } }
    const copy = structuredClone(given)
    expect(coerce(schema, given)).toEqual({ count: 1, list: [true, 'x'], other: 2.5, nested: { count: '1' } })
    expect(given).toEqual(copy)
  })

  it('keeps a property named __proto__ as an own property', () => {
    const given = JSON.parse('{"__proto__":{"polluted":true},"retries":"3"}')
    const coerced = coerce(webhookSchema, given) as Record<string, unknown>
    expect(Object.keys(coerced)).toEqual(['__proto__', 'retries'])
    expect(coerced.polluted).toBeUndefined()
  })

  it('accepts exactly the safe integers in JSON notation', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(parseInteger(String(value))).toBe(value + 0)
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = parseInteger(text)
        if (value !== undefined) expect(String(value) === text || text === '-0').toBe(true)
      }),
    )
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = coerce(webhookSchema, value)
        expect(coerce(webhookSchema, once)).toEqual(once)
      }),
    )
  })
})
