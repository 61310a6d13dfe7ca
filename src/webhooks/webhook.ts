import type { Health } from './health.js'

export type HttpVerb = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type BodyFormat = 'json' | 'form-data'
export type Ordering = 'call' | 'none'

/** A signing secret at rest. */
export interface SealedSecret {
  /** AES-256-GCM ciphertext of `whsec_…`. */
  readonly sealed: string
  /** The one that was rotated away signs along until then; absent: current. */
  readonly expiresMs?: number
}

/** What the owner of a webhook decides, defaults filled in. */
export interface WebhookSettings {
  readonly name: string
  /** Canonical. */
  readonly uri: string
  readonly hook: string
  readonly httpVerb: HttpVerb
  /** Retries after the first try. */
  readonly retries: number
  readonly format: BodyFormat
  readonly enabled: boolean
  readonly includeSubaccounts: boolean
  readonly includeInternalLegs: boolean
  readonly customData?: Readonly<Record<string, string>>
  readonly customRequestHeaders?: Readonly<Record<string, string>>
  readonly group?: string
  /** An event older than this is not sent. */
  readonly maxAgeSeconds?: number
  readonly ordering: Ordering
}

/**
 * A webhook at rest. `settings.customRequestHeaders` is never in the row: its ciphertext is `sealedHeaders`.
 */
export interface Webhook {
  readonly id: string
  readonly accountId: string
  readonly settings: Omit<WebhookSettings, 'customRequestHeaders'>
  /** AES-256-GCM ciphertext of the JSON of the custom request headers. */
  readonly sealedHeaders?: string
  /** Public keys that are not ours, kept and echoed. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The current signing secret first. */
  readonly secrets: readonly SealedSecret[]
  readonly createdMs: number
  readonly modifiedMs: number
  readonly enabledMs?: number
  readonly disabledMs?: number
  /** Why the service disabled it; absent when its owner did. */
  readonly disableReason?: string
  readonly deletedMs?: number
  /** 1, 2, … at every change of the row by its owner or by us; not by `health`. */
  readonly revision: number
  /** Raised by disabling and deleting: deliveries of an older epoch are cancelled. */
  readonly epoch: number
  /** How it has answered of late; absent: clean. */
  readonly health?: Health
}

/** What a change of settings carries: checked settings, their headers sealed. */
export interface SealedSettings {
  readonly settings: Webhook['settings']
  readonly sealedHeaders?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A new webhook. `nowMs`: wall clock, Unix ms. */
export function newWebhook(
  ids: { readonly id: string; readonly accountId: string },
  sealed: SealedSettings,
  secret: SealedSecret,
  nowMs: number,
): Webhook {
  // No spread comes first: V8 11 would give every row a hidden class of its own, in memory and in all that reads it.
  return {
    id: ids.id,
    accountId: ids.accountId,
    ...sealed,
    secrets: [secret],
    createdMs: nowMs,
    modifiedMs: nowMs,
    ...(sealed.settings.enabled ? { enabledMs: nowMs } : { disabledMs: nowMs }),
    revision: 1,
    epoch: 1,
  }
}

/**
 * A webhook with other settings. Disabling raises the epoch, which cancels what is pending; enabling forgets the
 * reason and the failures.
 */
export function changeSettings(webhook: Webhook, sealed: SealedSettings, nowMs: number): Webhook {
  const { extra: _e, sealedHeaders: _h, disableReason, health, ...kept } = webhook
  const before = webhook.settings.enabled
  const { enabled } = sealed.settings
  return {
    ...kept,
    ...sealed,
    ...(!enabled && !before && disableReason !== undefined && { disableReason }),
    ...(keepsHealth(webhook.settings, sealed.settings) && health && { health }),
    modifiedMs: nowMs,
    ...(enabled && !before && { enabledMs: nowMs }),
    ...(!enabled && before && { disabledMs: nowMs }),
    revision: webhook.revision + 1,
    epoch: before && !enabled ? webhook.epoch + 1 : webhook.epoch,
  }
}

/** Whether what is known of an endpoint still holds after a change: not when it was enabled, or leads elsewhere. */
export function keepsHealth(before: Webhook['settings'], next: Webhook['settings']): boolean {
  return before.uri === next.uri && !(next.enabled && !before.enabled)
}

/** A webhook that the service disables: never silently, `reason` is shown to its owner. */
export function disabledByService(webhook: Webhook, change: { reason: string; atMs: number }): Webhook {
  const { reason, atMs } = change
  const disabled = changeSettings(
    webhook,
    { ...sealedOf(webhook), settings: { ...webhook.settings, enabled: false } },
    atMs,
  )
  return { ...disabled, disableReason: reason }
}

/** A deleted webhook: kept for its attempts, of a higher epoch so that nothing pending is sent. */
export function deletedWebhook(webhook: Webhook, nowMs: number): Webhook {
  return { ...webhook, deletedMs: nowMs, revision: webhook.revision + 1, epoch: webhook.epoch + 1 }
}

/** The part of a webhook that `changeSettings` takes. */
export function sealedOf(webhook: Webhook): SealedSettings {
  const { settings, sealedHeaders, extra } = webhook
  return { settings, ...(sealedHeaders !== undefined && { sealedHeaders }), ...(extra && { extra }) }
}

/** A webhook with a new signing secret; the one before signs along until `overlapMs` are over. */
export function rotateSecret(
  webhook: Webhook,
  secret: SealedSecret,
  nowMs: number,
  overlapMs: number,
): Webhook {
  const alive = webhook.secrets.filter(({ expiresMs }) => expiresMs === undefined || expiresMs > nowMs)
  const [current, ...older] = alive
  const before = current ? [{ sealed: current.sealed, expiresMs: nowMs + overlapMs }] : []
  return {
    ...webhook,
    secrets: [secret, ...before, ...older].slice(0, MAX_SECRETS),
    modifiedMs: nowMs,
    revision: webhook.revision + 1,
  }
}

/** Most secrets that sign at once: rotating often must not grow the header without end. */
const MAX_SECRETS = 4
