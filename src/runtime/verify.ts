import { type Verified, verify as verifyAt } from '../delivery/signature.js'
import { checkOptionNames } from '../errors.js'
import { defined } from '../values/defined.js'

/**
 * For receivers: checks that a request is signed with the webhook's secret and is recent (Standard Webhooks 1.0.0).
 * Compares in constant time. Whatever is sent, it never throws.
 *
 * @param request headers and unparsed body
 * @param secrets the webhook's `whsec_…`, or several
 * @param options `nowSeconds`: Unix time in seconds, default the machine's; `toleranceSeconds`: greatest allowed
 *   difference between the request's timestamp and `nowSeconds`, in either direction, default 300
 * @throws `InvalidOption` for an unknown option
 * @example
 * const result = verify({ headers: request.headers, body: rawBody }, process.env.WEBHOOK_SECRET)
 * if (!result.ok) response.writeHead(401).end(result.reason)
 */
export function verify(
  request: {
    /** Headers as Node (`request.headers`), fetch (`Headers`) or a plain record provide them. */
    readonly headers:
      | Readonly<Record<string, string | readonly string[] | undefined>>
      | { get(name: string): string | null }
    /** The body exactly as received, byte for byte; empty for GET and DELETE. */
    readonly body: string | Uint8Array
  },
  secrets: string | readonly string[],
  options: { readonly nowSeconds?: number | undefined; readonly toleranceSeconds?: number | undefined } = {},
): Verified {
  checkOptionNames('verify', options, ['nowSeconds', 'toleranceSeconds'])
  return verifyAt(request, secrets, { nowSeconds: Math.floor(Date.now() / 1000), ...defined(options) })
}
