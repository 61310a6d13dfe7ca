import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { MAX_FAILURES, type SchemaCheck, toFailures } from '../../src/values/schema-failures.js'

const ajv = new Ajv({ allErrors: true, messages: false, strictRequired: false })
ajv.addFormat('token', /^[a-z]+$/)

function failures(schema: JsonSchema, document: unknown, secret: string[] = []) {
  const check = ajv.compile(schema) as SchemaCheck
  check(document)
  return toFailures(check.errors, document, { secret })
}

const field = (rule: JsonSchema): JsonSchema => ({ type: 'object', properties: { field: rule } })

describe('failures of a schema, in the words of KAZOO', () => {
  const table: [rule: string, schema: JsonSchema, value: unknown, message: string, target: unknown][] = [
    ['type', { type: 'string' }, 5, 'Value did not match type(s): string', 'string'],
    ['type', { type: 'integer' }, 1.5, 'Value did not match type(s): integer', 'integer'],
    [
      'enum',
      { type: 'string', enum: ['json', 'form-data'] },
      'xml',
      'Value not found in enumerated list of values',
      ['json', 'form-data'],
    ],
    ['enum', { const: 3 }, 4, 'Value not found in enumerated list of values', [3]],
    ['minimum', { type: 'integer', minimum: 0 }, -1, 'Value must be at least 0', 0],
    ['maximum', { type: 'integer', maximum: 10 }, 11, 'Value must be at most 10', 10],
    ['minLength', { type: 'string', minLength: 2 }, 'a', 'String must be at least 2 characters', 2],
    ['maxLength', { type: 'string', maxLength: 2 }, 'abc', 'String must not be more than 2 characters', 2],
    ['pattern', { type: 'string', pattern: '^a+$' }, 'b', "Failed to match pattern '^a+$'", '^a+$'],
    ['wrong_format', { type: 'string', format: 'token' }, '1', 'Field is not in the correct format', 'token'],
  ]
  for (const [rule, schema, value, message, target] of table) {
    it(`says "${message}"`, () => {
      expect(failures(field(schema), { field: value })).toEqual([
        { path: 'field', rule, message, target, value },
      ])
    })
  }

  it('names several types, and the least number of items, without showing what is no scalar', () => {
    const types = { type: ['array', 'boolean'], allowUnionTypes: true } as JsonSchema
    const lenient = new Ajv({ allErrors: true, messages: false, strict: false })
    const check = lenient.compile(field(types)) as SchemaCheck
    check({ field: {} })
    expect(toFailures(check.errors, { field: {} })).toEqual([
      {
        path: 'field',
        rule: 'type',
        message: 'Value did not match type(s): array, boolean',
        target: 'array, boolean',
      },
    ])
    expect(failures(field({ type: 'array', minItems: 1 }), { field: [] })).toEqual([
      { path: 'field', rule: 'minItems', message: 'The list must have at least 1 items', target: 1 },
    ])
  })

  it('reports a missing field at its own path', () => {
    const schema = field({ type: 'object', required: ['inner'], properties: { inner: { type: 'string' } } })
    expect(failures(schema, { field: {} })).toEqual([
      {
        path: 'field.inner',
        rule: 'required',
        message: 'Field is required but missing',
        target: 'required',
      },
    ])
  })

  it('reports a surplus field at its own path', () => {
    const schema = { ...field({ type: 'string' }), additionalProperties: false }
    expect(failures(schema, { feild: 'a' })).toEqual([
      {
        path: 'feild',
        rule: 'additionalProperties',
        message: 'Strict checking of data is enabled; only include schema-defined properties',
        target: false,
        value: 'a',
      },
    ])
  })

  it('tells all failures at once', () => {
    const schema: JsonSchema = {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'integer', maximum: 1 } },
    }
    expect(failures(schema, { b: 1, c: 2 }).map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'a required',
      'b type',
      'c maximum',
    ])
  })

  it('tells of a value of the wrong type once, not also that the list lacks it', () => {
    const rule = { type: 'string', enum: ['a'] }
    expect(failures(field(rule), { field: 1 }).map(({ rule }) => rule)).toEqual(['type'])
  })

  it('tells what a condition asks for, not that the condition failed', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { a: {}, b: {} },
      if: { not: { required: ['a'] } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['b'] },
    }
    expect(failures(schema, {}).map(({ path, rule }) => `${path} ${rule}`)).toEqual(['b required'])
  })

  it('says at least that something failed where a schema can say no more', () => {
    expect(failures({ not: { type: 'string' } }, 'a')).toEqual([
      { path: '', rule: 'error', message: 'failed to validate', target: 'not', value: 'a' },
    ])
  })

  it('never shows a secret, at its path or below it', () => {
    const secretive: JsonSchema = {
      type: 'object',
      properties: { headers: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } } },
    }
    const within = failures(secretive, { headers: { authorization: 'hunter22' } }, ['headers'])
    const instead = failures(secretive, { headers: 'hunter22' }, ['headers'])
    expect(within.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['headers.authorization maxLength'])
    expect(instead.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['headers type'])
    expect(JSON.stringify([within, instead])).not.toContain('hunter22')
  })

  it('shows nothing longer than 255 characters', () => {
    const [short] = failures(field({ type: 'integer' }), { field: 'x'.repeat(255) })
    const [long] = failures(field({ type: 'integer' }), { field: 'x'.repeat(256) })
    expect(short?.value).toHaveLength(255)
    expect(long).not.toHaveProperty('value')
  })

  it('shows no number that JSON cannot carry', () => {
    expect(failures(field({ type: 'number' }), { field: Number.NaN })[0]).not.toHaveProperty('value')
  })

  it('finds values under keys with slashes, tildes and dots, and invents none from prototypes', () => {
    const schema: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
    const document = JSON.parse('{"a/b~1c":1,"d.e":2,"__proto__":3}')
    expect(failures(schema, document).map(({ path, value }) => [path, value])).toEqual([
      ['a/b~1c', 1],
      ['d.e', 2],
      ['__proto__', 3],
    ])
    const missing = failures({ type: 'object', required: ['toString', 'hasOwn'], properties: {} }, { a: 1 })
    expect(missing).toHaveLength(1)
    expect(missing[0]).not.toHaveProperty('value')
  })

  it(`tells at most ${MAX_FAILURES} failures`, () => {
    const document = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, index]))
    const schema: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
    expect(failures(schema, document)).toHaveLength(MAX_FAILURES)
  })

  it('has nothing to tell of a valid document', () => {
    expect(failures(field({ type: 'string' }), { field: 'a' })).toEqual([])
    expect(toFailures(undefined, {})).toEqual([])
  })
})
