/** Commands on webhooks: re-enable, resume, test, read and rotate the signing secret. */
import { validateReenable } from '../../values/validators.generated.js'
import { reenableSchema } from '../../wire/body-schemas.js'
import { secretJson, testJson } from '../../wire/command-json.js'
import { webhookJson } from '../../wire/webhook-json.js'
import { accountIdOf, entityIdOf, type Operation, type OperationResult, validateBody } from './context.js'

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

export const resumeWebhook: Operation = async (context) => {
  const { webhooks } = context.backend
  const webhook = await webhooks.resume(accountIdOf(context), entityIdOf(context, 'webhookId'))
  return { data: webhookJson(webhook), revision: webhook.revision }
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
