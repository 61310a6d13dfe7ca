import type { SecretBox } from '../values/seal.js'
import type { Webhook, WebhookSettings } from './webhook.js'

/** A webhook as its owner sees it: its settings, what the service added, no secret but its own headers. */
export interface WebhookView extends WebhookSettings {
  readonly id: string
  readonly accountId: string
  /** Public keys that are not ours. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Why the service disabled it. */
  readonly disableReason?: string
  readonly createdMs: number
  readonly modifiedMs: number
  readonly enabledMs?: number
  readonly disabledMs?: number
  readonly deleted?: true
  /** Changes whenever the webhook does. */
  readonly revision: number
}

/** What a client says of a webhook: known keys unchecked, in this package's spelling, and the others. */
export interface WebhookInput {
  readonly settings: Readonly<Record<string, unknown>>
  /** Public keys that are not ours: kept and echoed. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What binds a ciphertext to its place. */
export const sealPurpose = {
  headers: (webhookId: string) => `webhook-headers:${webhookId}`,
  secret: (webhookId: string) => `webhook-secret:${webhookId}`,
}

/** The custom request headers of a webhook, opened; `undefined` when it has none. */
export function openHeaders(webhook: Webhook, box: SecretBox): Readonly<Record<string, string>> | undefined {
  if (webhook.sealedHeaders === undefined) return undefined
  const opened = box.open(webhook.sealedHeaders, sealPurpose.headers(webhook.id))
  return opened === undefined ? undefined : (JSON.parse(opened) as Record<string, string>)
}

type Draft = { -readonly [Name in keyof WebhookView]: WebhookView[Name] }

/** @param box opens the custom headers; they are left out where none of its secrets fits */
export function viewOf(webhook: Webhook, box: SecretBox): WebhookView {
  const { id, accountId, settings, extra, disableReason, createdMs, modifiedMs, enabledMs, disabledMs } =
    webhook
  const customRequestHeaders = openHeaders(webhook, box)
  const view: Draft = Object.assign({ id, accountId }, settings, {
    createdMs,
    modifiedMs,
    revision: webhook.revision,
  })
  if (customRequestHeaders) view.customRequestHeaders = customRequestHeaders
  if (extra) view.extra = extra
  if (disableReason !== undefined) view.disableReason = disableReason
  if (enabledMs !== undefined) view.enabledMs = enabledMs
  if (disabledMs !== undefined) view.disabledMs = disabledMs
  if (webhook.deletedMs !== undefined) view.deleted = true
  return view
}
