/** JSON of webhooks. */
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import type { EndpointHealth } from '../webhooks/health.js'
import type { WebhookView } from '../webhooks/view.js'

/** An object for `JSON.stringify`; absent fields are `undefined`, which JSON omits. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Returns the whole webhook, with fields in the order of the documentation. The client's own keys never replace a field
 * of the service. Times in `_read_only` are Gregorian seconds (KAZOO).
 */
export function webhookJson(webhook: WebhookView): JsonObject {
  // Assigned step by step: in V8, properties after a spread in an object literal are several times slower.
  const json: Record<string, unknown> = {
    id: webhook.id,
    name: webhook.name,
    uri: webhook.uri,
    hook: webhook.hook,
    only: webhook.only,
    filter: webhook.filter,
    http_verb: webhook.httpVerb,
    retries: webhook.retries,
    format: webhook.format,
    enabled: webhook.enabled,
    include_subaccounts: webhook.includeSubaccounts,
    include_internal_legs: webhook.includeInternalLegs,
    custom_data: webhook.customData,
    custom_request_headers: webhook.customRequestHeaders,
    group: webhook.group,
    max_age_seconds: webhook.maxAgeSeconds,
    rate_limit: webhook.rateLimit,
    ordering: webhook.ordering,
  }
  if (webhook.extra) Object.assign(json, webhook.extra)
  json.disable_reason = webhook.disableReason
  json._read_only = {
    created: toGregorian(webhook.createdMs),
    modified: toGregorian(webhook.modifiedMs),
    enabled_at: seconds(webhook.enabledMs),
    disabled_at: seconds(webhook.disabledMs),
    max_age_seconds: webhook.effectiveMaxAgeSeconds,
    deleted: webhook.deleted,
  }
  json.health = healthJson(webhook.health)
  return json
}

/** Returns the health of a webhook; times in ISO 8601. */
export function healthJson(health: EndpointHealth): JsonObject {
  const { state, failuresInRow, failingSinceMs, pausedUntilMs, lastSuccessMs, checkedMs, checkCause } = health
  return {
    state,
    failures_in_row: failuresInRow,
    failing_since: isoTime(failingSinceMs),
    paused_until: isoTime(pausedUntilMs),
    last_success_at: isoTime(lastSuccessMs),
    checked_at: isoTime(checkedMs),
    check_cause: checkCause,
  }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))

const seconds = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toGregorian(unixMs))

/** Returns a webhook as shown in a list. */
export function webhookSummaryJson(webhook: WebhookView): JsonObject {
  return {
    id: webhook.id,
    hook: webhook.hook,
    name: webhook.name,
    uri: webhook.uri,
    group: webhook.group,
    enabled: webhook.enabled,
    disable_reason: webhook.disableReason,
    health: healthJson(webhook.health),
  }
}

/** Adds the time of the last success to the JSON of a webhook. @param successes Unix ms by id */
export function withLastSuccess(json: JsonObject, successes: ReadonlyMap<string, number>): JsonObject {
  const lastSuccessMs = successes.get(String(json.id))
  if (lastSuccessMs === undefined) return json
  return { ...json, health: { ...(json.health as JsonObject), last_success_at: toIsoTime(lastSuccessMs) } }
}

/** `revision` in the envelope. */
export const revisionString = (revision: number): string => String(revision)
/** The entity tag of a revision (RFC 9110, section 8.8.3). */
export const etagOf = (revision: number): string => `"${revision}"`
