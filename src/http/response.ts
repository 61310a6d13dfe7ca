/** Response records for results, errors and preflight requests. Pure. */
import { type EnvelopeFields, type PageFields, serializeError, serializeSuccess } from '../wire/envelope.js'
import type { HttpError } from '../wire/error-body.js'
import type { Route } from '../wire/routes.js'
import { etagOf, revisionString } from '../wire/webhook-json.js'
import { EVENT_STREAM_HEADERS, eventStream } from './event-stream.js'
import type { ListBody } from './list-response.js'
import type { ResponseRecord } from './message.js'
import type { OperationResult } from './operations/context.js'

type Headers = Readonly<Record<string, string>>

/** Exactly this, without parameters: existing clients compare the whole string. */
const JSON_TYPE = 'application/json'

export interface ResponseOptions {
  readonly envelope: EnvelopeFields
  /** True for HEAD: the headers of the GET, no body. */
  readonly isHead: boolean
  /** Called when a response that is a stream has ended. */
  readonly onStreamEnd?: (() => void) | undefined
  /** Headers of every response of this handler. */
  readonly commonHeaders: Headers | undefined
}

/**
 * Builds the response to a success, in the envelope unless `rawBody` is set; 304 if the client's copy is current; a route
 * with `isStream` gets a stream.
 *
 * @param list the body of a list of the store
 */
export function successResponse(
  result: OperationResult,
  route: Route,
  version: string,
  options: ResponseOptions,
  list?: ListBody,
): ResponseRecord {
  const { envelope } = options
  const headers: Record<string, string> = { 'x-request-id': envelope.requestId, ...options.commonHeaders }
  if (result.revision !== undefined) headers.etag = etagOf(result.revision)
  if (result.isNotModified === true) return { status: 304, headers, body: '' }
  if (result.location !== undefined) headers.location = result.location
  if (route.hasSecret === true || result.hasSecret === true) headers['cache-control'] = 'no-store'
  const fields =
    result.issuedToken === undefined ? envelope : { ...envelope, authToken: result.issuedToken, version }
  if (route.isStream === true) {
    Object.assign(headers, EVENT_STREAM_HEADERS)
    const stream = result.source && eventStream(result.source, options.onStreamEnd)
    return { status: route.status, headers, body: '', ...(stream && { stream }) }
  }
  const status = result.status ?? route.status
  const { rawBody } = result
  if (rawBody) {
    Object.assign(headers, { 'content-type': JSON_TYPE, 'content-length': String(rawBody.length) })
    return { status, headers, body: '', ...(!options.isHead && { bytes: rawBody }) }
  }
  if (list?.stream) {
    headers['content-type'] = JSON_TYPE
    if (!options.isHead) return { status, headers, body: '', stream: list.stream }
    // The length of the list is not known.
    list.stream.close()
    return { status, headers, body: '' }
  }
  return withBody(status, headers, list?.body ?? serializeResult(result, fields), options.isHead)
}

function serializeResult(result: OperationResult, envelope: EnvelopeFields): string {
  const { startKey, warnings } = result
  const page: PageFields | undefined = result.page && {
    count: result.page.items.length,
    nextStartKey: result.page.nextStartKey,
    isTruncated: result.page.isTruncated,
  }
  const revision = result.revision === undefined ? undefined : revisionString(result.revision)
  return serializeSuccess(result.data, envelope, { revision, page, startKey, warnings }, result.dataJson)
}

/**
 * Builds the response to an error, in the envelope. All 401 responses are alike: of the request, only its id is
 * included.
 *
 * @param route the route, if one matched: no cache may store even an error of a route with secrets
 */
export function httpErrorResponse(
  error: HttpError,
  route: Route | undefined,
  options: ResponseOptions,
): ResponseRecord {
  const { status, name, data } = error
  const { authToken: _, version: __, ...anonymous } = options.envelope
  const envelope = status === 401 ? anonymous : options.envelope
  const headers: Record<string, string> = {
    'x-request-id': envelope.requestId,
    ...options.commonHeaders,
    ...error.headers,
    ...(route?.hasSecret === true && { 'cache-control': 'no-store' }),
  }
  return withBody(status, headers, serializeError(status, name, data, envelope), options.isHead)
}

/** Builds the response to a CORS preflight request: headers without a body. */
export function preflightResponse(
  headers: Headers,
  { envelope, commonHeaders }: ResponseOptions,
): ResponseRecord {
  return {
    status: 204,
    headers: { 'x-request-id': envelope.requestId, ...commonHeaders, ...headers },
    body: '',
  }
}

function withBody(
  status: number,
  headers: Record<string, string>,
  body: string,
  isHead: boolean,
): ResponseRecord {
  headers['content-type'] = JSON_TYPE
  headers['content-length'] = String(Buffer.byteLength(body))
  return { status, headers, body: isHead ? '' : body }
}
