/** Create, read, replace, patch, delete, list and preview webhooks, with conditional requests. */
import { changesOf } from '../../runtime/audit.js'
import { previewOf } from '../../runtime/webhook-api.js'
import { validatePreview } from '../../values/validators.generated.js'
import { maskHeaders } from '../../webhooks/header-mask.js'
import {
  type ChangeOptions,
  createWebhook as create,
  pageWebhooks,
  patchWebhook as patch,
  removeWebhook as remove,
  replaceWebhook as replace,
} from '../../webhooks/manage.js'
import type { UncheckedWebhook, WebhookView } from '../../webhooks/view.js'
import { previewSchema } from '../../wire/body-schemas.js'
import { checkedAddressJson, previewJson } from '../../wire/command-json.js'
import { parseWebhookFields } from '../../wire/field-names.js'
import { matchesRevision } from '../../wire/precondition.js'
import { getHeader } from '../../wire/request-head.js'
import { findMisspeltFields } from '../../wire/warnings.js'
import { webhookJson, webhookSummaryJson, withLastSuccess } from '../../wire/webhook-json.js'
import { sortedRows } from '../paginate.js'
import {
  accountIdOf,
  auditedWebhooks,
  callerRights,
  expectedRevision,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  validateBody,
  webhookIds,
} from './context.js'

/** A caller who may not change webhooks does not see the values of their custom headers. */
const isMasked = (context: OperationContext): boolean => callerRights(context).isReadOnly

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

const readStored = (context: OperationContext): Promise<WebhookView> =>
  context.deps.webhooks.read(...webhookIds(context))

async function changeOptions(context: OperationContext): Promise<ChangeOptions> {
  const revision = await expectedRevision(context, async () => (await readStored(context)).revision)
  return revision === undefined ? {} : { revision }
}

export const listWebhooks: Operation = async (context) => {
  const request = readListRequest(context)
  const accountId = accountIdOf(context)
  const { core } = context.deps
  // Filters compare what the caller sees: a header could be guessed with them.
  const shown = isMasked(context) ? maskHeaders<WebhookView> : (webhook: WebhookView) => webhook
  const source = sortedRows<WebhookView>(request, {
    read: (page) => pageWebhooks(core().webhookDeps, accountId, page),
    keyOf: ({ name, id }) => [name, id],
    createdMs: ({ createdMs }) => createdMs,
    toFilterJson: (webhook) => webhookJson(shown(webhook)),
    async toItems(rows) {
      const successes = await core().store.deliveries.lastSuccesses(rows.map(({ id }) => id))
      return rows.map((webhook) => withLastSuccess(webhookSummaryJson(webhook), successes))
    },
  })
  return listResult(request, source)
}

export const createWebhook: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const input = parseWebhookFields(context.data)
  const { webhookDeps, audit } = auditedWebhooks(context)
  const webhook = await create(webhookDeps, accountId, input)
  const location = `${context.base}/accounts/${accountId}/webhooks/${webhook.id}`
  return {
    ...changeResult(webhook, context, input),
    location,
    audit: () => ({ webhookId: webhook.id, ...audit() }),
  }
}

export const previewWebhook: Operation = async (context) => {
  const { webhook, hook } = validateBody(context, previewSchema, validatePreview) as {
    webhook: unknown
    hook?: string
  }
  // The settings of the document are checked as those of a new webhook are.
  const preview = previewOf(context.deps.core(), accountIdOf(context), parseWebhookFields(webhook), hook)
  return { data: previewJson(preview) }
}

export const checkAddress: Operation = async (context) => {
  const { uri } = context.data as { uri: string }
  return { data: checkedAddressJson(await context.deps.webhooks.checkAddress(accountIdOf(context), { uri })) }
}

export const readWebhook: Operation = async (context) => {
  const webhook = await readStored(context)
  const { revision } = webhook
  if (matchesRevision(getHeader(context.headers, 'if-none-match'), revision))
    return { revision, isNotModified: true }
  if (hasSecret(webhook) && isMasked(context)) return webhookResult(maskHeaders(webhook))
  return { dataJson: context.documentCache.serialize(webhook), revision, hasSecret: hasSecret(webhook) }
}

async function change(context: OperationContext, apply: typeof replace): Promise<OperationResult> {
  const ids = webhookIds(context)
  const input = parseWebhookFields(context.data)
  const options = await changeOptions(context)
  const { webhookDeps, audit } = auditedWebhooks(context)
  return { ...changeResult(await apply(webhookDeps, ...ids, input, options), context, input), audit }
}

export const replaceWebhook: Operation = (context) => change(context, replace)
export const patchWebhook: Operation = (context) => change(context, patch)

export const deleteWebhook: Operation = async (context) => {
  const ids = webhookIds(context)
  const webhook = await remove(context.deps.core().webhookDeps, ...ids, await changeOptions(context))
  return { ...webhookResult({ ...webhook, deleted: true }), audit: () => changesOf(webhook, undefined) }
}
