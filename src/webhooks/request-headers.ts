/**
 * Validates the custom request headers of a webhook. The HTTP client would accept names that change where a request
 * goes or how it is framed, so the allowed names are decided here.
 */

/** Maximum size of all names and values together, in bytes. */
export const MAX_HEADER_BYTES = 4096

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/** Hop-by-hop names (RFC 9110 7.6.1), routing and framing names, and names that the service sets itself. */
const FORBIDDEN = new Set([
  'accept-encoding',
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-account-id',
])
const FORBIDDEN_PREFIXES = ['content-', 'webhook-', 'x-hook-']

/** Why a header is not allowed; `undefined` when it is. */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'not a header name'
  const lower = name.toLowerCase()
  if (FORBIDDEN.has(lower) || FORBIDDEN_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'this header may not be set'
  }
  if (!VALUE.test(value)) return 'header values may contain printable ASCII characters and tabs only'
  return undefined
}

/** The names that repeat an earlier one, compared case-insensitively as HTTP does. */
export function findRepeatedNames(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return names.filter((name) => {
    const lower = name.toLowerCase()
    const isRepeated = seen.has(lower)
    seen.add(lower)
    return isRepeated
  })
}
