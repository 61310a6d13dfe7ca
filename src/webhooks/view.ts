import type { SecretCipher } from '../values/encryption.js'
import { type EndpointHealth, endpointHealthOf } from './health.js'
import type { Webhook, WebhookSettings } from './webhook.js'

/** A webhook as shown to its owner: settings and service fields. The only secrets are the owner's custom headers. */
export interface WebhookView extends WebhookSettings {
  /** The webhook’s id. */
  readonly id: string
  /** The webhook’s account. */
  readonly accountId: string
  /** The client's unknown public keys. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Why the service disabled it. */
  readonly disableReason?: string
  /** Creation time, in Unix milliseconds. */
  readonly createdMs: number
  /** Time of the last change, in Unix milliseconds. */
  readonly modifiedMs: number
  /** When it was last enabled, in Unix milliseconds. */
  readonly enabledMs?: number
  /** When it was last disabled, in Unix milliseconds. */
  readonly disabledMs?: number
  /** Present on a webhook that was just deleted. */
  readonly deleted?: true
  /** Changes with every change of the webhook, but not with its health. */
  readonly revision: number
  /** The maximum age in force, in seconds: `maxAgeSeconds`, or the option `defaultMaxAgeSeconds`. */
  readonly effectiveMaxAgeSeconds: number
  /** Whether events reach it. */
  readonly health: EndpointHealth
}

/** Unvalidated input from a client: known keys in this package's spelling, and the unknown ones. */
export interface UncheckedWebhook {
  readonly settings: Readonly<Record<string, unknown>>
  /** The client's unknown public keys: stored and echoed. Null in a patch: none stays. */
  readonly extra?: Readonly<Record<string, unknown>> | null
}

/** Associated data that binds a ciphertext to its webhook and field. */
export const encryptionPurpose = {
  headers: (webhookId: string) => `webhook-headers:${webhookId}`,
  secret: (webhookId: string) => `webhook-secret:${webhookId}`,
}

/** Decrypts a webhook's custom request headers; `undefined` when it has none or no service secret decrypts them. */
export function decryptHeaders(
  webhook: Webhook,
  cipher: SecretCipher,
): Readonly<Record<string, string>> | undefined {
  if (webhook.sealedHeaders === undefined) return undefined
  const text = cipher.decrypt(webhook.sealedHeaders, encryptionPurpose.headers(webhook.id))
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, string>)
}

type MutableView = { -readonly [Name in keyof WebhookView]: WebhookView[Name] }

/**
 * @param cipher decrypts the custom headers, which are omitted when none of its secrets fits
 * @param defaultMaxAgeSeconds maximum age of the deliveries of webhooks that set none
 * @param now store time, ms
 * @param lastSuccessMs time of the last success, Unix ms; default: unknown
 */
export function viewOf(
  webhook: Webhook,
  cipher: SecretCipher,
  defaultMaxAgeSeconds: number,
  now: number,
  lastSuccessMs?: number,
): WebhookView {
  const { id, accountId, settings, extra, disableReason, createdMs, modifiedMs, enabledMs, disabledMs } =
    webhook
  const customRequestHeaders = decryptHeaders(webhook, cipher)
  const view: MutableView = Object.assign({ id, accountId }, settings, {
    createdMs,
    modifiedMs,
    revision: webhook.revision,
    effectiveMaxAgeSeconds: settings.maxAgeSeconds ?? defaultMaxAgeSeconds,
    health: endpointHealthOf(webhook, now, lastSuccessMs),
  })
  if (customRequestHeaders) view.customRequestHeaders = customRequestHeaders
  if (extra) view.extra = extra
  if (disableReason !== undefined) view.disableReason = disableReason
  if (enabledMs !== undefined) view.enabledMs = enabledMs
  if (disabledMs !== undefined) view.disabledMs = disabledMs
  if (webhook.deletedMs !== undefined) view.deleted = true
  return view
}
