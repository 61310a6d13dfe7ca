/** Commands on webhooks: re-enable, resume, test, read and rotate the signing secret. */
import { validateReenable } from '../../values/validators.generated.js'
import { reenableSchema } from '../../wire/body-schemas.js'
import { secretJson, testJson } from '../../wire/command-json.js'
import { webhookJson } from '../../wire/webhook-json.js'
import {
  accountIdOf,
  limitReplays,
  type Operation,
  type OperationResult,
  validateBody,
  webhookIds,
} from './context.js'

const REENABLED: OperationResult = { data: 'hooks updated' }

export const reenableWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  await context.deps.webhooks.reenable([accountIdOf(context)])
  return REENABLED
}

export const reenableDescendantWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  const { core, webhooks } = context.deps
  const accountId = accountIdOf(context)
  await webhooks.reenable([accountId, ...(await core().accounts.descendants(accountId))])
  return REENABLED
}

export const testWebhook: Operation = async (context) => {
  const ids = webhookIds(context)
  limitReplays(context, ids)
  return { data: testJson(await context.deps.webhooks.test(...ids)) }
}

export const resumeWebhook: Operation = async (context) => {
  const ids = webhookIds(context)
  limitReplays(context, ids)
  const webhook = await context.deps.webhooks.resume(...ids)
  return { data: webhookJson(webhook), revision: webhook.revision }
}

export const readSecret: Operation = async (context) => ({
  data: secretJson(await context.deps.webhooks.secret(...webhookIds(context))),
})

export const rotateSecret: Operation = async (context) => ({
  data: secretJson(await context.deps.webhooks.rotateSecret(...webhookIds(context))),
})
