/** Answers for browsers on other origins. Tokens travel in headers, never in cookies: no credentials are allowed. */

const ALLOWED_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'if-match',
  'if-none-match',
  'x-auth-token',
  'x-pretty-print',
  'x-request-id',
].join(', ')

const EXPOSED_HEADERS = 'etag, location, retry-after, x-request-id'

/** How long a browser may remember a preflight: the longest that all of them honour is two hours. */
const MAX_AGE_SECONDS = 7200

type Headers = Readonly<Record<string, string>>

const NONE: Headers = Object.freeze({})

/**
 * Headers of any answer to a request from another origin (WHATWG Fetch, "CORS protocol").
 *
 * @param origins exact origins (`https://ui.example.com`), or `*` for every one
 * @param origin the request's header
 */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Headers {
  if (origins.includes('*')) {
    return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS }
  }
  // A cache must not give one origin's answer to another.
  if (origin === undefined || !origins.includes(origin)) return origins.length > 0 ? { vary: 'origin' } : NONE
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'origin',
  }
}

/**
 * What a preflight is told beside `corsHeaders`.
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
