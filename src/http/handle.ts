/** The HTTP API as a function from a request record to a response record. */
import { errorCode, reasonOf } from '../errors.js'
import type { Log } from '../ports.js'
import { type AuditRecord, isRefusedLogin } from '../runtime/audit.js'
import { defined } from '../values/defined.js'
import { toIsoTime } from '../values/iso-time.js'
import { VERSION } from '../version.js'
import { loginTarget } from '../wire/auth-json.js'
import { type HttpError, notImplemented, toHttpError } from '../wire/error-body.js'
import { parseQuery, type Query } from '../wire/query.js'
import { clientRequestId, getHeader, wantsIndent } from '../wire/request-head.js'
import type { OperationId, Route } from '../wire/routes.js'
import type { ApiDeps } from './api-deps.js'
import { resolveClientAddress } from './client-address.js'
import { corsHeaders, preflightHeaders } from './cors.js'
import { createDocumentCache, type DocumentCache } from './document-cache.js'
import { errorResponse } from './error-response.js'
import type { RequestRecord, ResponseRecord } from './message.js'
import type { OperationContext, OperationResult } from './operations/context.js'
import { OPERATIONS } from './operations/index.js'
import { createReadGate, type ReadGate } from './read-gate.js'
import { type AcceptedRequest, allowHeader, guardRequest, type RequestFacts } from './request-guard.js'
import { httpErrorResponse, preflightResponse, type ResponseOptions, successResponse } from './response.js'

type Fields = Readonly<Record<string, unknown>>

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
  const { clock, accessLog, log, options } = deps
  const handler: HandlerContext = {
    deps,
    documentCache: createDocumentCache(),
    countingReplays: new Set(),
    readGate: createReadGate(),
    accessLog: options.accessLog ? { log: accessLog, monotonic: clock.monotonic } : undefined,
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
  const address = clientAddressOf(handler.deps, request)
  const log = (message: string, fields: Fields) =>
    accessLog.log.info(
      {
        ...fields,
        durationMs: Math.round(accessLog.monotonic() - startedMs),
        address,
        requestId,
        accountId: facts.caller?.accountId,
        userId: facts.caller?.userId,
      },
      message,
    )
  // Its request was logged when it began.
  const logEnd = () => log('stream ended', {})
  const response = await respondTo(handler, request, requestId, facts, logEnd)
  log('request', requestFields(request, response, facts))
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
    if (guard.kind === 'rejected') {
      if (guard.afterMs) {
        request.dropBody?.()
        await deps.clock.sleep(guard.afterMs)
      }
      return httpErrorResponse(guard.error, facts.route, responseOptions())
    }
    if (guard.kind === 'preflight')
      return preflightResponse(preflightHeaders(allowHeader(facts.routes!, true)), responseOptions())
    const { route } = guard.accepted
    const perform = OPERATIONS[route.operation]
    const context = operationContext(handler, request, query, facts, guard.accepted)
    const audit = isAudited(route) ? auditOf(deps, request, requestId, route, context) : undefined
    const result = await perform(context).catch((thrown: unknown) => {
      audit?.(undefined, thrown)
      throw thrown
    })
    audit?.(result)
    const options = responseOptions()
    const accountId = facts.caller?.accountId ?? ''
    const list =
      result.list &&
      (await result.list(options.envelope, {
        yieldWhenDue: () => deps.yieldWhenDue(accountId),
        run: context.readInTurn,
        onFault: (thrown) => logFault(deps.log, thrown, facts, requestId),
        onEnd: onStreamEnd,
      }))
    return successResponse(result, route, VERSION, options, list)
  } catch (thrown) {
    return httpErrorResponse(logFault(deps.log, thrown, facts, requestId), facts.route, responseOptions())
  } finally {
    facts.leave?.()
  }
}

