/**
 * Error responses built without the handler: by an adapter for requests that its HTTP parser rejects, and for
 * failures before the handler runs. Every error uses the JSON envelope, wherever it arises, because API clients parse
 * every response.
 *
 * Pure: the time and the request id are arguments.
 */
import { serializeError } from '../wire/envelope.js'
import { INTERNAL_ERROR, REQUEST_TIMEOUT, URI_TOO_LONG } from '../wire/error-body.js'
import type { ResponseRecord } from './message.js'

/** Optional parts of an error response. */
export interface ErrorResponseOptions {
  /** Text of `data.message`. Default: the text that the API uses for this name, else the name with spaces. */
  readonly message?: string
  /** Additional response headers, with lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces `data`, which is `{ message }` by default. Always an object: clients call methods on it. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Opaque id of the responding process. */
  readonly node?: string
  /** Becomes `request_id` and the header `x-request-id`. */
  readonly requestId?: string
  /** ISO 8601, UTC. */
  readonly timestamp?: string
}

/** Error name (`message` in the envelope) by status, for errors of the transport. Phrases of RFC 9110 and RFC 6585. */
export const ERROR_NAMES: Readonly<Record<number, string>> = Object.freeze({
  400: 'bad_request',
  405: 'invalid_method',
  408: REQUEST_TIMEOUT.name,
  414: URI_TOO_LONG.name,
  417: 'expectation_failed',
  431: 'request_header_fields_too_large',
  500: INTERNAL_ERROR.name,
})

/** Errors that both an adapter and the API can raise have the same `data`. */
const SHARED_DATA = new Map([REQUEST_TIMEOUT, URI_TOO_LONG].map(({ name, data }) => [name, data]))

const encoder = new TextEncoder()

/**
 * Builds a response with the error envelope: `{ data, error, message, status, request_id?, timestamp?, node? }`, where
 * `error` is the status as a string and `message` the name. The content type is exactly `application/json`, because
 * existing clients compare the whole string.
 *
 * @param status HTTP status
 * @param name error name, such as those in `ERROR_NAMES`
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
  const body = serializeError(status, name, data, options)
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
