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

const reenabled = (webhooks: number): OperationResult => ({
  data: 'hooks updated',
  audit: () => ({ details: { webhooks } }),
})

export const reenableWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  return reenabled(await context.deps.webhooks.reenable([accountIdOf(context)]))
}

export const reenableDescendantWebhooks: Operation = async (context) => {
  validateBody(context, reenableSchema, validateReenable)
  const { core, webhooks } = context.deps
  const accountId = accountIdOf(context)
  return reenabled(await webhooks.reenable([accountId, ...(await core().accounts.descendants(accountId))]))
}

export const testWebhook: Operation = async (context) => {
  const ids = webhookIds(context)
  limitReplays(context, ids)
  const deliveryId = await context.deps.webhooks.test(...ids)
  return { data: testJson(deliveryId), audit: () => ({ deliveryId }) }
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
