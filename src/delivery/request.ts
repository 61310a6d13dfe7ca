import type { SendRequest } from '../ports.js'
import { isSecretHeader } from '../webhooks/request-headers.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim } from './delivery-store.js'
import { sign } from './signature.js'

/** What of a webhook every request to it shares, secrets opened: made once per revision of the webhook. */
export interface EndpointMaterial {
  readonly keys: readonly { readonly key: Uint8Array; readonly expiresMs?: number }[]
  /** Flat: user agent, custom headers and the like. */
  readonly headers: readonly string[]
  /** They have a `traceparent` of their own. */
  readonly isTraced?: boolean
}

export const REDACTED = '[redacted]'

/** Names and values that are the same for every request to a webhook. */
export function fixedHeaders(
  webhook: Pick<Webhook, 'id' | 'accountId'>,
  custom: Readonly<Record<string, string>> | undefined,
  userAgent: string,
): readonly string[] {
  const headers = ['accept-encoding', 'identity', 'X-Hook-ID', webhook.id, 'X-Account-ID', webhook.accountId]
  const names = new Set<string>()
  for (const [name, value] of Object.entries(custom ?? {})) {
    names.add(name.toLowerCase())
    headers.push(name, value)
  }
  if (!names.has('user-agent')) headers.push('User-Agent', userAgent)
  if (!names.has('accept')) headers.push('Accept', '*/*')
  return headers
}

const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
const CONTENT_TYPE = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const

/** The URL with the pairs of a bodiless request in its query, after a query that is there already. */
function withQuery(uri: string, pairs: string): string {
  if (pairs === '') return uri
  return uri + (uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?') + pairs
}

/** True where the pairs travel in the query, and the signed body is empty. */
export function isBodiless(httpVerb: string): boolean {
  return httpVerb === 'get' || httpVerb === 'delete'
}

/** Those that sign now: a secret that was rotated away signs along for a while. */
function liveKeys(keys: EndpointMaterial['keys'], nowMs: number): readonly Uint8Array[] {
  const [only] = keys
  if (keys.length === 1 && only!.expiresMs === undefined) return [only!.key]
  return keys.filter(({ expiresMs }) => expiresMs === undefined || expiresMs > nowMs).map(({ key }) => key)
}

/**
 * The request of one attempt: body, method and encoding as they were frozen, URL, headers and secrets as the
 * webhook is now. Signed as Standard Webhooks 1.0.0 says.
 *
 * @param attempt 1, 2, …
 * @param nowMs wall clock, Unix ms: the signature's timestamp
 * @param traceparent W3C Trace Context; one among the webhook's own headers wins
 */
export function buildRequest(
  claim: Claim,
  webhook: Webhook,
  material: EndpointMaterial,
  attempt: number,
  nowMs: number,
  deadlineMs: number,
  traceparent?: string,
): SendRequest {
  const { delivery } = claim
  const bodiless = isBodiless(delivery.httpVerb)
  const body = bodiless ? '' : claim.body
  const seconds = Math.floor(nowMs / 1000)
  const headers = material.headers.concat(
    'X-Hook-Event',
    delivery.hook,
    'X-Hook-Attempt',
    String(attempt),
    'webhook-id',
    delivery.id,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    sign(liveKeys(material.keys, nowMs), delivery.id, seconds, body),
  )
  if (!bodiless) headers.push('Content-Type', CONTENT_TYPE[delivery.encoding])
  if (traceparent !== undefined && !material.isTraced) headers.push('traceparent', traceparent)
  return {
    method: METHODS[delivery.httpVerb],
    url: bodiless ? withQuery(webhook.settings.uri, claim.body) : webhook.settings.uri,
    headers,
    body: bodiless ? undefined : body,
    deadlineMs,
    group: webhook.id,
  }
}

/** Flat headers as they may be kept: the values of those named like a credential are gone. */
export function redactHeaders(headers: readonly string[]): readonly string[] {
  let redacted: string[] | undefined
  for (let index = 0; index < headers.length; index += 2) {
    if (!isSecretHeader(headers[index]!)) continue
    redacted ??= [...headers]
    redacted[index + 1] = REDACTED
  }
  return redacted ?? headers
}
