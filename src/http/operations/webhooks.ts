/** Create, read, replace, patch, delete, list and preview webhooks, with conditional requests. */
import { validatePreview } from '../../values/validators.generated.js'
import { maskHeaders } from '../../webhooks/header-mask.js'
import type { ChangeOptions } from '../../webhooks/manage.js'
import type { UncheckedWebhook, WebhookView } from '../../webhooks/view.js'
import { webhookSchema } from '../../webhooks/webhook-schema.js'
import { previewSchema } from '../../wire/body-schemas.js'
import { coerce } from '../../wire/coerce.js'
import { previewJson } from '../../wire/command-json.js'
import { parseWebhookFields } from '../../wire/field-names.js'
import { matchesRevision } from '../../wire/precondition.js'
import { getHeader } from '../../wire/request-head.js'
import { findMisspeltFields } from '../../wire/warnings.js'
import { webhookJson, webhookSummaryJson, withLastSuccess } from '../../wire/webhook-json.js'
import { sortedRows } from '../paginate.js'
import {
  accountIdOf,
  entityIdOf,
  expectedRevision,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  validateBody,
} from './context.js'

/** A caller who may not change webhooks does not see the values of their custom headers. */
const isMasked = ({ backend, caller }: OperationContext): boolean =>
  backend.accounts.rightsOf(caller!).isReadOnly

/** A document with custom headers, masked or not, is no copy for whoever uses the same browser next. */
const hasSecret = ({ customRequestHeaders }: WebhookView) => customRequestHeaders !== undefined

const webhookResult = (webhook: WebhookView): OperationResult => ({
  data: webhookJson(webhook),
  revision: webhook.revision,
  hasSecret: hasSecret(webhook),
})

/** The result of a change, with warnings about fields of the request that are probably misspelt. */
function changeResult(
  webhook: WebhookView,
  context: OperationContext,
  { extra }: UncheckedWebhook,
): OperationResult {
  const warnings = extra ? findMisspeltFields(extra, context.data as Record<string, unknown>) : []
  return warnings.length === 0 ? webhookResult(webhook) : { ...webhookResult(webhook), warnings }
}

/** Converts a document to webhook input, with form values coerced. */
function webhookInputOf(document: unknown): UncheckedWebhook {
  const { settings, extra } = parseWebhookFields(document as Record<string, unknown>)
  const coerced = coerce(webhookSchema, settings) as Record<string, unknown>
  return extra === undefined ? { settings: coerced } : { settings: coerced, extra }
}

async function changeOptions(context: OperationContext, webhookId: string): Promise<ChangeOptions> {
  const revision = await expectedRevision(
    context,
    async () => (await context.backend.webhooks.read(accountIdOf(context), webhookId)).revision,
  )
  return revision === undefined ? {} : { revision }
}

export const listWebhooks: Operation = async (context) => {
  const request = readListRequest(context)
  const accountId = accountIdOf(context)
  const { webhooks } = context.backend
  // Filters compare what the caller sees: a header could be guessed with them.
  const shown = isMasked(context) ? maskHeaders<WebhookView> : (webhook: WebhookView) => webhook
  const source = sortedRows<WebhookView>(request, {
    read: (page) => webhooks.page(accountId, page),
    keyOf: ({ name, id }) => [name, id],
    createdMs: ({ createdMs }) => createdMs,
    toFilterJson: (webhook) => webhookJson(shown(webhook)),
    async toItems(rows) {
      const successes = await webhooks.lastSuccesses(rows.map(({ id }) => id))
      return rows.map((webhook) => withLastSuccess(webhookSummaryJson(webhook), successes))
    },
  })
  return listResult(request, source)
}

export const createWebhook: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const input = webhookInputOf(context.data)
  const webhook = await context.backend.webhooks.create(accountId, input)
  const location = `${context.base}/accounts/${accountId}/webhooks/${webhook.id}`
  return { ...changeResult(webhook, context, input), location }
}

export const previewWebhook: Operation = async (context) => {
  const { webhook, hook } = validateBody(context, previewSchema, validatePreview) as {
    webhook: unknown
    hook?: string
  }
  // The settings of the document are checked as those of a new webhook are.
  const preview = context.backend.webhooks.preview(accountIdOf(context), webhookInputOf(webhook), hook)
  return { data: previewJson(await preview) }
}

export const readWebhook: Operation = async (context) => {
  const webhook = await context.backend.webhooks.read(accountIdOf(context), entityIdOf(context, 'webhookId'))
  const { revision } = webhook
  if (matchesRevision(getHeader(context.headers, 'if-none-match'), revision))
    return { revision, isNotModified: true }
  if (hasSecret(webhook) && isMasked(context)) return webhookResult(maskHeaders(webhook))
  return { dataJson: context.documentCache.serialize(webhook), revision, hasSecret: hasSecret(webhook) }
}

export const replaceWebhook: Operation = async (context) => {
  const id = entityIdOf(context, 'webhookId')
  const input = webhookInputOf(context.data)
  const options = await changeOptions(context, id)
  const webhook = await context.backend.webhooks.replace(accountIdOf(context), id, input, options)
  return changeResult(webhook, context, input)
}

export const patchWebhook: Operation = async (context) => {
  const id = entityIdOf(context, 'webhookId')
  const input = webhookInputOf(context.data)
  const options = await changeOptions(context, id)
  const webhook = await context.backend.webhooks.patch(accountIdOf(context), id, input, options)
  return changeResult(webhook, context, input)
}

export const deleteWebhook: Operation = async (context) => {
  const id = entityIdOf(context, 'webhookId')
  const options = await changeOptions(context, id)
  const webhook = await context.backend.webhooks.remove(accountIdOf(context), id, options)
  return webhookResult({ ...webhook, deleted: true })
}
