import { errorCode, type Failure } from '../errors.js'
import { wirePath } from './names.js'

/** An answer that is no success: status, name, data and further headers. */
export interface Refusal {
  readonly status: number
  /** Name in the envelope's `message`. */
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** A fault of ours, to be logged: the client is told nothing of it. */
  readonly fault?: true
}

const named = (
  status: number,
  message: string,
  sentence: string,
  headers?: Record<string, string>,
): Refusal => ({
  status,
  message,
  data: { message: sentence },
  ...(headers && { headers }),
})

/** One answer for every cause (no, unknown, expired, revoked token; wrong login): nobody learns which. */
export const INVALID_CREDENTIALS = named(401, 'invalid_credentials', 'invalid credentials', {
  // RFC 9110, section 11.6.1: a 401 says how to authenticate.
  'www-authenticate': 'Bearer',
})
export const FORBIDDEN = named(403, 'forbidden', 'forbidden')
export const NO_ROUTE = named(404, 'not_found', 'not found')
export const NOT_ACCEPTABLE = named(406, 'not_acceptable', 'only application/json can be answered')
export const TOO_SLOW = named(408, 'request_timeout', 'the request did not arrive in time')
export const URI_TOO_LONG = named(414, 'uri_too_long', 'the request target is too long')
export const WRONG_MEDIA_TYPE = named(
  415,
  'unsupported_media_type',
  'the request body must be application/json',
)
export const FAULT: Refusal = { ...named(500, 'internal_error', 'internal error'), fault: true }

/** @param allow the methods that exist, joined by commas */
export function wrongMethod(allow: string): Refusal {
  return named(405, 'invalid_method', 'invalid method', { allow })
}

export function unknownId(id: string): Refusal {
  return { status: 404, message: 'bad_identifier', data: { cause: id, message: 'bad identifier' } }
}

/** @param limit most bytes of a request body */
export function tooLarge(limit: number): Refusal {
  const failure = {
    path: 'body',
    rule: 'maxSize',
    message: `The body must not exceed ${limit} bytes`,
    target: limit,
  }
  return { ...invalid([failure]), status: 413 }
}

/** All broken rules at once: `{"<dotted.path>": {"<rule>": {message, target, value?}}}`. */
export function invalid(failures: readonly Failure[]): Refusal {
  const data = new Map<string, Record<string, unknown>>()
  for (const { path, rule, message, target, value } of failures) {
    const field = path === '' ? 'data' : path
    const rules = data.get(field) ?? {}
    rules[rule] ??= { message, target, value }
    data.set(field, rules)
  }
  return { status: 400, message: 'validation error', data: Object.fromEntries(data) }
}

/** Seconds that a client is asked to wait when the core names none. */
const RETRY_AFTER_SECONDS = 1

interface Thrown {
  readonly failures?: readonly Failure[]
  readonly field?: string
  readonly id?: string
  readonly message?: string
  readonly retryAfterSeconds?: number
}

/**
 * What any thrown value means to a client. Total: whatever is not one of our errors is a fault of ours, and a
 * client never sees its text.
 *
 * @param renamed how a failure is told to this client; by default a webhook's names are spelled as on the wire
 */
export function refusalOf(thrown: unknown, renamed: (failure: Failure) => Failure = webhookFailure): Refusal {
  const error = thrown as Thrown
  switch (errorCode(thrown)) {
    case 'InvalidInput':
      return invalid(failuresOf(error).map(renamed))
    case 'InvalidCredentials':
      return INVALID_CREDENTIALS
    case 'Forbidden':
      return FORBIDDEN
    case 'NotFound':
      return unknownId(error.id ?? '')
    case 'Conflict':
      return named(409, 'datastore_conflict', 'the request conflicts with what is stored')
    case 'RevisionConflict':
      return named(412, 'precondition_failed', 'the document has changed since it was read')
    case 'AccountLocked':
      return named(423, 'locked', 'the account is disabled')
    case 'TooManyLogins':
      return named(429, 'too_many_requests', 'too many logins, try again later', retryAfter(error))
    case 'TooManyReplays':
      return named(429, 'too_many_requests', 'too many tests and replays, try again later', retryAfter(error))
    case 'QueueFull':
      return named(
        429,
        'too_many_requests',
        'too many deliveries are waiting, try again later',
        retryAfter(error),
      )
    case 'StoreCorrupt':
    case 'StoreUnavailable':
      return named(503, 'datastore_unreachable', 'the storage is unavailable', retryAfter(error))
    case 'Closing':
      return named(503, 'datastore_unreachable', 'the service is closing', retryAfter(error))
    default:
      return FAULT
  }
}

const webhookFailure = (failure: Failure): Failure => ({ ...failure, path: wirePath(failure.path) })

function failuresOf({ failures, field, message }: Thrown): readonly Failure[] {
  if (failures && failures.length > 0) return failures
  return [{ path: field ?? '', rule: 'error', message: message ?? 'failed to validate' }]
}

function retryAfter({ retryAfterSeconds }: Thrown): Record<string, string> {
  const seconds = Math.ceil(retryAfterSeconds ?? RETRY_AFTER_SECONDS)
  return { 'retry-after': String(seconds >= 1 ? seconds : RETRY_AFTER_SECONDS) }
}
