/** The error of the client. Its texts contain neither the query nor a secret. */

/** Codes of errors that the client raises itself; every other code is the `message` of the service's error response. */
export type ClientErrorCode =
  /** An option or a parameter is missing or invalid; nothing was sent. */
  | 'invalid_option'
  /** No complete response: connection refused, reset or cut. */
  | 'network'
  /** The call took longer than `timeoutMs`. */
  | 'timeout'
  /** The caller's `signal` aborted; `cause` is its reason. */
  | 'aborted'
  /** The response is not one of this API: not JSON, no envelope, or too large. */
  | 'invalid_response'
  /** The response is a redirect, which is never followed because requests carry a token. */
  | 'redirected'

/** Details of an error. */
export interface ClientErrorDetails {
  /** HTTP status of the response. */
  readonly status?: number | undefined
  /** `data` of the service's error response. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** Id of the request, for the service's operator. */
  readonly requestId?: string | undefined
  /** `Retry-After` of the response, in seconds. */
  readonly retryAfterSeconds?: number | undefined
  /** The error behind it. */
  readonly cause?: unknown
}

/** Every error of a call. Distinguish errors by `code`. */
export class HookswitchClientError extends Error {
  /** Name of the class, as every error has it. */
  override readonly name = 'HookswitchClientError'
  static {
    // Node prints the name of the class, which is short in the package.
    Object.defineProperty(HookswitchClientError, 'name', { value: 'HookswitchClientError' })
  }
  /** `message` of the service's error response, such as `invalid_credentials` or `validation error`, or a `ClientErrorCode`. */
  readonly code: ClientErrorCode | (string & {})
  /** HTTP status of the response; `undefined` without a response. */
  readonly status: number | undefined
  /** `data` of the error response; for `validation error`, the violated rules by field. Secrets are redacted. */
  readonly data: Readonly<Record<string, unknown>>
  /** Id of the request, for the service's operator. */
  readonly requestId: string | undefined
  /** `Retry-After` of the response, in seconds. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: string, message: string, details: ClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.data = details.data ?? {}
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** An error about an option or a parameter; the message begins with its name. */
export function invalidOption(name: string, problem: string): HookswitchClientError {
  return new HookswitchClientError('invalid_option', `${name}: ${problem}`)
}

/**
 * Checks that options are an object without unknown keys: a misspelt option would have no effect.
 *
 * @param what names the options where they are no object
 * @throws `invalid_option`
 */
export function checkNames(what: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw invalidOption(what, 'the options must be an object')
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalidOption(name, `is unknown (known: ${known.join(', ')})`)
  }
}

/** Shorter texts are no secrets, and replacing them would make errors unreadable. */
const SHORTEST_SECRET = 6

/** Replaces secrets in a text or anywhere in a JSON value: a service may echo what it refuses. */
export function redact<Value>(value: Value, secrets: readonly string[]): Value {
  const isSecret = secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
  const clean = (unclean: unknown): unknown => {
    if (typeof unclean === 'string') {
      return isSecret.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), unclean)
    }
    if (Array.isArray(unclean)) return unclean.map(clean)
    if (typeof unclean !== 'object' || unclean === null) return unclean
    return Object.fromEntries(Object.entries(unclean).map(([key, item]) => [clean(key), clean(item)]))
  }
  return isSecret.length === 0 ? value : (clean(value) as Value)
}
