/** The webhook row and its changes. Pure. */
import type { EventFilter } from './event-filter.js'
import { endPause, type Health } from './health.js'

/**
 * HTTP method of the requests to a webhook (`http_verb`). `get` and `delete` carry the payload in the query.
 *
 * @internal
 */
export type HttpVerb = WebhookSettings['httpVerb']
/** Encoding of the payload: JSON, or `application/x-www-form-urlencoded`. */
export type BodyFormat = WebhookSettings['format']
/**
 * `call`: the events of one call are sent one after the other, in order of acceptance; an event that keeps failing while its
 * receiver takes others delays the next events for `orderingPatienceSeconds` only. `strict`: until it has ended.
 * `none`: in parallel.
 */
export type Ordering = WebhookSettings['ordering']

/** A stored signing secret. */
export interface EncryptedSecret {
  /** AES-256-GCM ciphertext of `whsec_…`. */
  readonly sealed: string
  /** A rotated-out secret still signs until this time (Unix ms). Absent: the current secret. */
  readonly expiresMs?: number
}

/** The settings of a webhook, set by its owner, with defaults filled in. */
export interface WebhookSettings {
  /** Label shown in lists, 1–255 characters. */
  readonly name: string
  /** URL that receives the requests: http or https, at most 2048 characters, stored in canonical form. */
  readonly uri: string
  /** Kind of event to send: an id of the catalogue, such as `channel_create`, or `all`. */
  readonly hook: string
  /** With `hook: 'all'`: only these kinds of events, 1–100 ids of the catalogue. Default: every kind. */
  readonly only?: readonly string[]
  /** Only events whose payload passes this filter; others are not delivered. Default: all events. */
  readonly filter?: EventFilter
  /** HTTP method of the requests. Default `post`. */
  readonly httpVerb: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /**
   * How often a delivery that the receiver rejects is sent again, 0–30. Default: the option `defaultRetries`, which is 5.
   * With the retry policy `kazoo` it counts all tries, at least one.
   */
  readonly retries: number
  /** Encoding of the payload. Default: the option `defaultFormat`, which is `json`. */
  readonly format: 'json' | 'form-data'
  /**
   * Whether events are delivered. Default true. Disabling cancels pending deliveries; enabling clears the
   * health.
   */
  readonly enabled: boolean
  /** Also sends the events of all accounts below this one. Default false. */
  readonly includeSubaccounts: boolean
  /** Also sends the events of loopback legs (`ChannelEvent.isInternalLeg`). Default true. */
  readonly includeInternalLegs: boolean
  /**
   * Fields merged into every payload, which they override; `type` and `action` are dropped (KAZOO). At most
   * 64 KiB as JSON.
   */
  readonly customData?: Readonly<Record<string, string>>
  /**
   * Headers added to every request, at most 4 KiB. Not allowed: hop-by-hop headers (RFC 9110, section 7.6.1),
   * `host`, `content-*`, `webhook-*`, `x-hook-*`, `x-account-id`, and those that say who sends a request or where it comes
   * from (`FORBIDDEN_HEADERS`). Stored encrypted.
   */
  readonly customRequestHeaders?: Readonly<Record<string, string>>
  /** Label for grouping webhooks, at most 255 characters. Default: none. */
  readonly group?: string
  /**
   * Deliveries that were accepted longer ago than this expire unsent, in seconds, 1–2,147,483,647; those of a replay count
   * from the replay. Default: the option `defaultMaxAgeSeconds` (`WebhookView.effectiveMaxAgeSeconds`).
   */
  readonly maxAgeSeconds?: number
  /**
   * Most requests per second, per node, 0.001–10,000, fractions allowed. Default: the option `defaultRateLimit`, which is no
   * limit.
   */
  readonly rateLimit?: number
  /** Whether the events of one call are sent in order. Default `call`. */
  readonly ordering: 'call' | 'strict' | 'none'
}

/** A stored webhook. The row never contains `settings.customRequestHeaders`: `sealedHeaders` is their ciphertext. */
export interface Webhook {
  /** Id of the webhook, unique in the store. */
  readonly id: string
  /** Id of the account that owns the webhook. */
  readonly accountId: string
  /** The owner's settings with defaults filled in; the custom request headers are in `sealedHeaders`. */
  readonly settings: Omit<WebhookSettings, 'customRequestHeaders'>
  /** AES-256-GCM ciphertext of the JSON of the custom request headers. */
  readonly sealedHeaders?: string
  /** The client's unknown public keys, stored and echoed. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The current signing secret first. */
  readonly secrets: readonly EncryptedSecret[]
  /** Creation time: wall clock, Unix ms. */
  readonly createdMs: number
  /** Time of the last change other than of `health`: wall clock, Unix ms. */
  readonly modifiedMs: number
  /** When it was last enabled: wall clock, Unix ms. Absent: never. */
  readonly enabledMs?: number
  /** When it was last disabled: wall clock, Unix ms. Absent: never. */
  readonly disabledMs?: number
  /** Why the service disabled it; absent when its owner disabled it. */
  readonly disableReason?: string
  /**
   * When it was deleted: wall clock, Unix ms. Absent: it is not deleted. Deleted rows stay for their
   * attempts.
   */
  readonly deletedMs?: number
  /** 1, 2, …: incremented by every change by its owner or by the service, but not by changes of `health`. */
  readonly revision: number
  /** Incremented by disabling and deleting: deliveries of an older epoch are cancelled. */
  readonly epoch: number
  /** The revision in which its owner last ended a pause (`resumeWebhook`). Absent: never. */
  readonly resumedRevision?: number
  /** Recent failures; absent: none. */
  readonly health?: Health
}

