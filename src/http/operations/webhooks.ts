import { invalidInput } from '../../errors.js'
import type { ChangeOptions } from '../../webhooks/manage.js'
import type { WebhookInput, WebhookView } from '../../webhooks/view.js'
import { webhookSchema } from '../../webhooks/webhook-schema.js'
import { coerce } from '../../wire/coerce.js'
import { pageOf } from '../../wire/list.js'
import { readWebhook as readNames } from '../../wire/names.js'
import { allowedRevisions, namesRevision } from '../../wire/precondition.js'
import { header } from '../../wire/request-head.js'
import { webhookDoc, webhookSummary } from '../../wire/webhook-doc.js'
import {
  type Answer,
  accountOf,
  type Call,
  idOf,
  listAnswer,
  listRequestOf,
  objectOf,
  type Perform,
} from './call.js'

/** No webhook ever has it: what nobody's revision is allowed to be. */
const NO_REVISION = 0

const answer = (webhook: WebhookView): Answer => ({ data: webhookDoc(webhook), revision: webhook.revision })

/** The body as the core wants it, form values coerced. */
function inputOf(call: Call): WebhookInput {
  const { settings, extra } = readNames(objectOf(call))
  const coerced = coerce(webhookSchema, settings) as Record<string, unknown>
  return extra === undefined ? { settings: coerced } : { settings: coerced, extra }
}

/** The one revision that `If-Match` allows; of several, the webhook's own if it is among them. */
async function changeOptions(call: Call, webhookId: string): Promise<ChangeOptions> {
  const allowed = allowedRevisions(header(call.headers, 'if-match'))
  if (allowed === undefined) return {}
  if (allowed.length <= 1) return { revision: allowed[0] ?? NO_REVISION }
  const { revision } = await call.service.webhooks.read(accountOf(call), webhookId)
  return { revision: allowed.includes(revision) ? revision : NO_REVISION }
}

export const listWebhooks: Perform = async (call) => {
  const request = listRequestOf(call)
  const cut = pageOf(await call.service.webhooks.list(accountOf(call)), request, {
    keyOf: ({ name, id }) => [name, id],
    createdMs: ({ createdMs }) => createdMs,
    whole: webhookDoc,
    shown: webhookSummary,
  })
  if ('failures' in cut) throw invalidInput(cut.failures)
  return listAnswer(cut.page, request)
}

export const createWebhook: Perform = async (call) => {
  const accountId = accountOf(call)
  const webhook = await call.service.webhooks.create(accountId, inputOf(call))
  return { ...answer(webhook), location: `${call.base}/accounts/${accountId}/webhooks/${webhook.id}` }
}

export const readWebhook: Perform = async (call) => {
  const webhook = await call.service.webhooks.read(accountOf(call), idOf(call, 'webhookId'))
  const { revision } = webhook
  return namesRevision(header(call.headers, 'if-none-match'), revision)
    ? { ...answer(webhook), unchanged: true }
    : { written: call.documents.of(webhook), revision }
}

export const replaceWebhook: Perform = async (call) => {
  const id = idOf(call, 'webhookId')
  const input = inputOf(call)
  const options = await changeOptions(call, id)
  return answer(await call.service.webhooks.replace(accountOf(call), id, input, options))
}

export const patchWebhook: Perform = async (call) => {
  const id = idOf(call, 'webhookId')
  const input = inputOf(call)
  const options = await changeOptions(call, id)
  return answer(await call.service.webhooks.patch(accountOf(call), id, input, options))
}

export const deleteWebhook: Perform = async (call) => {
  const id = idOf(call, 'webhookId')
  const options = await changeOptions(call, id)
  const webhook = await call.service.webhooks.remove(accountOf(call), id, options)
  return answer({ ...webhook, deleted: true })
}
