import { Ajv } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { accountSchema, userSchema } from '../../src/accounts/account-schema.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import {
  apiAuthSchema,
  holdSchema,
  previewSchema,
  reenableSchema,
  replaySchema,
  replayStateSchema,
  userAuthSchema,
  webhookJobSchema,
  whySchema,
} from '../../src/wire/body-schemas.js'

/** The generated module, relative to the root. */
export const GENERATED_FILE = 'src/values/validators.generated.js'

/** The schema of each validator that the generated module exports. */
export const VALIDATORS: Readonly<Record<string, JsonSchema>> = {
  validateWebhook: webhookSchema,
  validateEvent: eventSchema,
  validateAccount: accountSchema,
  validateUser: userSchema,
  validateApiAuth: apiAuthSchema,
  validateUserAuth: userAuthSchema,
  validateReenable: reenableSchema,
  validateReplay: replaySchema,
  validateReplayState: replayStateSchema,
  validateHold: holdSchema,
  validateWhy: whySchema,
  validateWebhookJob: webhookJobSchema,
  validatePreview: previewSchema,
}

/** `format` is documentation only: hand-written code checks URIs and similar values. */
export function compiler(): Ajv {
  return new Ajv({
    strict: true,
    // Conditions in the body schemas name fields that are defined outside of those conditions.
    strictRequired: false,
    allErrors: true,
    messages: false,
    validateFormats: false,
    code: { source: true, esm: true, lines: true },
  })
}

/** The only ajv run-time helper that the schemas need, inlined because the package does not depend on ajv. */
const UCS2_LENGTH = `(text) => {
let length = 0;
for (const _ of text) length++;
return length;
}`

/** Removes annotations, which would only enlarge the generated code. */
function withoutAnnotations(schema: JsonSchema): JsonSchema {
  const { description: _, default: __, format: ___, properties, ...rules } = schema
  if (!properties) return rules
  return {
    ...rules,
    properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, withoutAnnotations(v)])),
  }
}

/** Generates the source of a module that exports these validators and imports nothing. */
export function sourceOf(schemas: Readonly<Record<string, JsonSchema>>): string {
  const ajv = compiler()
  const ids: Record<string, string> = {}
  for (const [name, schema] of Object.entries(schemas)) {
    ajv.addSchema(withoutAnnotations(schema), name)
    ids[name] = name
  }
  const code = standaloneCode(ajv, ids)
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', UCS2_LENGTH)
    // Nobody reads where in the schema a rule stands.
    .replaceAll(/schemaPath:"[^"]*",/g, '')
    .trimEnd()
  if (/\brequire\b|^import /m.test(code))
    throw new Error('the generated validators need a module at run time')
  return `// Made by "npm run generate" from the schemas in the sources. Do not edit.\n${code}\n`
}
