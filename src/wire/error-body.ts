/** Maps errors to HTTP errors with KAZOO's names and messages. */
import { boundFailure, errorCode, type Failure } from '../errors.js'
import { toWirePath } from './field-names.js'

/** An HTTP error: status, name, data and additional headers. */
export interface HttpError {
  readonly status: number
  /** Error name; `message` in the envelope. */
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Internal error: it is logged, and the client learns no details. */
  readonly isInternal?: true
}

const httpError = (
  status: number,
  name: string,
  message: string,
  headers?: Record<string, string>,
): HttpError => ({
  status,
  name,
  data: { message },
  ...(headers && { headers }),
})

/** One error for every cause (missing, unknown, expired or revoked token; wrong login), so that clients cannot tell. */
export const INVALID_CREDENTIALS = httpError(401, 'invalid_credentials', 'invalid credentials', {
  // A 401 must name an authentication scheme (RFC 9110, section 11.6.1).
  'www-authenticate': 'Bearer',
})
export const FORBIDDEN = httpError(403, 'forbidden', 'forbidden')
/** KAZOO `cb_user_auth`; only for a correct login. @internal */
export const ACCOUNT_DISABLED: HttpError = {
  status: 423,
  name: 'locked',
  data: { account: { disabled: { message: 'account disabled' } } },
}
export const ROUTE_NOT_FOUND = httpError(404, 'not_found', 'not found')
export const NOT_ACCEPTABLE = httpError(406, 'not_acceptable', 'only application/json can be answered')
export const NOT_A_STREAM = httpError(406, 'not_acceptable', 'only text/event-stream can be answered')
export const REQUEST_TIMEOUT = httpError(408, 'request_timeout', 'the request did not arrive in time')
export const URI_TOO_LONG = httpError(414, 'uri_too_long', 'the request target is too long')
export const UNSUPPORTED_MEDIA_TYPE = httpError(
  415,
  'unsupported_media_type',
  'the request body must be application/json',
)
/** RFC 9110, section 15.5.16: the header names what is accepted. */
export const UNSUPPORTED_CONTENT_CODING = httpError(
  415,
  'unsupported_media_type',
  'the request body must not be compressed',
  { 'accept-encoding': 'identity' },
)
export const INTERNAL_ERROR: HttpError = {
  ...httpError(500, 'internal_error', 'internal error'),
  isInternal: true,
}

/** @param allow the allowed methods, joined by commas */
export function methodNotAllowed(allow: string): HttpError {
  return httpError(405, 'invalid_method', 'invalid method', { allow })
}

/**
 * @param message why the operation does not exist here
 * @param cause the ability that the host's directory lacks, if that is why
 */
export function notImplemented(message: string, cause?: string): HttpError {
  return { status: 501, name: 'not_implemented', data: { message, cause } }
}

export function badIdentifier(id: string): HttpError {
  return { status: 404, name: 'bad_identifier', data: { cause: id, message: 'bad identifier' } }
}

/** @param limit maximum size of a request body in bytes */
export function bodyTooLarge(limit: number): HttpError {
  const failure = {
    path: 'body',
    rule: 'maxSize',
    message: `The body must not exceed ${limit} bytes`,
    target: limit,
  }
  return { ...validationError([failure]), status: 413 }
}

/**
 * Unfinished request bodies hold as much as they may: all together (503), or those of one address (429).
 *
 * @param limit bytes
 */
export function tooManyBodyBytes(status: 503 | 429, limit: number): HttpError {
  const [name, message] =
    status === 503
      ? [
          'too_many_unfinished_bodies',
          `unfinished request bodies hold ${limit} bytes already (maxUnfinishedBodyBytes)`,
        ]
      : [
          'too_many_requests',
          `unfinished request bodies of this address hold ${limit} bytes already (maxUnfinishedBodyBytesPerAddress)`,
        ]
  return httpError(status, name, message, { 'retry-after': '1' })
}

/** @param reason which limit is reached, and its value */
export const tooManyPublishes = (reason: string): HttpError =>
  httpError(429, 'too_many_requests', reason, { 'retry-after': '1' })

/** KAZOO's sentence for a field that the schema does not define (`kz_json_schema:error_to_jobj`). */
const UNDEFINED_FIELD = 'Strict checking of data is enabled; only include schema-defined properties'

