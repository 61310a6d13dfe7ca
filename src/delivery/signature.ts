/**
 * Signatures of Standard Webhooks 1.0.0: HMAC-SHA-256 over `id.timestamp.body`, written as `v1,<base64>`;
 * several, separated by spaces, during a rotation. https://github.com/standard-webhooks/standard-webhooks
 */
import { constantTimeEqual, hmacSha256 } from '../values/hash.js'
import { parseSigningSecret } from '../webhooks/signing-secret.js'

/** Signs a body: one `v1,…` per key, separated by spaces. */
export function sign(
  keys: readonly Uint8Array[],
  id: string,
  timestampSeconds: number,
  body: string,
): string {
  const prefix = `${id}.${timestampSeconds}.`
  return keys.map((key) => signatureOf(key, prefix, body)).join(' ')
}

function signatureOf(key: Uint8Array, prefix: string, body: string | Uint8Array): string {
  return `v1,${hmacSha256(key, prefix, body).toString('base64')}`
}

/** Result of `verify`: the signed message, or why the request must be rejected. */
export type Verified =
  | { readonly ok: true; readonly id: string; readonly timestampSeconds: number }
  | {
      readonly ok: false
      readonly reason:
        | 'missing header'
        | 'bad secret'
        | 'bad body'
        | 'bad timestamp'
        | 'timestamp too old'
        | 'timestamp too new'
        | 'no signature fits'
    }

type RequestHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }

function readHeader(headers: RequestHeaders, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  if (typeof (headers as { get?: unknown }).get === 'function') {
    return (headers as { get(name: string): string | null }).get(name) ?? undefined
  }
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>
  const key = Object.keys(record).find((candidate) => candidate.toLowerCase() === name)
  const value = key === undefined ? undefined : record[key]
  const [only, ...others] = Array.isArray(value) ? value : [value]
  return typeof only === 'string' && others.length === 0 ? only : undefined
}

/**
 * Verifies that a request was signed with one of the secrets and is recent. `runtime/verify` exports it with
 * the current time as the default. Never throws; compares in constant time.
 *
 * @param options `nowSeconds`: Unix time; `toleranceSeconds`: allowed clock difference in both directions,
 *   default 300
 */
export function verify(
  request: { readonly headers: RequestHeaders; readonly body: string | Uint8Array },
  secrets: string | readonly string[],
  options: { readonly nowSeconds: number; readonly toleranceSeconds?: number },
): Verified {
  const id = readHeader(request.headers, 'webhook-id')
  const timestamp = readHeader(request.headers, 'webhook-timestamp')
  const signatures = readHeader(request.headers, 'webhook-signature')
  if (!id || !timestamp || !signatures) return { ok: false, reason: 'missing header' }
  if (!/^[0-9]{1,12}$/.test(timestamp)) return { ok: false, reason: 'bad timestamp' }
  const timestampSeconds = Number(timestamp)
  const tolerance = options.toleranceSeconds ?? 300
  // The negated comparisons also refuse NaN.
  if (!(options.nowSeconds - timestampSeconds <= tolerance)) return { ok: false, reason: 'timestamp too old' }
  if (!(timestampSeconds - options.nowSeconds <= tolerance)) return { ok: false, reason: 'timestamp too new' }
  const candidates: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  const keys = candidates.map((secret) =>
    typeof secret === 'string' ? parseSigningSecret(secret) : undefined,
  )
  if (keys.length === 0 || keys.includes(undefined)) return { ok: false, reason: 'bad secret' }
  const { body } = request
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return { ok: false, reason: 'bad body' }
  const prefix = `${id}.${timestamp}.`
  const expected = keys.map((key) => signatureOf(key!, prefix, body))
  let isValid = false
  for (const candidate of signatures.split(' ')) {
    for (const digest of expected) if (constantTimeEqual(candidate, digest)) isValid = true
  }
  return isValid ? { ok: true, id, timestampSeconds } : { ok: false, reason: 'no signature fits' }
}
