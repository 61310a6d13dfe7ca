import { equalInConstantTime, hmacSha256, hmacSha256Base64 } from '../values/digest.js'
import { secretKey } from '../webhooks/signing-secret.js'

/**
 * Signatures of Standard Webhooks 1.0.0: HMAC-SHA-256 over `id.timestamp.body`, as `v1,<base64>`; several,
 * separated by spaces, while a secret is rotated. https://github.com/standard-webhooks/standard-webhooks
 */

/** One `v1,…` for each key, separated by spaces. */
export function sign(
  keys: readonly Uint8Array[],
  id: string,
  timestampSeconds: number,
  body: string,
): string {
  const prefix = `${id}.${timestampSeconds}.`
  if (keys.length === 1) return `v1,${hmacSha256Base64(keys[0]!, prefix, body)}`
  return keys.map((key) => `v1,${hmacSha256Base64(key, prefix, body)}`).join(' ')
}

/** Why a webhook request is not to be trusted. */
export type VerifyFailure =
  | 'missing header'
  | 'bad secret'
  | 'bad body'
  | 'bad timestamp'
  | 'timestamp too old'
  | 'timestamp too new'
  | 'no signature fits'

export type Verified =
  | { readonly ok: true; readonly id: string; readonly timestampSeconds: number }
  | { readonly ok: false; readonly reason: VerifyFailure }

type Headers =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }

function read(headers: Headers, name: string): string | undefined {
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
 * For receivers: whether a request comes from who knows the webhook's secret, and is fresh. Never throws, compares
 * in constant time; hand it the body as received, byte for byte (empty for GET and DELETE).
 *
 * @param request `body` as text or bytes; `headers` as Node, fetch or a plain record have them
 * @param secrets the webhook's `whsec_…`, or several
 * @param options `nowSeconds`: Unix time (default: the machine's); `toleranceSeconds`: default 300, both ways
 * @example
 * const result = verify({ headers: request.headers, body: rawBody }, process.env.WEBHOOK_SECRET)
 * if (!result.ok) response.writeHead(401).end(result.reason)
 */
export function verify(
  request: { readonly headers: Headers; readonly body: string | Uint8Array },
  secrets: string | readonly string[],
  options: { readonly nowSeconds: number; readonly toleranceSeconds?: number },
): Verified {
  const id = read(request.headers, 'webhook-id')
  const timestamp = read(request.headers, 'webhook-timestamp')
  const signatures = read(request.headers, 'webhook-signature')
  if (!id || !timestamp || !signatures) return { ok: false, reason: 'missing header' }
  if (!/^[0-9]{1,12}$/.test(timestamp)) return { ok: false, reason: 'bad timestamp' }
  const timestampSeconds = Number(timestamp)
  const tolerance = options.toleranceSeconds ?? 300
  // Asked this way round, what is not a number fits neither.
  if (!(options.nowSeconds - timestampSeconds <= tolerance)) return { ok: false, reason: 'timestamp too old' }
  if (!(timestampSeconds - options.nowSeconds <= tolerance)) return { ok: false, reason: 'timestamp too new' }
  const given: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  const keys = given.map((secret) => (typeof secret === 'string' ? secretKey(secret) : undefined))
  if (keys.length === 0 || keys.includes(undefined)) return { ok: false, reason: 'bad secret' }
  const { body } = request
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return { ok: false, reason: 'bad body' }
  const prefix = `${id}.${timestamp}.`
  const expected = keys.map((key) => `v1,${hmacSha256(key!, prefix, body).toString('base64')}`)
  let fits = false
  for (const candidate of signatures.split(' ')) {
    for (const one of expected) if (equalInConstantTime(candidate, one)) fits = true
  }
  return fits ? { ok: true, id, timestampSeconds } : { ok: false, reason: 'no signature fits' }
}
