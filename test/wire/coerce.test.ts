import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import { coerce, integerOf } from '../../src/wire/coerce.js'

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
  ])('%j takes %j as %j', (schema, text, value) => {
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
  ])('%j leaves %j alone', (schema, value) => {
    expect(coerce(schema, value)).toBe(value)
  })

  it('reaches members and items, and touches nothing that the schema does not name', () => {
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

  it('keeps a member named __proto__ a member', () => {
    const given = JSON.parse('{"__proto__":{"polluted":true},"retries":"3"}')
    const coerced = coerce(webhookSchema, given) as Record<string, unknown>
    expect(Object.keys(coerced)).toEqual(['__proto__', 'retries'])
    expect(coerced.polluted).toBeUndefined()
  })

  it('takes every safe integer that JSON spells, and only those', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(integerOf(String(value))).toBe(value + 0)
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = integerOf(text)
        if (value !== undefined) expect(String(value) === text || text === '-0').toBe(true)
      }),
    )
  })

  it('does nothing the second time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = coerce(webhookSchema, value)
        expect(coerce(webhookSchema, once)).toEqual(once)
      }),
    )
  })
})
