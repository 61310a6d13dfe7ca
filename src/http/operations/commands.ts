import { invalidInput, notFound } from '../../errors.js'
import { isId } from '../../values/ids.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { type SchemaCheck, toFailures } from '../../values/schema-failures.js'
import { reenableSchema, replaySchema } from '../../wire/body-schemas.js'
import { coerce } from '../../wire/coerce.js'
import { readReplay, replayDoc, secretDoc, testDoc } from '../../wire/command-docs.js'
import { validateReenable, validateReplay } from '../../wire/validators.generated.js'
import { type Answer, accountOf, type Call, idOf, type Perform } from './call.js'

/** The body with its form values coerced. Throws `InvalidInput`. */
function bodyOf(call: Call, schema: JsonSchema, check: SchemaCheck): unknown {
  const data = coerce(schema, call.data)
  if (!check(data)) throw invalidInput(toFailures(check.errors, data))
  return data
}

const REENABLED: Answer = { data: 'hooks updated' }

export const reenableWebhooks: Perform = async (call) => {
  bodyOf(call, reenableSchema, validateReenable)
  await call.service.webhooks.reenable([accountOf(call)])
  return REENABLED
}

export const reenableDescendantWebhooks: Perform = async (call) => {
  bodyOf(call, reenableSchema, validateReenable)
  const accountId = accountOf(call)
  const below = await call.service.accounts.descendants(accountId)
  await call.service.webhooks.reenable([accountId, ...below])
  return REENABLED
}

export const testWebhook: Perform = async (call) => ({
  data: testDoc(await call.service.webhooks.test(accountOf(call), idOf(call, 'webhookId'))),
})

export const replayWebhook: Perform = async (call) => {
  const webhookId = idOf(call, 'webhookId')
  const wish = readReplay(bodyOf(call, replaySchema, validateReplay))
  if ('deliveryId' in wish && !isId(wish.deliveryId)) throw notFound(wish.deliveryId)
  return { data: replayDoc(await call.service.webhooks.replay(accountOf(call), webhookId, wish)) }
}

export const readSecret: Perform = async (call) => ({
  data: secretDoc(await call.service.webhooks.readSecret(accountOf(call), idOf(call, 'webhookId'))),
})

export const rotateSecret: Perform = async (call) => ({
  data: secretDoc(await call.service.webhooks.rotateSecret(accountOf(call), idOf(call, 'webhookId'))),
})
