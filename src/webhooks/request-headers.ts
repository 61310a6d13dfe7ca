/**
 * Custom request headers of a webhook: the client library would accept names that change where a request goes or
 * how it is framed, so what may be set is decided here.
 */

/** Most bytes of all names and values together. */
export const MAX_HEADER_BYTES = 4096

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/** Hop-by-hop (RFC 9110 7.6.1), routing and framing names, and what we set ourselves. */
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

/** Why a header may not be set; `undefined` when it may. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'not a header name'
  const lower = name.toLowerCase()
  if (FORBIDDEN.has(lower) || FORBIDDEN_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'this header may not be set'
  }
  if (!VALUE.test(value)) return 'header values may contain printable ASCII characters and tabs only'
  return undefined
}

/** Names that occur twice when compared as HTTP does, without case. */
export function repeatedNames(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return names.filter((name) => {
    const lower = name.toLowerCase()
    const repeated = seen.has(lower)
    seen.add(lower)
    return repeated
  })
}

const SECRET_NAME = /authorization|cookie|key|token|secret|auth|password|signature/i

/** True for headers whose values are never shown or kept: named like a credential. */
export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name)
}
