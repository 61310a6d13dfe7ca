import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { type SchemaValidator, toSchemaFailures } from '../../src/values/schema-failures.js'
import * as validators from '../../src/values/validators.generated.js'
import { hostileText } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'
import { compiler, VALIDATORS } from './validators.js'

const generated: Readonly<Record<string, SchemaValidator>> = { ...validators }

/** Strings at the limits of the rules: empty, long, astral, malformed, unprintable, ids, digits. */
const text = fc.oneof(
  fc.string({ maxLength: 5 }),
  hostileText({ maxLength: 5 }),
  fc.constantFrom('', '\ud800', 'a\u0000', '\u2028', 'acc_1-Z', '5', 'true'),
  fc.nat({ max: 300 }).map((length) => '😀'.repeat(length)),
  fc.integer({ min: 2046, max: 2050 }).map((length) => 'u'.repeat(length)),
)
const number = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.double(), fc.maxSafeInteger())
const anything = fc.oneof(
  { depthSize: 'small' },
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.array(text, { maxLength: 2 }),
  fc.dictionary(text, fc.oneof(text, number), { maxKeys: 3 }),
)

function documents(schema: JsonSchema): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {}).map(([name, rule]) => {
    const listed = rule.enum ? fc.constantFrom(...rule.enum) : anything
    return [name, fc.oneof(listed, anything)] as const
  })
  const known = fc.record(Object.fromEntries(members), { requiredKeys: [] })
  const withUnknown = fc.tuple(known, fc.dictionary(fc.string(), anything, { maxKeys: 2 }))
  return fc.oneof(
    { weight: 8, arbitrary: known },
    { weight: 2, arbitrary: withUnknown.map(([a, b]) => ({ ...b, ...a })) },
    { weight: 1, arbitrary: anything },
  )
}

describe('generated validators', () => {
  for (const [name, schema] of Object.entries(VALIDATORS)) {
    it(`${name} finds the same failures in any document as its freshly compiled schema`, () => {
      const standalone = generated[name]!
      const fresh = compiler().compile(schema) as SchemaValidator
      const failuresOf = (check: SchemaValidator, document: unknown) =>
        check(document) ? [] : toSchemaFailures(check.errors, document)
      let valid = 0
      fc.assert(
        fc.property(documents(schema), (document) => {
          const failures = failuresOf(standalone, document)
          if (failures.length === 0) valid++
          expect(failures).toEqual(failuresOf(fresh, document))
        }),
        { numRuns: propertyRuns(300) },
      )
      expect(valid).toBeLessThan(300)
    })
  }

  it('the module exports exactly the listed validators', () => {
    expect(Object.keys(generated).sort()).toEqual(Object.keys(VALIDATORS).sort())
  })
})