/** Validated settings with encrypted headers, as a change of settings writes them. */
export interface EncryptedSettings {
  readonly settings: Webhook['settings']
  readonly sealedHeaders?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Builds the row of a new webhook. `nowMs`: store time, ms. */
export function newWebhook(
  ids: { readonly id: string; readonly accountId: string },
  encrypted: EncryptedSettings,
  secret: EncryptedSecret,
  nowMs: number,
): Webhook {
  // The literal must not start with a spread: V8 11 would give every row its own hidden class.
  return {
    id: ids.id,
    accountId: ids.accountId,
    ...encrypted,
    secrets: [secret],
    createdMs: nowMs,
    modifiedMs: nowMs,
    ...(encrypted.settings.enabled ? { enabledMs: nowMs } : { disabledMs: nowMs }),
    revision: 1,
    epoch: 1,
  }
}

/**
 * Replaces the settings of a webhook. Disabling increments the epoch, which cancels its pending deliveries; enabling
 * clears the disable reason and the health.
 */
export function changeSettings(webhook: Webhook, encrypted: EncryptedSettings, nowMs: number): Webhook {
  const { extra: _e, sealedHeaders: _h, disableReason, health, ...unchanged } = webhook
  const wasEnabled = webhook.settings.enabled
  const { enabled } = encrypted.settings
  return {
    ...unchanged,
    ...encrypted,
    ...(!enabled && !wasEnabled && disableReason !== undefined && { disableReason }),
    ...(shouldKeepHealth(webhook.settings, encrypted.settings) && health && { health }),
    modifiedMs: nowMs,
    ...(enabled && !wasEnabled && { enabledMs: nowMs }),
    ...(!enabled && wasEnabled && { disabledMs: nowMs }),
    revision: webhook.revision + 1,
    epoch: wasEnabled && !enabled ? webhook.epoch + 1 : webhook.epoch,
  }
}

/** Whether the endpoint's health still applies after a change: not when it becomes enabled or its URI changes. @internal */
export function shouldKeepHealth(before: Webhook['settings'], next: Webhook['settings']): boolean {
  return before.uri === next.uri && !(next.enabled && !before.enabled)
}

/**
 * The health that a webhook has after a change, from the newest health before it. Another secret or other headers end a pause:
 * the receiver may have rejected the former ones.
 */
export function healthAfterChange(before: Webhook, next: Webhook): Health | undefined {
  const { health } = before
  if (!health || !shouldKeepHealth(before.settings, next.settings)) return undefined
  const isKept =
    next.resumedRevision === before.resumedRevision &&
    next.secrets[0]?.sealed === before.secrets[0]?.sealed &&
    next.sealedHeaders === before.sealedHeaders
  return isKept ? health : endPause(health)
}

/** Ends the pause of a webhook, if it has one. */
export function resumeWebhook(webhook: Webhook): Webhook {
  const { health, ...row } = webhook
  const revision = webhook.revision + 1
  const rest = health && endPause(health)
  return { ...row, ...(rest && { health: rest }), revision, resumedRevision: revision }
}

/** Disables a webhook by the service. `reason` is shown to its owner. */
export function disableWebhook(webhook: Webhook, change: { reason: string; atMs: number }): Webhook {
  const { reason, atMs } = change
  const disabled = changeSettings(
    webhook,
    { ...encryptedSettingsOf(webhook), settings: { ...webhook.settings, enabled: false } },
    atMs,
  )
  return { ...disabled, disableReason: reason }
}

/** Marks a webhook as deleted. The row is kept for its attempts; the higher epoch cancels its pending deliveries. */
export function deleteWebhook(webhook: Webhook, nowMs: number): Webhook {
  return { ...webhook, deletedMs: nowMs, revision: webhook.revision + 1, epoch: webhook.epoch + 1 }
}

/** The part of a webhook that `changeSettings` replaces. */
export function encryptedSettingsOf(webhook: Webhook): EncryptedSettings {
  const { settings, sealedHeaders, extra } = webhook
  return { settings, ...(sealedHeaders !== undefined && { sealedHeaders }), ...(extra && { extra }) }
}

/** Sets a new signing secret. The previous one keeps signing for `overlapMs`. */
export function rotateSecret(
  webhook: Webhook,
  secret: EncryptedSecret,
  nowMs: number,
  overlapMs: number,
): Webhook {
  const active = webhook.secrets.filter(({ expiresMs }) => expiresMs === undefined || expiresMs > nowMs)
  const [current, ...older] = active
  const previous = current ? [{ sealed: current.sealed, expiresMs: nowMs + overlapMs }] : []
  return {
    ...webhook,
    secrets: [secret, ...previous, ...older].slice(0, MAX_SECRETS),
    modifiedMs: nowMs,
    revision: webhook.revision + 1,
  }
}

/** Maximum number of secrets that sign at once, so that frequent rotation cannot grow the header without limit. */
const MAX_SECRETS = 4
