/** The HTTP API as a function from a request record to a response record. */
import { errorCode } from '../errors.js'
import type { Log } from '../ports.js'
import { toIsoTime } from '../values/iso-time.js'
import { VERSION } from '../version.js'
import { type HttpError, notImplemented, toHttpError } from '../wire/error-body.js'
import { parseQuery, type Query } from '../wire/query.js'
import { clientRequestId, getHeader, wantsIndent } from '../wire/request-head.js'
import type { ApiDeps } from './api-deps.js'
import { resolveClientAddress } from './client-address.js'
import { corsHeaders, preflightHeaders } from './cors.js'
import { createDocumentCache, type DocumentCache } from './document-cache.js'
import { errorResponse } from './error-response.js'
import type { RequestRecord, ResponseRecord } from './message.js'
import type { OperationContext } from './operations/context.js'
import { OPERATIONS } from './operations/index.js'
import { createReadGate, type ReadGate } from './read-gate.js'
import { type AcceptedRequest, allowHeader, guardRequest, type RequestFacts } from './request-guard.js'
import { httpErrorResponse, preflightResponse, type ResponseOptions, successResponse } from './response.js'

/** Where requests are logged. */
interface AccessLog {
  readonly log: Pick<Log, 'info'>
  /** Milliseconds since an arbitrary start. */
  monotonic(): number
}

/** Receives internal errors, and requests that fail because the store or directory is unavailable. */
type FaultLog = Pick<Log, 'error' | 'warn'>

/** Responds to one request. Never rejects. */
export type Handler = (request: RequestRecord) => Promise<ResponseRecord>

interface HandlerContext {
  readonly deps: ApiDeps
  readonly documentCache: DocumentCache
  readonly countingReplays: Set<string>
  readonly readGate: ReadGate
  readonly accessLog: AccessLog | undefined
}

/** Creates the handler of the HTTP API. */
export function createHandler(deps: ApiDeps): Handler {
  const { clock, log, options } = deps
  const handler: HandlerContext = {
    deps,
    documentCache: createDocumentCache(),
    countingReplays: new Set(),
    readGate: createReadGate(),
    accessLog: options.accessLog ? { log, monotonic: clock.monotonic } : undefined,
  }
  return async (request) => {
    try {
      return await respond(handler, request)
    } catch (thrown) {
      // The clock or the request record itself failed; the client still gets the JSON envelope.
      logInternalError(log, thrown, {})
      return errorResponse(500, 'internal_error')
    }
  }
}

async function respond(handler: HandlerContext, request: RequestRecord): Promise<ResponseRecord> {
  const requestId = clientRequestId(request.headers) ?? handler.deps.newId()
  const facts: RequestFacts = {}
  const { accessLog } = handler
  if (!accessLog) return respondTo(handler, request, requestId, facts)
  const startedMs = accessLog.monotonic()
  const logEnd = () => logStreamEnd(accessLog, requestId, facts, accessLog.monotonic() - startedMs)
  const response = await respondTo(handler, request, requestId, facts, logEnd)
  logRequest(accessLog, request, response, requestId, facts, accessLog.monotonic() - startedMs)
  return response
}

async function respondTo(
  handler: HandlerContext,
  request: RequestRecord,
  requestId: string,
  facts: RequestFacts,
  onStreamEnd?: () => void,
): Promise<ResponseRecord> {
  const { deps } = handler
  const { cors } = deps.options
  const query = parseQuery(request.url)
  const timestamp = toIsoTime(deps.clock.now())
  const commonHeaders =
    cors.length === 0 ? undefined : corsHeaders(cors, getHeader(request.headers, 'origin'))
  const responseOptions = (): ResponseOptions => ({
    envelope: {
      requestId,
      timestamp,
      node: deps.node,
      version: facts.caller && VERSION,
      authToken: facts.caller?.token,
      indent: wantsIndent(request.headers, query),
    },
    isHead: request.method === 'HEAD',
    commonHeaders,
    onStreamEnd,
  })
  try {
    const guard = await guardRequest(deps, request, query, facts)
    if (guard.kind === 'rejected') return httpErrorResponse(guard.error, facts.route, responseOptions())
    if (guard.kind === 'preflight')
      return preflightResponse(preflightHeaders(allowHeader(facts.routes!, true)), responseOptions())
    const { route } = guard.accepted
    const perform = OPERATIONS[route.operation]
    const result = await perform(operationContext(handler, request, query, facts, guard.accepted))
    const options = responseOptions()
    const accountId = facts.caller?.accountId ?? ''
    const list =
      result.list &&
      (await result.list(options.envelope, {
        yieldWhenDue: () => deps.yieldWhenDue(accountId),
        run: (work) => handler.readGate(accountId, work),
        onFault: (thrown) => logFault(deps.log, thrown, facts, requestId),
        onEnd: onStreamEnd,
      }))
    return successResponse(result, route, VERSION, options, list)
  } catch (thrown) {
    return httpErrorResponse(logFault(deps.log, thrown, facts, requestId), facts.route, responseOptions())
  }
}

