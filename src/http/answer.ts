import { errorBody, type Frame, successBody } from '../wire/envelope.js'
import type { Refusal } from '../wire/error-body.js'
import type { Route } from '../wire/route.js'
import { etagOf, revisionText } from '../wire/webhook-doc.js'
import type { ResponseRecord } from './message.js'
import type { Answer } from './operations/call.js'

type Headers = Readonly<Record<string, string>>

/** Exactly this, without parameters: real clients compare the whole string. */
const JSON_TYPE = 'application/json'

/** How an answer is put on the wire. */
export interface Delivery {
  readonly frame: Frame
  /** For HEAD: headers of the GET, no body. */
  readonly headOnly: boolean
  /** Headers of every answer of this face. */
  readonly shared: Headers | undefined
}

/** A success, in its envelope unless it is bare; 304 where the client has the document already. */
export function answerResponse(answer: Answer, route: Route, version: string, how: Delivery): ResponseRecord {
  const { frame } = how
  const headers: Record<string, string> = { 'x-request-id': frame.requestId, ...how.shared }
  if (answer.revision !== undefined) headers.etag = etagOf(answer.revision)
  if (answer.unchanged === true) return { status: 304, headers, body: '' }
  if (answer.location !== undefined) headers.location = answer.location
  if (route.secret === true) headers['cache-control'] = 'no-store'
  const issued = answer.issued === undefined ? frame : { ...frame, authToken: answer.issued, version }
  return withBody(route.status, headers, answer.bare ?? envelope(answer, issued), how.headOnly)
}

function envelope(answer: Answer, frame: Frame): string {
  const { page, startKey, revision } = answer
  const text = revision === undefined ? undefined : revisionText(revision)
  return successBody(answer.data, frame, { revision: text, page, startKey }, answer.written)
}

/**
 * An error in its envelope. A 401 is the same for every cause: nothing of the request but its id is in it.
 *
 * @param route as far as it is known: no cache may keep even the refusal of a secret
 */
export function refusalResponse(refusal: Refusal, route: Route | undefined, how: Delivery): ResponseRecord {
  const { status, message, data } = refusal
  const { authToken: _, version: __, ...anonymous } = how.frame
  const frame = status === 401 ? anonymous : how.frame
  const headers: Record<string, string> = {
    'x-request-id': frame.requestId,
    ...how.shared,
    ...refusal.headers,
    ...(route?.secret === true && { 'cache-control': 'no-store' }),
  }
  return withBody(status, headers, errorBody(status, message, data, frame), how.headOnly)
}

/** The answer to a preflight: only headers. */
export function preflightResponse(headers: Headers, { frame, shared }: Delivery): ResponseRecord {
  return { status: 204, headers: { 'x-request-id': frame.requestId, ...shared, ...headers }, body: '' }
}

function withBody(
  status: number,
  headers: Record<string, string>,
  body: string,
  headOnly: boolean,
): ResponseRecord {
  headers['content-type'] = JSON_TYPE
  headers['content-length'] = String(Buffer.byteLength(body))
  return { status, headers, body: headOnly ? '' : body }
}
