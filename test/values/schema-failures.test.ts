import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { MAX_FAILURES, type SchemaValidator, toSchemaFailures } from '../../src/values/schema-failures.js'

const ajv = new Ajv({ allErrors: true, messages: false, strictRequired: false })
ajv.addFormat('token', /^[a-z]+$/)

function failures(schema: JsonSchema, document: unknown, secret: string[] = []) {
  const check = ajv.compile(schema) as SchemaValidator
  check(document)
  return toSchemaFailures(check.errors, document, { secret })
}

const field = (rule: JsonSchema): JsonSchema => ({ type: 'object', properties: { field: rule } })

describe('toSchemaFailures', () => {
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
    it(`reports "${message}"`, () => {
      expect(failures(field(schema), { field: value })).toEqual([
        { path: 'field', rule, message, target, value },
      ])
    })
  }

  it('reports multiple types and the minimum number of items, without values that are not scalar', () => {
    const types = { type: ['array', 'boolean'], allowUnionTypes: true } as JsonSchema
    const lenient = new Ajv({ allErrors: true, messages: false, strict: false })
    const check = lenient.compile(field(types)) as SchemaValidator
    check({ field: {} })
    expect(toSchemaFailures(check.errors, { field: {} })).toEqual([
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

  it('reports an unknown field at its own path', () => {
    const schema = { ...field({ type: 'string' }), additionalProperties: false }
    expect(failures(schema, { feild: 'a' })).toEqual([
      {
        path: 'feild',
        rule: 'additionalProperties',
        message: 'is not an allowed field',
        target: false,
        value: 'a',
      },
    ])
  })

  it('reports all failures at once', () => {
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

  it('reports a value of the wrong type only once, not also as missing from the enum', () => {
    const rule = { type: 'string', enum: ['a'] }
    expect(failures(field(rule), { field: 1 }).map(({ rule }) => rule)).toEqual(['type'])
  })

  it('reports the rule that a condition requires, not the condition', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { a: {}, b: {} },
      if: { not: { required: ['a'] } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['b'] },
    }
    expect(failures(schema, {}).map(({ path, rule }) => `${path} ${rule}`)).toEqual(['b required'])
  })

  it('reports a generic failure when the schema gives no detail', () => {
    expect(failures({ not: { type: 'string' } }, 'a')).toEqual([
      { path: '', rule: 'error', message: 'failed to validate', target: 'not', value: 'a' },
    ])
  })

  it('never shows a secret at its path or below it', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { headers: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } } },
    }
    const nested = failures(schema, { headers: { authorization: 'hunter22' } }, ['headers'])
    const direct = failures(schema, { headers: 'hunter22' }, ['headers'])
    expect(nested.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['headers.authorization maxLength'])
    expect(direct.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['headers type'])
    expect(JSON.stringify([nested, direct])).not.toContain('hunter22')
  })

  it('shows no value longer than 255 characters', () => {
    const [short] = failures(field({ type: 'integer' }), { field: 'x'.repeat(255) })
    const [long] = failures(field({ type: 'integer' }), { field: 'x'.repeat(256) })
    expect(short?.value).toHaveLength(255)
    expect(long).not.toHaveProperty('value')
  })

  it('shows no number that JSON cannot carry', () => {
    expect(failures(field({ type: 'number' }), { field: Number.NaN })[0]).not.toHaveProperty('value')
  })

  it('reads values under keys with slashes, tildes and dots, and none from prototypes', () => {
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

  it(`reports at most ${MAX_FAILURES} failures`, () => {
    const document = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, index]))
    const schema: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
    expect(failures(schema, document)).toHaveLength(MAX_FAILURES)
  })

  it('reports nothing for a valid document', () => {
    expect(failures(field({ type: 'string' }), { field: 'a' })).toEqual([])
    expect(toSchemaFailures(undefined, {})).toEqual([])
  })
})
