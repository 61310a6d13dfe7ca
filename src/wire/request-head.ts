import { type Query, queryValue } from './query.js'
import type { Method } from './route.js'

/** Headers as an adapter hands them over: lower-case names, an array where one was sent twice. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

type Envelope = Readonly<Record<string, unknown>>

/** A header's value; several are joined as RFC 9110, section 5.3 says. */
export function header(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])

/**
 * The method that a request means: top-level `verb` of its body or `?verb=` names the one that a POST stands for,
 * in any case (KAZOO; `data` is not looked at, a document could change the method). `undefined`: none that exists.
 *
 * On another method a `verb` equal to it says nothing new and a different one is refused. HEAD means GET.
 */
export function effectiveMethod(method: string, query: Query, envelope: Envelope): Method | undefined {
  const verb = verbOf(query, envelope)
  if (verb === undefined) return knownMethod(method === 'HEAD' ? 'GET' : method)
  if (typeof verb !== 'string') return undefined
  const named = verb.toUpperCase()
  if (named === method) return knownMethod(method === 'HEAD' ? 'GET' : method)
  return method === 'POST' ? knownMethod(named) : undefined
}

function verbOf(query: Query, envelope: Envelope): unknown {
  const inBody = Object.hasOwn(envelope, 'verb') ? envelope.verb : undefined
  if (inBody !== undefined && inBody !== null && inBody !== '') return inBody
  return queryValue(query, 'verb') || undefined
}

function knownMethod(name: string): Method | undefined {
  return METHODS.has(name) ? (name as Method) : undefined
}

/** What a request says of its token. `conflict`: two different `X-Auth-Token` headers. */
export type TokenFound = { readonly token?: string; readonly conflict?: false } | { readonly conflict: true }

const BEARER = /^bearer +([^\s,]+) *$/i
const NO_TOKEN: TokenFound = {}

/**
 * The token of a request: the first of `X-Auth-Token`, `?auth_token=`, top-level `auth_token`, `Authorization:
 * Bearer`. An empty one counts as absent: a real SDK sends one with its login.
 *
 * Repeated headers arrive joined by commas from some servers, and no token of ours holds one: both are the same.
 */
export function tokenOf(headers: RequestHeaders, query: Query, envelope: Envelope): TokenFound {
  const sent = header(headers, 'x-auth-token')
  if (sent !== undefined && sent !== '') {
    if (!sent.includes(',')) {
      const token = sent.trim()
      if (token !== '') return { token }
    } else {
      const distinct = new Set(sent.split(',').map((part) => part.trim()))
      distinct.delete('')
      if (distinct.size > 1) return { conflict: true }
      const [token] = distinct
      if (token !== undefined) return { token }
    }
  }
  const inQuery = queryValue(query, 'auth_token')
  if (inQuery) return { token: inQuery }
  if (Object.hasOwn(envelope, 'auth_token')) {
    const inBody = envelope.auth_token
    if (typeof inBody === 'string' && inBody !== '') return { token: inBody }
  }
  const authorization = header(headers, 'authorization')
  const bearer = authorization === undefined ? null : BEARER.exec(authorization)
  return bearer ? { token: bearer[1]! } : NO_TOKEN
}

const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/**
 * The request id that the client chose: at most 128 printable ASCII characters, blanks at its ends left out, since a header
 * of the answer cannot carry those (two empty headers arrive as `, `); else `undefined`.
 */
export function clientRequestId(headers: RequestHeaders): string | undefined {
  const sent = headers['x-request-id']
  const id = (typeof sent === 'object' ? sent[0] : sent)?.trim()
  return id !== undefined && REQUEST_ID.test(id) ? id : undefined
}

/** Whether the answer is to be indented: `X-Pretty-Print: true` or `?pretty_print=true`. */
export function wantsIndent(headers: RequestHeaders, query: Query): boolean {
  return (
    header(headers, 'x-pretty-print')?.toLowerCase() === 'true' ||
    queryValue(query, 'pretty_print') === 'true'
  )
}
