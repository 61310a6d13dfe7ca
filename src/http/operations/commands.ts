/** Commands on webhooks: re-enable, test, replay, read and rotate the signing secret. */
import { invalidInput, notFound } from '../../errors.js'
import { isId } from '../../values/ids.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { type SchemaValidator, toSchemaFailures } from '../../values/schema-failures.js'
import { validateReenable, validateReplay } from '../../values/validators.generated.js'
import { reenableSchema, replaySchema } from '../../wire/body-schemas.js'
import { coerce } from '../../wire/coerce.js'
import { parseReplay, replayJson, secretJson, testJson } from '../../wire/command-json.js'
import {
  accountIdOf,
  entityIdOf,
  type Operation,
  type OperationContext,
  type OperationResult,
} from './context.js'

/** Coerces and validates the body. Throws `InvalidInput`. */
function validateBody(context: OperationContext, schema: JsonSchema, validate: SchemaValidator): unknown {
  const data = coerce(schema, context.data)
  if (!validate(data)) throw invalidInput(toSchemaFailures(validate.errors, data))
  return data
}

const REENABLED: OperationResult = { data: 'hooks updated' }

export const reenableWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  await context.backend.webhooks.reenable([accountIdOf(context)])
  return REENABLED
}

export const reenableDescendantWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  const accountId = accountIdOf(context)
  const descendants = await context.backend.accounts.descendants(accountId)
  await context.backend.webhooks.reenable([accountId, ...descendants])
  return REENABLED
}

export const testWebhook: Operation = async (context) => {
  const { webhooks } = context.backend
  return { data: testJson(await webhooks.test(accountIdOf(context), entityIdOf(context, 'webhookId'))) }
}

export const replayWebhook: Operation = async (context) => {
  const webhookId = entityIdOf(context, 'webhookId')
  const selection = parseReplay(validateBody(context, replaySchema, validateReplay))
  if ('deliveryId' in selection && !isId(selection.deliveryId)) throw notFound(selection.deliveryId)
  return {
    data: replayJson(await context.backend.webhooks.replay(accountIdOf(context), webhookId, selection)),
  }
}

export const readSecret: Operation = async (context) => {
  const { webhooks } = context.backend
  return {
    data: secretJson(await webhooks.readSecret(accountIdOf(context), entityIdOf(context, 'webhookId'))),
  }
}

export const rotateSecret: Operation = async (context) => {
  const { webhooks } = context.backend
  return {
    data: secretJson(await webhooks.rotateSecret(accountIdOf(context), entityIdOf(context, 'webhookId'))),
  }
}