/** Reports all violated rules: `{"<dotted.path>": {"<rule>": {message, target, value?}}}`. */
export function validationError(failures: readonly Failure[]): HttpError {
  const data = new Map<string, Record<string, unknown>>()
  for (const { path, rule, message, target, value, cause } of failures.map(boundFailure)) {
    const field = path === '' ? 'data' : path
    const rules = data.get(field) ?? {}
    const text = rule === 'additionalProperties' ? UNDEFINED_FIELD : message
    rules[rule] ??= { message: text, target, value, cause }
    data.set(field, rules)
  }
  return { status: 400, name: 'validation error', data: Object.fromEntries(data) }
}

/** Value of `Retry-After` in seconds if the error has none. */
const RETRY_AFTER_SECONDS = 1

interface Thrown {
  readonly failures?: readonly Failure[]
  readonly field?: string
  readonly id?: string
  readonly message?: string
  readonly retryAfterSeconds?: number
  /** Events of the list that were accepted before the error. */
  readonly acceptedEvents?: number
}

/**
 * Maps any thrown value to an HTTP error. A value that is not an error of this package is an internal error, and
 * clients never see its message.
 *
 * @param toWire translates the field names of a failure; by default those of a webhook
 */
export function toHttpError(
  thrown: unknown,
  toWire: (failure: Failure) => Failure = webhookFailure,
): HttpError {
  const error = httpErrorOf(thrown, toWire)
  const { acceptedEvents } = (thrown ?? {}) as Thrown
  if (errorCode(thrown) === undefined || typeof acceptedEvents !== 'number') return error
  return { ...error, data: { ...error.data, accepted_events: acceptedEvents } }
}

function httpErrorOf(thrown: unknown, toWire: (failure: Failure) => Failure): HttpError {
  const error = thrown as Thrown
  switch (errorCode(thrown)) {
    case 'InvalidInput':
      return validationError(failuresOf(error).map(toWire))
    case 'TooLarge':
      return { ...validationError(failuresOf(error)), status: 413 }
    case 'InvalidCredentials':
      return INVALID_CREDENTIALS
    case 'Forbidden':
      return error.id === undefined
        ? FORBIDDEN
        : { ...FORBIDDEN, data: { message: 'deleting your own account is forbidden', cause: error.id } }
    case 'NotFound':
      return badIdentifier(error.id ?? '')
    case 'Conflict':
      if (error.field === 'descendants')
        return httpError(409, 'account_has_descendants', 'account has descendants')
      // KAZOO's text for an id that is taken (`cb_context`).
      if (error.field === 'id') return httpError(409, 'datastore_conflict', 'conflicting documents')
      return httpError(409, 'datastore_conflict', 'the request conflicts with what is stored')
    case 'RevisionConflict':
      return httpError(412, 'precondition_failed', 'the document has changed since it was read')
    case 'AccountLocked':
      return ACCOUNT_DISABLED
    case 'TooManyLogins':
      return httpError(429, 'too_many_requests', 'too many logins, try again later', retryAfter(error))
    case 'TooManyReplays':
      return httpError(
        429,
        'too_many_requests',
        'too many tests and replays, try again later',
        retryAfter(error),
      )
    case 'TooManyChecks':
      return httpError(
        429,
        'too_many_requests',
        'too many checks of addresses, try again later',
        retryAfter(error),
      )
    case 'TooManyStreams':
      return httpError(
        429,
        'too_many_requests',
        'too many streams are open, try again later',
        retryAfter(error),
      )
    case 'QueueFull':
      return httpError(
        429,
        'too_many_requests',
        'too many deliveries are waiting, try again later',
        retryAfter(error),
      )
    case 'StoreCorrupt':
    case 'StoreUnavailable':
      return httpError(503, 'datastore_unreachable', 'the storage is unavailable', retryAfter(error))
    case 'Closing':
      return httpError(503, 'datastore_unreachable', 'the service is closing', retryAfter(error))
    default:
      return INTERNAL_ERROR
  }
}

const webhookFailure = (failure: Failure): Failure => ({ ...failure, path: toWirePath(failure.path) })

function failuresOf({ failures, field, message }: Thrown): readonly Failure[] {
  if (failures && failures.length > 0) return failures
  return [{ path: field ?? '', rule: 'error', message: message ?? 'failed to validate' }]
}

function retryAfter({ retryAfterSeconds }: Thrown): Record<string, string> {
  const seconds = Math.ceil(retryAfterSeconds ?? RETRY_AFTER_SECONDS)
  return { 'retry-after': String(seconds >= 1 ? seconds : RETRY_AFTER_SECONDS) }
}
