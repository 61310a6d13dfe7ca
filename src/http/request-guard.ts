/**
 * Decides whether a request reaches an operation: route, method, token, access, content type and body. The operation
 * itself checks whether the requested entity exists.
 */
import { authenticate, type Caller } from '../auth/authenticate.js'
import { authorize } from '../auth/authorize.js'
import { errorCode } from '../errors.js'
import { extractData, peekBody, peekParsedBody, type RequestBody, type UnparsedBody } from '../wire/body.js'
import { acceptsEventStream, acceptsJson, isJsonContentType } from '../wire/content-type.js'
import {
  badIdentifier,
  bodyTooLarge,
  type HttpError,
  INVALID_CREDENTIALS,
  methodNotAllowed,
  NOT_A_STREAM,
  NOT_ACCEPTABLE,
  REQUEST_TIMEOUT,
  ROUTE_NOT_FOUND,
  tooManyBodyBytes,
  tooManyPublishes,
  UNSUPPORTED_CONTENT_CODING,
  UNSUPPORTED_MEDIA_TYPE,
  URI_TOO_LONG,
  validationError,
} from '../wire/error-body.js'
import type { Query } from '../wire/query.js'
import { findToken, getHeader, mayHaveQueryToken, resolveMethod } from '../wire/request-head.js'
import { matchRoute, parseTarget, type RouteMatch } from '../wire/router.js'
import type { Method, Route } from '../wire/routes.js'
import type { ApiDeps } from './api-deps.js'
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES, type RequestRecord } from './message.js'
import { TOO_MANY_WAIT } from './publish-admission.js'

/** Maximum length of a request target in characters. The server's own header limit usually applies first. */
const MAX_URL_LENGTH = 16_384

/** Facts about a request, filled in as far as its checks got. Error responses use them too. */
export interface RequestFacts {
  route?: Route
  caller?: Caller
  /** The methods of the path. */
  routes?: RouteMatch['routes']
  /** Of a publish: gives back its share. To be called when the request is answered. */
  leave?: () => void
}

/** A request that passed all checks. */
export interface AcceptedRequest {
  readonly route: Route
  readonly params: RouteMatch['params']
  readonly data: unknown
  /** Mount prefix and version. */
  readonly base: string
}

/** The result of the checks; `preflight` is a CORS preflight request. */
type GuardResult =
  | { readonly kind: 'accepted'; readonly accepted: AcceptedRequest }
  | Rejected
  | { readonly kind: 'preflight' }

interface Rejected {
  readonly kind: 'rejected'
  readonly error: HttpError
  /** When it is to be answered, ms from now. Default: at once. */
  readonly afterMs?: number
}

const rejected = (error: HttpError): Rejected => ({ kind: 'rejected', error })

const TWO_TOKENS = validationError([
  { path: 'X-Auth-Token', rule: 'error', message: 'Two different X-Auth-Token headers were sent' },
])

/**
 * Checks a request in an order that reveals nothing to unauthorized clients: path and method, token, access to the
 * account, content type, body. Rejects with the errors of the store and the directory.
 *
 * @param facts filled in by the checks
 */
