import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateEvent } from '../../src/delivery/event-validator.generated.js'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { type SchemaCheck, toFailures } from '../../src/values/schema-failures.js'
import { validateWebhook } from '../../src/webhooks/webhook-validator.generated.js'
import * as bodies from '../../src/wire/validators.generated.js'
import { anyText } from '../texts.js'
import { compiler, VALIDATORS } from './validators.js'

const generated: Readonly<Record<string, SchemaCheck>> = { validateWebhook, validateEvent, ...bodies }

/** Texts that lie on the borders of the rules: empty, long, astral, broken, not printable, ids, digits. */
const text = fc.oneof(
  fc.string({ maxLength: 5 }),
  anyText({ maxLength: 5 }),
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
  for (const schemas of Object.values(VALIDATORS)) {
    for (const [name, schema] of Object.entries(schemas)) {
      it(`${name} finds in any document what its schema, compiled now, finds`, () => {
        const standalone = generated[name]!
        const fresh = compiler().compile(schema) as SchemaCheck
        const verdict = (check: SchemaCheck, document: unknown) =>
          check(document) ? [] : toFailures(check.errors, document)
        let valid = 0
        fc.assert(
          fc.property(documents(schema), (document) => {
            const found = verdict(standalone, document)
            if (found.length === 0) valid++
            expect(found).toEqual(verdict(fresh, document))
          }),
          { numRuns: 300 },
        )
        expect(valid).toBeLessThan(300)
      })
    }
  }

  it('exports every validator that is listed, and no other', () => {
    const listed = Object.values(VALIDATORS).flatMap((schemas) => Object.keys(schemas))
    expect(Object.keys(generated).sort()).toEqual(listed.sort())
  })
})
