/** JSON of attempts. */
import type { StoredAttempt } from '../delivery/attempt-record.js'
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import type { JsonObject } from './webhook-json.js'

/** KAZOO's words for reasons: clients compare the first. */
const KAZOO_REASONS: Readonly<Record<string, string>> = {
  'bad status': 'bad response code',
  'no answer': 'kazoo http client error',
  'own fault': 'kazoo http client error',
}

const kazooReason = (reason: string) =>
  Object.hasOwn(KAZOO_REASONS, reason) ? KAZOO_REASONS[reason] : reason

/**
 * Returns the JSON of one attempt. Fields that existing user interfaces read are as in KAZOO (`cb_webhooks`):
 * `resp_status_code` is a string, and `retries` is the number of tries left before this attempt.
 */
export function attemptJson(attempt: StoredAttempt): JsonObject {
  return {
    id: attempt.id,
    hook_id: attempt.webhookId,
    hook_event: attempt.hook,
    event_id: attempt.eventId,
    delivery_id: attempt.deliveryId,
    call_id: attempt.callId,
    uri: attempt.uri,
    method: attempt.method.toLowerCase(),
    attempt: attempt.attempt,
    retries_left: attempt.retriesLeft,
    retries: attempt.retriesLeft + 1,
    result: attempt.result,
    reason: attempt.reason === undefined ? undefined : kazooReason(attempt.reason),
    client_error: attempt.clientError,
    resp_status_code: attempt.status === undefined ? undefined : String(attempt.status),
    resp_headers: headersJson(attempt.responseHeaders),
    resp_body: attempt.responseBody,
    req_headers: headersJson(attempt.requestHeaders),
    req_body: attempt.requestBody,
    duration_ms: attempt.durationMs,
    timestamp: toGregorian(attempt.atMs),
    sent_at: toIsoTime(attempt.atMs),
  }
}

/** Returns the JSON of one attempt without its request, and without headers and body of its response. */
export function slimAttemptJson(attempt: StoredAttempt): JsonObject {
  const {
    req_headers: _headers,
    req_body: _body,
    resp_headers: _responseHeaders,
    resp_body: _responseBody,
    ...slim
  } = attemptJson(attempt)
  return slim
}

/** Converts `[name, value, name, value, …]` to an object; repeated headers are joined (RFC 9110, section 5.3). */
export function headersJson(
  flat: readonly string[] | undefined,
): Readonly<Record<string, string>> | undefined {
  if (flat === undefined) return undefined
  const joined = new Map<string, string>()
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = flat[index]!
    const previous = joined.get(name)
    joined.set(name, previous === undefined ? flat[index + 1]! : `${previous}, ${flat[index + 1]}`)
  }
  return Object.fromEntries(joined)
}
