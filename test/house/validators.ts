import { Ajv } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import { apiAuthSchema, reenableSchema, replaySchema, userAuthSchema } from '../../src/wire/body-schemas.js'

/** Every generated file, with the schemas of the validators that it exports. */
export const VALIDATORS: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  'src/webhooks/webhook-validator.generated.js': { validateWebhook: webhookSchema },
  'src/delivery/event-validator.generated.js': { validateEvent: eventSchema },
  'src/wire/validators.generated.js': {
    validateApiAuth: apiAuthSchema,
    validateUserAuth: userAuthSchema,
    validateReenable: reenableSchema,
    validateReplay: replaySchema,
  },
}

/** Formats are notes for readers: what they stand for is checked in code. */
export function compiler(): Ajv {
  return new Ajv({
    strict: true,
    // The conditions of the bodies name fields that are defined outside of them.
    strictRequired: false,
    allErrors: true,
    messages: false,
    validateFormats: false,
    code: { source: true, esm: true, lines: true },
  })
}

/** ajv's only helper that our schemas need, written out: the package must run without ajv. */
const UCS2_LENGTH = `(text) => {
let length = 0;
for (const _ of text) length++;
return length;
}`

/** The schema without its notes for readers, which would only make the generated code larger. */
function bare(schema: JsonSchema): JsonSchema {
  const { description: _, default: __, format: ___, properties, ...rules } = schema
  if (!properties) return rules
  return {
    ...rules,
    properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, bare(v)])),
  }
}

/** The source of a module with these validators, which needs nothing else. */
export function sourceOf(schemas: Readonly<Record<string, JsonSchema>>): string {
  const ajv = compiler()
  const ids: Record<string, string> = {}
  for (const [name, schema] of Object.entries(schemas)) {
    ajv.addSchema(bare(schema), name)
    ids[name] = name
  }
  const code = standaloneCode(ajv, ids)
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', UCS2_LENGTH)
    .trimEnd()
  if (/\brequire\b|^import /m.test(code))
    throw new Error('the generated validators need a module at run time')
  return `// Made by "npm run generate" from the schemas in the sources. Do not edit.\n${code}\n`
}
