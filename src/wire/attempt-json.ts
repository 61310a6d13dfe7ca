/** JSON of attempts. */
import type { StoredAttempt } from '../delivery/attempt-record.js'
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import { partiesJson } from './parties-json.js'
import type { JsonObject } from './webhook-json.js'

/** KAZOO's words for reasons: clients compare the first. */
const KAZOO_REASONS: Readonly<Record<string, string>> = {
  'bad status': 'bad response code',
  'no answer': 'kazoo http client error',
  'own fault': 'kazoo http client error',
}

const kazooReason = (reason: string) =>
  Object.hasOwn(KAZOO_REASONS, reason) ? KAZOO_REASONS[reason] : reason

/** Maximum size of a recorded body in a list, in bytes of UTF-8 (1 KiB); KAZOO's page reads the bodies of lists. @internal */
export const MAX_LISTED_BODY_BYTES = 1_024

/**
 * Returns the JSON of one attempt with whole bodies. Fields that existing user interfaces read are as in KAZOO (`cb_webhooks`):
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
    call: partiesJson(attempt.call),
    caller_name: attempt.call?.callerName,
    uri: attempt.uri,
    method: attempt.method.toLowerCase(),
    attempt: attempt.attempt,
    retries_left: attempt.retriesLeft,
    retries: attempt.retriesLeft + 1,
    result: attempt.result,
    reason: attempt.reason === undefined ? undefined : kazooReason(attempt.reason),
    client_error: attempt.clientError,
    cause: attempt.cause,
    detail: attempt.detail,
    out_of_order: attempt.outOfOrder,
    late: attempt.late,
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

/**
 * Returns the JSON of one attempt for a list: each body has at most 1 KiB, and `req_body_cut` or `resp_body_cut` is true
 * where the rest is left out.
 */
export function listedAttemptJson(attempt: StoredAttempt): JsonObject {
  const requestBody = cutBody(attempt.requestBody)
  const responseBody = cutBody(attempt.responseBody)
  const { req_body, resp_body, ...rest } = attemptJson(attempt)
  return {
    ...rest,
    resp_body: responseBody ?? resp_body,
    resp_body_cut: responseBody === undefined ? undefined : true,
    req_body: requestBody ?? req_body,
    req_body_cut: requestBody === undefined ? undefined : true,
  }
}

/** The start of a text above the limit, without a part of a character at its end; `undefined`: it is within the limit. */
function cutBody(body: string | undefined): string | undefined {
  if (body === undefined || Buffer.byteLength(body) <= MAX_LISTED_BODY_BYTES) return undefined
  // No character has fewer bytes than UTF-16 units.
  const bytes = Buffer.from(body.slice(0, MAX_LISTED_BODY_BYTES + 1))
  let end = MAX_LISTED_BODY_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
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
