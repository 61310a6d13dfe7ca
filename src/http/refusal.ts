/**
 * Error answers that are made without the service: by an adapter for what the HTTP parser of its server refuses,
 * and for a fault on the way to us. Every error carries the JSON envelope, wherever it was found, because a client
 * of an API parses what it gets.
 *
 * Pure: the time and the id of the request are arguments.
 */
import { errorBody } from '../wire/envelope.js'
import { FAULT, TOO_SLOW, URI_TOO_LONG } from '../wire/error-body.js'
import type { ResponseRecord } from './message.js'

export interface ErrorResponseOptions {
  /** The sentence in `data.message`. Default: the service's own for this name, else the name with spaces. */
  readonly message?: string
  /** Further headers of the answer, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces `data`, which is `{ message }` by default. An object always: clients call methods on it. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Opaque id of the process that answers. */
  readonly node?: string
  /** Becomes `request_id` and the header `x-request-id`. */
  readonly requestId?: string
  /** ISO 8601, UTC. */
  readonly timestamp?: string
}

/** Name (`message` of the envelope) of the statuses that the transport raises; the phrases of RFC 9110 and RFC 6585. */
export const REFUSAL_NAMES: Readonly<Record<number, string>> = Object.freeze({
  400: 'bad_request',
  405: 'invalid_method',
  408: TOO_SLOW.message,
  414: URI_TOO_LONG.message,
  417: 'expectation_failed',
  431: 'request_header_fields_too_large',
  500: FAULT.message,
})

/** What is refused here as well as by the service is told in the same words. */
const SHARED_DATA = new Map([TOO_SLOW, URI_TOO_LONG].map(({ message, data }) => [message, data]))

const encoder = new TextEncoder()

/**
 * An answer in the error envelope: `{ data, error, message, status, request_id?, timestamp?, node? }`, where `error`
 * is the status as a string and `message` the name. The content type is exactly `application/json`: real clients
 * compare the whole string.
 *
 * @example errorResponse(414, 'uri_too_long', { requestId, timestamp: new Date().toISOString() })
 */
export function errorResponse(
  status: number,
  name: string,
  options: ErrorResponseOptions = {},
): ResponseRecord {
  const { message, requestId } = options
  const shared = message === undefined ? SHARED_DATA.get(name) : undefined
  const data = options.data ?? shared ?? { message: message ?? name.replaceAll('_', ' ') }
  const body = errorBody(status, name, data, options)
  return {
    status,
    headers: {
      ...options.headers,
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      'content-type': 'application/json',
      'content-length': String(encoder.encode(body).length),
    },
    body,
  }
}
