import { describe, expect, it } from 'vitest'
import { compileDataSchemas, type JsonDataSchema } from '../../src/webhooks/event-data.js'

/** The error of a hook with this schema; `undefined`: it can be used. */
async function problemOf(schema: JsonDataSchema): Promise<string | undefined> {
  const hook = { id: 'a', schema, sample: [], field: 'hooks[0]' }
  return compileDataSchemas([hook]).then(
    () => undefined,
    ({ code, field, message }: { code: string; field: string; message: string }) => {
      expect(code).toBe('InvalidOption')
      expect(message.startsWith(`${field}: `)).toBe(true)
      return message
    },
  )
}

describe('the JSON Schema of a hook', () => {
  it.each<[unknown, string]>([
    [{ properties: { note: { pattern: '(' } } }, 'hooks[0].schema.properties.note.pattern: is not a regular'],
    [
      { properties: { note: { pattern: '\\-' } } },
      'hooks[0].schema.properties.note.pattern: is not a regular',
    ],
    [
      { properties: { u: { format: 'url' } } },
      "hooks[0].schema.properties.u.format: must be 'uri': 'url' is",
    ],
    [{ patternProperties: { '[': {} } }, "hooks[0].schema.patternProperties: '[' is not a regular"],
    [
      { properties: { t: { type: 'objekt' } } },
      "hooks[0].schema.properties.t.type: must be one or several of 'ar",
    ],
    [{ type: [] }, 'hooks[0].schema.type: must be one or several'],
    [{ type: ['string', 'string'] }, 'hooks[0].schema.type: must be one or several'],
    [
      { $defs: { a: { $ref: '#/$defs/nope' } } },
      "hooks[0].schema.$defs.a.$ref: '#/$defs/nope': there is no such",
    ],
    [
      { $ref: 'https://elsewhere.example/x' },
      "hooks[0].schema.$ref: 'https://elsewhere.example/x': there is",
    ],
    [{ $ref: '#/x', x: { type: 'text' } }, "hooks[0].schema.$ref: '#/x': type must be one"],
    [
      { allOf: [true, { minLength: -1 }] },
      'hooks[0].schema.allOf[1].minLength: must be a whole number from 0',
    ],
    [{ anyOf: [] }, 'hooks[0].schema.anyOf: must be an array of at least one schema'],
    [{ properties: [] }, 'hooks[0].schema.properties: must be an object of schemas'],
    [{ items: [{}] }, 'hooks[0].schema.items: must be a schema'],
    [{ not: 5 }, 'hooks[0].schema.not: must be a schema'],
    [{ required: 'a' }, 'hooks[0].schema.required: must be an array of different strings'],
    [{ dependentRequired: { a: 'b' } }, 'hooks[0].schema.dependentRequired: must be an object of arrays'],
    [{ maximum: '5' }, 'hooks[0].schema.maximum: must be a number'],
    [{ multipleOf: 0 }, 'hooks[0].schema.multipleOf: must be a number above 0'],
    [{ uniqueItems: 'yes' }, 'hooks[0].schema.uniqueItems: must be true or false'],
    [
      { properties: { tags: { uniqueItems: true } } },
      'hooks[0].schema.properties.tags.uniqueItems: is not supported: it would compare each item with each other',
    ],
    [
      { $defs: { a: { anyOf: [{ format: 'url' }] } } },
      "hooks[0].schema.$defs.a.anyOf[0].format: must be 'uri': 'url' is",
    ],
    [{ enum: 'a' }, 'hooks[0].schema.enum: must be an array'],
    [{ $id: 'https://' }, 'hooks[0].schema: is not a usable JSON Schema: '],
    [{ $ref: '#' }, 'hooks[0].schema: is not a usable JSON Schema: '],
  ])('%j is refused with its place', async (schema, message) => {
    expect((await problemOf(schema as JsonDataSchema))?.slice(0, message.length)).toBe(message)
  })

  it('may have every keyword, annotations of its own and references in both directions', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.com/tree',
      title: 'Tree',
      type: ['object', 'null'],
      properties: {
        children: { type: 'array', items: { $ref: '#' }, minItems: 0, uniqueItems: false },
        name: { $ref: '#name' },
        place: { $ref: 'place' },
        other: { $ref: '#/x-shared/one' },
        type: { const: { type: 'objekt' }, default: { $ref: '#/nowhere' } },
      },
      patternProperties: { '^x-': true },
      required: ['name'],
      dependentRequired: { place: ['name'] },
      $defs: {
        name: { $anchor: 'name', type: 'string', minLength: 1, pattern: '^\\p{L}+$' },
        place: { $id: 'place', enum: ['a', null], multipleOf: 0.5 },
      },
      if: { required: ['place'] },
      else: { minProperties: 2 },
      'x-shared': { one: { type: 'integer' } },
      'x-note': { type: 'objekt' },
    }
    expect(await problemOf(Object.freeze(schema))).toBeUndefined()
  })
})