export async function guardRequest(
  deps: ApiDeps,
  request: RequestRecord,
  query: Query,
  facts: RequestFacts,
): Promise<GuardResult> {
  const { options, yieldWhenDue } = deps
  const isCorsEnabled = options.cors.length > 0
  if (request.bodyProblem === 'too_large' || minimumByteLength(request.body) > MAX_BODY_BYTES) {
    return rejected(bodyTooLarge(MAX_BODY_BYTES))
  }
  if (request.bodyProblem === 'too_slow') return rejected(REQUEST_TIMEOUT)
  if (request.bodyProblem === 'busy') return rejected(tooManyBodyBytes(503, options.maxUnfinishedBodyBytes))
  if (request.bodyProblem === 'address_busy') {
    return rejected(tooManyBodyBytes(429, options.maxUnfinishedBodyBytesPerAddress))
  }
  if (request.url.length > MAX_URL_LENGTH) return rejected(URI_TOO_LONG)

  const target = parseTarget(request.url)
  const match = target && matchRoute(target.segments)
  if (!match || isHidden(match, options.ingest)) return rejected(ROUTE_NOT_FOUND)
  const isOpenPath = Object.values(match.routes).every(({ requiresToken }) => !requiresToken)
  if (isOpenPath && minimumBodySize(request) > MAX_OPEN_BODY_BYTES) {
    return rejected(bodyTooLarge(MAX_OPEN_BODY_BYTES))
  }
  // What the body may say of the token and the method was not read.
  if (request.bodyProblem === 'no_token') {
    return rejected(isOpenPath ? bodyTooLarge(MAX_OPEN_BODY_BYTES) : INVALID_CREDENTIALS)
  }
  facts.routes = match.routes
  if (request.method === 'OPTIONS' && isCorsEnabled) return { kind: 'preflight' }
  if (isLargeBody(request)) await yieldWhenDue(request.remoteAddress ?? '')
  const unparsed = unparsedBodyOf(request)
  const method = resolveMethod(request.method, query, unparsed.head)
  const route = method && match.routes[method]
  if (!route) return rejected(methodNotAllowed(allowHeader(match.routes, isCorsEnabled)))
  facts.route = route

  // A stream lives long, and its URL is in the log of every proxy: its token is read from the header alone.
  const lookup = route.isStream
    ? findToken(request.headers, [], {})
    : findToken(
        request.headers,
        query,
        unparsed.head,
        mayHaveQueryToken(request.headers, options.tokenInQuery),
      )
  if (lookup.hasConflict) return rejected(TWO_TOKENS)
  if (lookup.token !== undefined && !route.isLogin) {
    const caller = await authenticateCaller(deps, lookup.token, route)
    if (caller) facts.caller = caller
  }
  let isKnownAccount = true
  if (route.requiresToken) {
    if (!facts.caller) return rejected(INVALID_CREDENTIALS)
    const { accountId = facts.caller.accountId, userId } = match.params
    // A malformed id gets the same response as the id of an account that does not exist.
    isKnownAccount = await authorize(
      deps.core().auth,
      facts.caller,
      { accountId, ...(userId !== undefined && { userId }) },
      route.access ?? 'read',
    )
  }

  if (route.isIngest === true && facts.caller) {
    const { accountId: clientId } = facts.caller
    const { accountId = clientId } = match.params
    const admitted = await deps.publishes(clientId, accountId, bodySize(request))
    if (!admitted.leave) {
      // Nobody knows how many events it has.
      deps.publishing.metrics.count('hookswitch_events_refused_total', 1, 'too_many')
      return { ...rejected(tooManyPublishes(TOO_MANY_WAIT)), afterMs: admitted.afterMs }
    }
    facts.leave = admitted.leave
  }
  // Parsing costs much more than the checks above, so only those who pass them can cause it.
  if (isLargeBody(request)) await yieldWhenDue(facts.caller?.accountId ?? '')
  const body = unparsed.parse()
  const contentTypeError = checkContentType(request, route, body)
  if (contentTypeError) return rejected(contentTypeError)
  // Content in a GET has no defined semantics (RFC 9110, section 9.3.1).
  if (body.failures && route.method !== 'GET') return rejected(validationError(body.failures))
  const extracted = extractData(body.envelope, route.bodyKind)
  if ('failures' in extracted) return rejected(validationError(extracted.failures))
  // Only an operator learns that an account does not exist.
  if (!isKnownAccount && route.isForRemoved !== true) return rejected(badIdentifier(match.params.accountId!))
  const base = `${request.mountPrefix ?? ''}/${target.version}`
  return { kind: 'accepted', accepted: { route, params: match.params, data: extracted.data, base } }
}

