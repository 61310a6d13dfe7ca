/** Commands on webhooks: re-enable, resume, test, replay, read and rotate the signing secret. */
import { notFound } from '../../errors.js'
import { isId } from '../../values/ids.js'
import { validateReenable, validateReplay } from '../../values/validators.generated.js'
import { reenableSchema, replaySchema } from '../../wire/body-schemas.js'
import { parseReplay, replayCountJson, replayJson, secretJson, testJson } from '../../wire/command-json.js'
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

export const replayWebhook: Operation = async (context) => {
  const webhookId = entityIdOf(context, 'webhookId')
  const { request, isDryRun } = parseReplay(validateBody(context, replaySchema, validateReplay))
  if ('deliveryId' in request && !isId(request.deliveryId)) throw notFound(request.deliveryId)
  const { webhooks } = context.backend
  const target = [accountIdOf(context), webhookId, request] as const
  return isDryRun
    ? { data: replayCountJson(await webhooks.countReplays(...target)), status: 200 }
    : { data: replayJson(await webhooks.replay(...target)) }
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
