/** Reads method, token, request id and other values from headers, query and top-level body keys. */
import { getQueryValue, type Query } from './query.js'
import type { Method } from './routes.js'

/** Request headers: lower-case names; an array if a header was repeated. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

type Envelope = Readonly<Record<string, unknown>>

/** Returns the value of a header; repeated values are joined with ', ' (RFC 9110, section 5.3). */
export function getHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])

/**
 * Returns the effective method of a request. A top-level `verb` in the body or `?verb=`, in any case, replaces the
 * method of a POST (KAZOO). `data.verb` is not read, so that a document cannot change the method. HEAD counts as GET.
 * Returns `undefined` for an unknown method, and for a `verb` that differs from a method other than POST.
 */
export function resolveMethod(method: string, query: Query, envelope: Envelope): Method | undefined {
  const verb = findVerb(query, envelope)
  if (verb === undefined) return toMethod(method === 'HEAD' ? 'GET' : method)
  if (typeof verb !== 'string') return undefined
  const verbMethod = verb.toUpperCase()
  if (verbMethod === method) return toMethod(method === 'HEAD' ? 'GET' : method)
  return method === 'POST' ? toMethod(verbMethod) : undefined
}

function findVerb(query: Query, envelope: Envelope): unknown {
  const inBody = Object.hasOwn(envelope, 'verb') ? envelope.verb : undefined
  if (inBody !== undefined && inBody !== null && inBody !== '') return inBody
  return getQueryValue(query, 'verb') || undefined
}

function toMethod(name: string): Method | undefined {
  return METHODS.has(name) ? (name as Method) : undefined
}

/** Which requests may have a token in the query: all, none, or those that are not from the service's own origin. */
export type TokenInQuery = boolean | 'cross-origin'

/** Values of `Sec-Fetch-Site` (W3C Fetch Metadata): sent by a page of the same origin; typed by the user, or a bookmark. */
const OWN_ORIGIN: ReadonlySet<string | undefined> = new Set(['same-origin', 'none'])

/** Only browsers send `Sec-Fetch-Site`, and no page can forge it; without it a request is not from the own origin. */
export function mayHaveQueryToken(headers: RequestHeaders, tokenInQuery: TokenInQuery): boolean {
  if (typeof tokenInQuery === 'boolean') return tokenInQuery
  return !OWN_ORIGIN.has(getHeader(headers, 'sec-fetch-site'))
}

/** Result of `findToken`. `hasConflict`: the request has two different `X-Auth-Token` headers. */
type TokenLookup = { readonly token?: string; readonly hasConflict?: false } | { readonly hasConflict: true }

const BEARER = /^bearer +([^\s,]+) *$/i
const NO_TOKEN: TokenLookup = {}

/**
 * Finds the token of a request: the first of `X-Auth-Token`, `?auth_token=`, top-level `auth_token`, `Authorization:
 * Bearer`. An empty token counts as absent: a real SDK sends one with its login.
 *
 * Some servers join repeated headers with commas. A token never contains a comma, so both forms are equivalent.
 *
 * @param isQueryAllowed whether `?auth_token=` counts; otherwise it is ignored
 */
export function findToken(
  headers: RequestHeaders,
  query: Query,
  envelope: Envelope,
  isQueryAllowed = true,
): TokenLookup {
  const sent = getHeader(headers, 'x-auth-token')
  if (sent !== undefined && sent !== '') {
    if (!sent.includes(',')) {
      const token = sent.trim()
      if (token !== '') return { token }
    } else {
      const distinct = new Set(sent.split(',').map((part) => part.trim()))
      distinct.delete('')
      if (distinct.size > 1) return { hasConflict: true }
      const [token] = distinct
      if (token !== undefined) return { token }
    }
  }
  const inQuery = isQueryAllowed ? getQueryValue(query, 'auth_token') : undefined
  if (inQuery) return { token: inQuery }
  if (Object.hasOwn(envelope, 'auth_token')) {
    const inBody = envelope.auth_token
    if (typeof inBody === 'string' && inBody !== '') return { token: inBody }
  }
  const authorization = getHeader(headers, 'authorization')
  const bearer = authorization === undefined ? null : BEARER.exec(authorization)
  return bearer ? { token: bearer[1]! } : NO_TOKEN
}

const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/**
 * Returns the client's request id: at most 128 printable ASCII characters, trimmed, because a response header cannot
 * start or end with spaces (two empty headers arrive as `, `). Returns `undefined` for any other value.
 */
export function clientRequestId(headers: RequestHeaders): string | undefined {
  const sent = headers['x-request-id']
  const id = (typeof sent === 'object' ? sent[0] : sent)?.trim()
  return id !== undefined && REQUEST_ID.test(id) ? id : undefined
}

/** Returns whether the client requests an indented response: `X-Pretty-Print: true` or `?pretty_print=true`. */
export function wantsIndent(headers: RequestHeaders, query: Query): boolean {
  return (
    getHeader(headers, 'x-pretty-print')?.toLowerCase() === 'true' ||
    getQueryValue(query, 'pretty_print') === 'true'
  )
}
