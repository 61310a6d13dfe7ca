/** What the validation of data by a JSON Schema may cost: data come from others, and nothing else runs meanwhile. */
import { describe, expect, it } from 'vitest'
import { compileDataSchemas, type DataValidator, type JsonDataSchema } from '../../src/webhooks/event-data.js'

async function validatorOf(schema: JsonDataSchema): Promise<DataValidator> {
  const validators = await compileDataSchemas([{ id: 'a', schema, sample: [], field: 'hooks[0]' }])
  return validators.get('a')!
}

/** `{ a: { a: … { a: value } } }` */
const nested = (levels: number, value: unknown = 1) => {
  let data: unknown = value
  for (let level = 0; level < levels; level += 1) data = { a: data }
  return data
}
/** Arrays of nearly 64 KiB. */
const ARRAYS = {
  numbers: Array.from({ length: 32_000 }, () => 7),
  objects: Array.from({ length: 6_000 }, (_, n) => ({ n })),
  lists: Array.from({ length: 7_000 }, (_, n) => [n]),
}

describe('data', () => {
  it('of a schema that refers to itself in several branches are refused when it would never end', async () => {
    const branch = { properties: { a: { $ref: '#' } } }
    for (const union of ['anyOf', 'oneOf', 'allOf']) {
      const validate = await validatorOf({ [union]: [branch, { ...branch, required: ['a'] }] })
      expect(validate(nested(29))).toEqual({
        failures: [
          { path: 'data', rule: 'error', message: 'needs more than 10000 references ($ref) of its schema' },
        ],
      })
    }
  })

  it('may be a deep tree and a long list of a schema that refers to itself', async () => {
    const validate = await validatorOf({
      properties: { a: { $ref: '#' }, list: { items: { $ref: '#/$defs/item' } } },
      $defs: { item: { type: ['number', 'object'] } },
    })
    expect(validate(nested(30, null))).toHaveProperty('data')
    expect(validate({ list: ARRAYS.numbers.slice(0, 10_000) })).toHaveProperty('data')
    expect(validate({ list: ARRAYS.numbers.slice(0, 10_001) })).toHaveProperty('failures')
    // What was counted for one event does not count for the next.
    for (let event = 0; event < 3; event += 1)
      expect(validate({ list: ARRAYS.objects })).toHaveProperty('data')
  })

  it.each<[string, JsonDataSchema]>([
    ['items', { items: { type: 'string' } }],
    ['contains', { contains: { type: 'string' }, minContains: 2 }],
    [
      'unevaluatedItems',
      { anyOf: [{ contains: { const: -1 } }, true], unevaluatedItems: { type: 'string' } },
    ],
    ['oneOf', { items: { oneOf: [{ type: 'string' }, { type: 'null' }, { const: {} }] } }],
    ['allOf', { allOf: Array.from({ length: 8 }, () => ({ items: { type: 'string' } })) }],
    ['enum', { enum: [[], ARRAYS.numbers.slice(1)] }],
  ])('of 64 KiB are checked whatever their arrays: %s', async (_, list) => {
    const validate = await validatorOf({ properties: { list } })
    for (const array of Object.values(ARRAYS)) {
      const result = validate({ list: array })
      const { failures = [] } = result as { failures?: readonly { path: string }[] }
      expect(failures.length).toBeGreaterThan(0)
      expect(failures.length).toBeLessThanOrEqual(100)
      expect(failures.every(({ path }) => path === 'data' || path.startsWith('data.list'))).toBe(true)
    }
  })

  it('of 64 KiB are checked whatever their names', async () => {
    const names = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]))
    const validate = await validatorOf({
      anyOf: [{ patternProperties: { '^n[0-9]$': true } }, { propertyNames: { maxLength: 3 } }],
      unevaluatedProperties: { type: 'string' },
      dependentSchemas: { n1: { minProperties: 9_000 } },
    })
    expect(validate(names)).toMatchObject({ failures: { length: 100 } })
  })

  it('above 64 KiB, too deep or cyclic are refused before they are compared with the schema', async () => {
    const validate = await validatorOf({ properties: { a: { $ref: '#' } } })
    const large = { list: [...ARRAYS.numbers, ...ARRAYS.numbers] }
    expect(validate(large)).toEqual({
      failures: [
        {
          path: 'data',
          rule: 'maxSize',
          message: expect.stringMatching(/^has \d+ bytes, at most 65536 are accepted$/),
        },
      ],
    })
    expect(validate(nested(32))).toMatchObject({ failures: [{ message: 'is nested too deeply' }] })
    const cyclic: Record<string, unknown> = {}
    cyclic.a = cyclic
    expect(validate(cyclic)).toMatchObject({ failures: [{ message: 'is nested too deeply' }] })
  })
})