/** Of a body that a framework of the host has parsed, only the size that the client declared is known. */
function minimumBodySize({ body, parsedBody, headers }: RequestRecord): number {
  return parsedBody === undefined
    ? minimumByteLength(body)
    : Number(getHeader(headers, 'content-length') ?? 0)
}

/** As `minimumBodySize`; of a body that was parsed, that of its JSON. */
function bodySize(request: RequestRecord): number {
  const { parsedBody } = request
  if (parsedBody === undefined) return minimumBodySize(request)
  try {
    return JSON.stringify(parsedBody).length
  } catch {
    // A value that JSON does not have.
    return MAX_BODY_BYTES
  }
}

/** For a string, its length in characters, a lower bound that costs nothing: the host holds it in memory anyway. */
function minimumByteLength(body: RequestRecord['body']): number {
  return typeof body === 'string' ? body.length : (body?.byteLength ?? 0)
}

/** Bytes of a body that takes a noticeable time to parse. */
const LARGE_BODY_BYTES = 16_384

const isLargeBody = (request: RequestRecord) => minimumBodySize(request) > LARGE_BODY_BYTES

/** Express 4 sets `req.body` to an empty object if there was no body. */
function unparsedBodyOf(request: RequestRecord): UnparsedBody {
  const { parsedBody, headers } = request
  if (parsedBody === undefined) return peekBody(request.body)
  const isEmpty =
    typeof parsedBody === 'object' && parsedBody !== null && Object.keys(parsedBody).length === 0
  const length = getHeader(headers, 'content-length')
  const hadNoBody = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  return isEmpty && hadNoBody ? peekBody(undefined) : peekParsedBody(parsedBody)
}

function isHidden({ routes }: RouteMatch, ingest: boolean): boolean {
  return !ingest && routes.PUT?.isIngest === true
}

/**
 * Returns the value of `Allow`: the methods of a path, joined by commas.
 *
 * @param isCorsEnabled whether OPTIONS is answered
 */
export function allowHeader(routes: RouteMatch['routes'], isCorsEnabled: boolean): string {
  const methods: string[] = Object.keys(routes) as Method[]
  if (routes.GET) methods.splice(methods.indexOf('GET') + 1, 0, 'HEAD')
  return (isCorsEnabled ? [...methods, 'OPTIONS'] : methods).join(', ')
}

/**
 * Authenticates a token. On routes that need none, a token that cannot be checked counts as absent, whatever the
 * reason: a real user interface sends `undefined` before its login.
 */
async function authenticateCaller(
  { core }: ApiDeps,
  token: string,
  route: Route,
): Promise<Caller | undefined> {
  try {
    return await authenticate(core().auth, token)
  } catch (thrown) {
    if (route.requiresToken && errorCode(thrown) !== 'InvalidCredentials') throw thrown
    return undefined
  }
}

/** Whether the body is still in a content coding such as gzip (RFC 9110, section 8.4). */
function isCompressed({ headers, parsedBody }: RequestRecord): boolean {
  const coding = getHeader(headers, 'content-encoding')?.trim().toLowerCase()
  // A body parser of the host has decoded what it parsed.
  return parsedBody === undefined && coding !== undefined && coding !== '' && coding !== 'identity'
}

function checkContentType(request: RequestRecord, route: Route, body: RequestBody): HttpError | undefined {
  const accept = getHeader(request.headers, 'accept')
  if (route.isStream && !acceptsEventStream(accept)) return NOT_A_STREAM
  if (!route.isStream && !acceptsJson(accept)) return NOT_ACCEPTABLE
  if (!body.isPresent || route.method === 'GET' || route.method === 'DELETE') return undefined
  if (isCompressed(request)) return UNSUPPORTED_CONTENT_CODING
  const contentType = getHeader(request.headers, 'content-type')
  return isJsonContentType(contentType, body.isJson) ? undefined : UNSUPPORTED_MEDIA_TYPE
}