/** Logs what the operator must see of a failed request; returns the error that its client gets. */
function logFault(log: FaultLog, thrown: unknown, facts: RequestFacts, requestId: string): HttpError {
  const error = httpErrorOf(thrown, facts)
  const fields = { requestId, operation: facts.route?.operation }
  if (error.isInternal) logInternalError(log, thrown, fields)
  else if (UNAVAILABLE_CODES.has(errorCode(thrown))) logUnavailable(log, thrown as Error, fields)
  return error
}

function operationContext(
  handler: HandlerContext,
  request: RequestRecord,
  query: Query,
  facts: RequestFacts,
  accepted: AcceptedRequest,
): OperationContext {
  const { params, data, base, route } = accepted
  const { headers, remoteAddress } = request
  // Only logins are rate-limited by address.
  const clientAddress = route.isLogin
    ? resolveClientAddress(remoteAddress, getHeader(headers, 'x-forwarded-for'), handler.deps.trustedProxies)
    : undefined
  return {
    deps: handler.deps,
    documentCache: handler.documentCache,
    countingReplays: handler.countingReplays,
    params,
    data,
    query,
    headers,
    base,
    caller: facts.caller,
    clientAddress,
    isHead: request.method === 'HEAD',
  }
}

/** `Unsupported`: the host keeps the accounts, and its directory lacks the ability; or no service of ours has it. */
function httpErrorOf(thrown: unknown, { route }: RequestFacts): HttpError {
  if (errorCode(thrown) !== 'Unsupported' || !route) return toHttpError(thrown)
  return route.operation === 'notImplemented'
    ? notImplemented('not implemented')
    : notImplemented('accounts are kept by the host', route.operation)
}

/** Longest path that is logged, in characters. */
const MAX_LOGGED_PATH = 512

/** Logs one request. The query is left out: it may contain a token. */
function logRequest(
  { log }: AccessLog,
  { method, url }: RequestRecord,
  { status }: ResponseRecord,
  requestId: string,
  { caller }: RequestFacts,
  durationMs: number,
): void {
  const [path = ''] = url.split('?', 1)
  const fields = {
    method: method.slice(0, MAX_LOGGED_PATH),
    path: path.slice(0, MAX_LOGGED_PATH),
    status,
    durationMs: Math.round(durationMs),
    requestId,
    ...(caller && { accountId: caller.accountId }),
  }
  log.info(fields, 'request')
}

/** Logs the end of a response that is a stream; its request was logged when it began. */
function logStreamEnd(
  { log }: AccessLog,
  requestId: string,
  { caller }: RequestFacts,
  durationMs: number,
): void {
  const fields = {
    durationMs: Math.round(durationMs),
    requestId,
    ...(caller && { accountId: caller.accountId }),
  }
  log.info(fields, 'stream ended')
}

/** Logs the details of an internal error; the client never sees them. */
function logInternalError(log: FaultLog, thrown: unknown, fields: Readonly<Record<string, unknown>>): void {
  // The fields of anything else may be secrets.
  const { name, message, stack } =
    thrown instanceof Error
      ? thrown
      : new Error(typeof thrown === 'string' ? thrown : `a value of type ${typeof thrown} was thrown`)
  log.error({ ...fields, err: { name, message, stack } }, 'request failed with an internal error')
}

/** Errors of the host's storage or directory: not a bug in this package, but the operator must see them. */
const UNAVAILABLE_CODES: ReadonlySet<string | undefined> = new Set(['StoreUnavailable', 'StoreCorrupt'])

function logUnavailable(log: FaultLog, thrown: Error, fields: Readonly<Record<string, unknown>>): void {
  const { message, cause } = thrown
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  log.warn({ ...fields, reason }, 'request failed: the store or the directory is unavailable')
}
