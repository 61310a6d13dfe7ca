import { type Verified, verify as verifyAt } from './delivery/signature.js'

/**
 * For receivers: whether a request comes from who knows the webhook's secret, and is fresh (Standard Webhooks 1.0.0).
 * Never throws, compares in constant time. Hand it the body as received, byte for byte; empty for GET and DELETE.
 *
 * @param request `body` as text or bytes; `headers` as Node, fetch or a plain record have them
 * @param secrets the webhook's `whsec_…`, or several
 * @param options `nowSeconds`: Unix time, default the machine's; `toleranceSeconds`: default 300, both ways
 * @example
 * const result = verify({ headers: request.headers, body: rawBody }, process.env.WEBHOOK_SECRET)
 * if (!result.ok) response.writeHead(401).end(result.reason)
 */
export function verify(
  request: Parameters<typeof verifyAt>[0],
  secrets: string | readonly string[],
  options: { readonly nowSeconds?: number; readonly toleranceSeconds?: number } = {},
): Verified {
  return verifyAt(request, secrets, { nowSeconds: Math.floor(Date.now() / 1000), ...options })
}
