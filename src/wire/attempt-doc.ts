import type { StoredAttempt } from '../delivery/attempt-record.js'
import { toGregorian } from '../values/greg-time.js'
import { isoTime } from '../values/iso-time.js'
import type { Doc } from './webhook-doc.js'

/**
 * One attempt as the API shows it. What existing user interfaces read is kept (KAZOO `cb_webhooks`):
 * `resp_status_code` is text, `retries` counts the tries left before this one.
 */
export function attemptDoc(attempt: StoredAttempt): Doc {
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
    reason: attempt.reason,
    client_error: attempt.clientError,
    resp_status_code: attempt.status === undefined ? undefined : String(attempt.status),
    resp_headers: headersDoc(attempt.responseHeaders),
    resp_body: attempt.responseBody,
    req_headers: headersDoc(attempt.requestHeaders),
    req_body: attempt.requestBody,
    duration_ms: attempt.durationMs,
    timestamp: toGregorian(attempt.atMs),
    sent_at: isoTime(attempt.atMs),
  }
}

/** Name, value, name, value, … as an object; values of one name are joined (RFC 9110, section 5.3). */
function headersDoc(flat: readonly string[] | undefined): Readonly<Record<string, string>> | undefined {
  if (flat === undefined) return undefined
  const joined = new Map<string, string>()
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = flat[index]!
    const before = joined.get(name)
    joined.set(name, before === undefined ? flat[index + 1]! : `${before}, ${flat[index + 1]}`)
  }
  return Object.fromEntries(joined)
}
