/** CORS response headers. Tokens travel in headers, never in cookies, so credentials are not allowed. Pure. */

const ALLOWED_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'if-match',
  'if-none-match',
  'last-event-id',
  'x-auth-token',
  'x-pretty-print',
  'x-request-id',
].join(', ')

const EXPOSED_HEADERS = 'etag, location, retry-after, x-request-id'

/** How long a browser may cache a preflight response: two hours, the longest that all browsers honour. */
const MAX_AGE_SECONDS = 7200

type Headers = Readonly<Record<string, string>>

const NONE: Headers = Object.freeze({})

/**
 * Returns the CORS headers of every response (WHATWG Fetch, "CORS protocol").
 *
 * @param origins allowed origins, exact (`https://ui.example.com`) or `*` for all
 * @param origin the request's `Origin` header
 */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Headers {
  if (origins.includes('*')) {
    return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS }
  }
  // `Vary` keeps a cache from serving one origin's response to another.
  if (origin === undefined || !origins.includes(origin)) return origins.length > 0 ? { vary: 'origin' } : NONE
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'origin',
  }
}

/**
 * Returns the headers that a preflight response has in addition to `corsHeaders`.
 *
 * @param allow the methods of the path, joined by commas
 */
export function preflightHeaders(allow: string): Headers {
  return {
    allow,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(MAX_AGE_SECONDS),
  }
}
