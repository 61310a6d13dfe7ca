import { errorCode } from '../errors.js'
import type { Log } from '../ports.js'
import { isoTime } from '../values/iso-time.js'
import { type Refusal, refusalOf, wrongMethod } from '../wire/error-body.js'
import { type Query, readQuery } from '../wire/query.js'
import { clientRequestId, header, wantsIndent } from '../wire/request-head.js'
import { answerResponse, type Delivery, preflightResponse, refusalResponse } from './answer.js'
import { clientAddress, type TrustedProxies, trustedProxies } from './client-address.js'
import { corsHeaders, preflightHeaders } from './cors.js'
import { allowOf, type Judged, judge, type Seen } from './judge.js'
import type { RequestRecord, ResponseRecord } from './message.js'
import type { Call } from './operations/call.js'
import { OPERATIONS } from './operations/index.js'
import { errorResponse } from './refusal.js'
import type { Service } from './service.js'
import { type WrittenDocuments, writtenDocuments } from './written-documents.js'

export interface HandlerOptions {
  /** Origins whose pages may read our answers, exact or `*`. Default: none, and no CORS header at all. */
  readonly cors?: readonly string[]
  /** Addresses and CIDRs of the proxies whose `X-Forwarded-For` counts. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Told of faults of ours, and of a storage or directory that is out; one that throws hurts nobody. */
  readonly log: FaultLog
}

type FaultLog = Pick<Log, 'error' | 'warn'>

/** Answers one request. Never rejects. */
export type Handler = (request: RequestRecord) => Promise<ResponseRecord>

interface Face {
  readonly service: Service
  readonly documents: WrittenDocuments
  readonly cors: readonly string[]
  readonly trusted: TrustedProxies
  readonly log: FaultLog
}

/**
 * The HTTP face as a function from a plain request to a plain answer.
 *
 * @throws `InvalidOption` naming `trustProxy`
 */
export function createHandler(service: Service, options: HandlerOptions): Handler {
  const { cors = [], trustProxy = [], log } = options
  const documents = writtenDocuments()
  const face: Face = { service, documents, cors, log, trusted: trustedProxies(trustProxy) }
  return async (request) => {
    try {
      return await respond(face, request)
    } catch (thrown) {
      // Not even a clock or a request that can be read: the client still gets our JSON.
      report(log, thrown, {})
      return errorResponse(500, 'internal_error')
    }
  }
}

async function respond(face: Face, request: RequestRecord): Promise<ResponseRecord> {
  const { service, cors } = face
  const query = readQuery(request.url)
  const requestId = clientRequestId(request.headers) ?? service.newId()
  const timestamp = isoTime(service.now())
  const shared = cors.length === 0 ? undefined : corsHeaders(cors, header(request.headers, 'origin'))
  const seen: Seen = {}
  const how = (): Delivery => ({
    frame: {
      requestId,
      timestamp,
      node: service.node,
      version: seen.caller && service.version,
      authToken: seen.caller?.token,
      indent: wantsIndent(request.headers, query),
    },
    headOnly: request.method === 'HEAD',
    shared,
  })
  try {
    const judgement = await judge(service, request, query, seen, cors.length > 0)
    if (judgement.kind === 'refused') return refusalResponse(judgement.refusal, seen.route, how())
    if (judgement.kind === 'preflight')
      return preflightResponse(preflightHeaders(allowOf(seen.routes!, true)), how())
    const { route } = judgement.judged
    const answer = await OPERATIONS[route.operation](callOf(face, request, query, seen, judgement.judged))
    return answerResponse(answer, route, service.version, how())
  } catch (thrown) {
    const refusal = refusalOfThrown(thrown, seen, cors.length > 0)
    const fields = { requestId, operation: seen.route?.operation }
    if (refusal.fault) report(face.log, thrown, fields)
    else if (OUT.has(errorCode(thrown))) reportOut(face.log, thrown as Error, fields)
    return refusalResponse(refusal, seen.route, how())
  }
}

function callOf(face: Face, request: RequestRecord, query: Query, seen: Seen, judged: Judged): Call {
  const { params, data, base, route } = judged
  const { headers, remoteAddress } = request
  // Only logins are limited by address: the others need not know it.
  const address = route.login
    ? clientAddress(remoteAddress, header(headers, 'x-forwarded-for'), face.trusted)
    : undefined
  return {
    service: face.service,
    documents: face.documents,
    params,
    data,
    query,
    headers,
    base,
    caller: seen.caller,
    address,
  }
}

/** A method that this installation lacks (a host's directory that rotates no keys) is one that the path lacks. */
function refusalOfThrown(thrown: unknown, { route, routes }: Seen, crossOrigin: boolean): Refusal {
  if (errorCode(thrown) !== 'Unsupported' || !route || !routes) return refusalOf(thrown)
  const { [route.method]: _, ...others } = routes
  return wrongMethod(allowOf(others, crossOrigin))
}

/** What went wrong, for the host alone. */
function report(log: FaultLog, thrown: unknown, fields: Readonly<Record<string, unknown>>): void {
  try {
    const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown))
    log.error({ ...fields, err: { name, message, stack } }, 'a request failed by our own fault')
  } catch {
    // The logger is the host's; the request is answered all the same.
  }
}

/** Errors of what the host keeps for us: not our fault, yet somebody must hear of it. */
const OUT: ReadonlySet<string | undefined> = new Set(['StoreUnavailable', 'StoreCorrupt'])

function reportOut(log: FaultLog, thrown: Error, fields: Readonly<Record<string, unknown>>): void {
  const { message, cause } = thrown
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  try {
    log.warn({ ...fields, reason }, 'a request failed because the storage or the directory is out')
  } catch {
    // As above.
  }
}
