import type { Caller } from '../auth/authenticate.js'
import { errorCode } from '../errors.js'
import { isId } from '../values/ids.js'
import { dataOf, type RequestBody, readBytes, readParsed } from '../wire/body.js'
import {
  FORBIDDEN,
  INVALID_CREDENTIALS,
  invalid,
  NO_ROUTE,
  NOT_ACCEPTABLE,
  type Refusal,
  TOO_SLOW,
  tooLarge,
  URI_TOO_LONG,
  WRONG_MEDIA_TYPE,
  wrongMethod,
} from '../wire/error-body.js'
import { type Match, matchPath, splitTarget } from '../wire/match.js'
import { acceptsJson, isJsonType } from '../wire/media.js'
import type { Query } from '../wire/query.js'
import { effectiveMethod, header, tokenOf } from '../wire/request-head.js'
import type { Method, Route } from '../wire/route.js'
import { MAX_BODY_BYTES, type RequestRecord } from './message.js'
import type { Service } from './service.js'

/** Most characters of a request target; a server's own limit of its header is usually met before. */
const MAX_URL_LENGTH = 16_384

/** What has been found out of a request, as far as its judgement came: a refusal is answered with it. */
export interface Seen {
  route?: Route
  caller?: Caller
  /** The methods of the path, once it is known. */
  routes?: Match['routes']
}

/** A request that may be served. */
export interface Judged {
  readonly route: Route
  readonly params: Match['params']
  readonly data: unknown
  /** Mount prefix and version. */
  readonly base: string
}

/** What becomes of a request: it is served, refused, or was only a question about methods. */
export type Judgement =
  | { readonly kind: 'served'; readonly judged: Judged }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'preflight' }

const refused = (refusal: Refusal): Judgement => ({ kind: 'refused', refusal })

const TWO_TOKENS = invalid([
  { path: 'X-Auth-Token', rule: 'error', message: 'Two different X-Auth-Token headers were sent' },
])

/**
 * Judges a request in an order in which nobody learns what is not theirs to know: path and method, token, authority,
 * media type, body. What exists is looked at last, by the operation. Rejects as the service does.
 *
 * @param seen filled in on the way
 * @param crossOrigin OPTIONS is answered
 */
export async function judge(
  service: Service,
  request: RequestRecord,
  query: Query,
  seen: Seen,
  crossOrigin: boolean,
): Promise<Judgement> {
  if (request.bodyProblem === 'too_large' || bytesOf(request.body) > MAX_BODY_BYTES) {
    return refused(tooLarge(MAX_BODY_BYTES))
  }
  if (request.bodyProblem === 'too_slow') return refused(TOO_SLOW)
  if (request.url.length > MAX_URL_LENGTH) return refused(URI_TOO_LONG)

  const target = splitTarget(request.url)
  const match = target && matchPath(target.segments)
  if (!match || isHidden(match, service)) return refused(NO_ROUTE)
  seen.routes = match.routes
  if (request.method === 'OPTIONS' && crossOrigin) return { kind: 'preflight' }
  const body = bodyOf(request)
  const method = effectiveMethod(request.method, query, body.envelope)
  const route = method && match.routes[method]
  if (!route) return refused(wrongMethod(allowOf(match.routes, crossOrigin)))
  seen.route = route

  const found = tokenOf(request.headers, query, body.envelope)
  if (found.conflict) return refused(TWO_TOKENS)
  if (found.token !== undefined && !route.login) {
    const caller = await callerOf(service, found.token, route)
    if (caller) seen.caller = caller
  }
  if (route.token) {
    if (!seen.caller) return refused(INVALID_CREDENTIALS)
    const { accountId } = match.params
    if (accountId !== undefined) {
      // A malformed id is that of an account that does not exist.
      if (!isId(accountId)) return refused(FORBIDDEN)
      await service.accounts.authorize(seen.caller, accountId)
    }
  }

  const media = mediaRefusal(request, route, body)
  if (media) return refused(media)
  // Content has no meaning in a GET (RFC 9110, section 9.3.1).
  if (body.failures && route.method !== 'GET') return refused(invalid(body.failures))
  const read = dataOf(body.envelope, route.body)
  if ('failures' in read) return refused(invalid(read.failures))
  const base = `${request.mountPrefix ?? ''}/${target.version}`
  return { kind: 'served', judged: { route, params: match.params, data: read.data, base } }
}

/** Of a text at least its characters: a host that hands one over has read it whole already. */
function bytesOf(body: RequestRecord['body']): number {
  return typeof body === 'string' ? body.length : (body?.byteLength ?? 0)
}

/** Express 4 leaves an empty object behind where there was no body. */
function bodyOf(request: RequestRecord): RequestBody {
  const { parsedBody, headers } = request
  if (parsedBody === undefined) return readBytes(request.body)
  const empty = typeof parsedBody === 'object' && parsedBody !== null && Object.keys(parsedBody).length === 0
  const length = header(headers, 'content-length')
  const sentNothing = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  return empty && sentNothing ? readBytes(undefined) : readParsed(parsedBody)
}

function isHidden({ routes }: Match, service: Service): boolean {
  return service.ingest === undefined && routes.PUT?.ingest === true
}

/**
 * The methods that a path has, joined by commas.
 *
 * @param crossOrigin OPTIONS is answered
 */
export function allowOf(routes: Match['routes'], crossOrigin: boolean): string {
  const methods: string[] = Object.keys(routes) as Method[]
  if (routes.GET) methods.splice(methods.indexOf('GET') + 1, 0, 'HEAD')
  return (crossOrigin ? [...methods, 'OPTIONS'] : methods).join(', ')
}

/**
 * Who sends the token. Where none is needed, one that cannot be judged counts as none, whatever the reason: a real
 * user interface sends `undefined` before its login.
 */
async function callerOf(service: Service, token: string, route: Route): Promise<Caller | undefined> {
  try {
    return await service.auth.authenticate(token)
  } catch (thrown) {
    if (route.token && errorCode(thrown) !== 'InvalidCredentials') throw thrown
    return undefined
  }
}

function mediaRefusal(request: RequestRecord, route: Route, body: RequestBody): Refusal | undefined {
  if (!acceptsJson(header(request.headers, 'accept'))) return NOT_ACCEPTABLE
  if (!body.present || route.method === 'GET' || route.method === 'DELETE') return undefined
  return isJsonType(header(request.headers, 'content-type'), body.json) ? undefined : WRONG_MEDIA_TYPE
}