/** Logs what the operator must see of a failed request; returns the error that its client gets. */
function logFault(log: FaultLog, thrown: unknown, facts: RequestFacts, requestId: string): HttpError {
  const error = httpErrorOf(thrown, facts)
  const fields = { requestId, operation: facts.route?.operation }
  if (error.isInternal) logInternalError(log, thrown, fields)
  else if (UNAVAILABLE_CODES.has(errorCode(thrown))) logUnavailable(log, thrown, fields)
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
  const { headers } = request
  // Only logins are rate-limited by address.
  const clientAddress = route.isLogin ? clientAddressOf(handler.deps, request) : undefined
  return {
    deps: handler.deps,
    documentCache: handler.documentCache,
    readInTurn: (work) => handler.readGate(facts.caller?.accountId ?? '', work),
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

const clientAddressOf = ({ trustedProxies }: ApiDeps, { headers, remoteAddress }: RequestRecord) =>
  resolveClientAddress(remoteAddress, getHeader(headers, 'x-forwarded-for'), trustedProxies)

/** Operations that change nothing although they are no GET, and that of events, of which there are too many. */
const NOT_AUDITED: ReadonlySet<Route['operation']> = new Set<OperationId>([
  'previewWebhook',
  'checkAddress',
  'matchEvent',
  'publishEvents',
  'why',
  'whyAnywhere',
])

const isAudited = ({ method, operation }: Route) => method !== 'GET' && !NOT_AUDITED.has(operation)

/** A function that emits the audit record of an operation that was done, or of a login that was refused. */
function auditOf(
  { core }: ApiDeps,
  request: RequestRecord,
  requestId: string,
  route: Route,
  { deps, params, caller, data }: OperationContext,
): ((result: OperationResult | undefined, thrown?: unknown) => void) | undefined {
  const { events } = core()
  if (!events.hasListeners('audit')) return undefined
  const isByUser = route.isLogin ? route.operation === 'signInByCredentials' : caller?.userId !== undefined
  const { accountId, userId, webhookId, deliveryId, replayId } = params
  const head = {
    action: route.operation,
    by: isByUser ? 'user' : 'api_key',
    ...(caller && { byAccountId: caller.accountId, byUserId: caller.userId }),
    address: clientAddressOf(deps, request),
    requestId,
  } satisfies Partial<AuditRecord>
  return (result, thrown) => {
    const refused = errorCode(thrown)
    if (result?.audit === false) return
    if (result) {
      const ids = defined({ accountId, userId, webhookId, deliveryId, replayId })
      events.emit('audit', defined({ ...head, ...ids, ...result.audit?.() }))
    } else if (route.isLogin && isRefusedLogin(refused))
      events.emit('audit', { ...head, refused, details: loginTarget(data) })
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

/** What is logged of one request. The query is left out: it may contain a token. */
function requestFields(
  { method, url }: RequestRecord,
  { status, headers }: ResponseRecord,
  { route }: RequestFacts,
): Fields {
  const [path = ''] = url.split('?', 1)
  const bytes = headers['content-length']
  return {
    method: method.slice(0, MAX_LOGGED_PATH),
    path: path.slice(0, MAX_LOGGED_PATH),
    route: route?.path,
    status,
    // Of a stream it is not known.
    bytes: bytes === undefined ? undefined : Number(bytes),
  }
}

/** Logs the details of an internal error; the client never sees them. */
function logInternalError(log: FaultLog, thrown: unknown, fields: Fields): void {
  // The fields of anything else may be secrets.
  const { name, message, stack } =
    thrown instanceof Error
      ? thrown
      : new Error(typeof thrown === 'string' ? thrown : `a value of type ${typeof thrown} was thrown`)
  log.error({ ...fields, err: { name, message, stack } }, 'request failed with an internal error')
}

/** Errors of the host's storage or directory: not a bug in this package, but the operator must see them. */
const UNAVAILABLE_CODES: ReadonlySet<string | undefined> = new Set(['StoreUnavailable', 'StoreCorrupt'])

function logUnavailable(log: FaultLog, thrown: unknown, fields: Fields): void {
  log.warn(
    { ...fields, reason: reasonOf(thrown) },
    'request failed: the store or the directory is unavailable',
  )
}
