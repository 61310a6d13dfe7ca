/**
 * Every error this package throws on purpose: one class, a closed union of codes.
 *
 * Tell errors apart by `code`, never by `instanceof`: the ESM and the CommonJS build each have a class of their
 * own. The code says whose fault it is: the caller's, the store's, ours.
 */

/** One broken rule of a validated document: the rule's name is the JSON Schema keyword where there is one. */
export interface Failure {
  /** Dotted path of the field inside the document, '' for the document itself. */
  readonly path: string
  /** `required`, `type`, `enum`, `minimum`, `maximum`, `minLength`, `maxLength`, `pattern`, `wrong_format`, `error` … */
  readonly rule: string
  readonly message: string
  /** The limit, list or type that was not met. */
  readonly target?: unknown
  readonly value?: unknown
}

export type ErrorCode =
  // the caller's
  | 'InvalidOption'
  | 'InvalidInput'
  | 'InvalidCredentials'
  | 'AccountLocked'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'RevisionConflict'
  | 'TooManyLogins'
  | 'TooManyReplays'
  | 'QueueFull'
  | 'Unsupported'
  // the store's
  | 'StoreUnavailable'
  | 'StoreCorrupt'
  // ours
  | 'Closing'
  | 'Internal'

export interface ErrorDetails {
  /** The option or field that is wrong. */
  readonly field?: string
  /** For `InvalidInput`: every broken rule at once. */
  readonly failures?: readonly Failure[]
  /** For `NotFound`: the id that nobody knows. */
  readonly id?: string
  /** For `TooManyLogins`, `TooManyReplays`, `QueueFull`, `StoreUnavailable`, `Closing`: when to try again. */
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

export class HookswitchError extends Error {
  readonly code: ErrorCode
  readonly field?: string
  readonly failures?: readonly Failure[]
  readonly id?: string
  readonly retryAfterSeconds?: number

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'HookswitchError'
    this.code = code
    if (details.field !== undefined) this.field = details.field
    if (details.failures !== undefined) this.failures = details.failures
    if (details.id !== undefined) this.id = details.id
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** The code of an error that this package threw, from whichever build; `undefined` for any other value. */
export function errorCode(thrown: unknown): ErrorCode | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  const { name, code } = thrown as { name?: unknown; code?: unknown }
  return name === 'HookswitchError' && typeof code === 'string' ? (code as ErrorCode) : undefined
}

/** `InvalidInput` for a list of failures; the message names every field. */
export function invalidInput(failures: readonly Failure[]): HookswitchError {
  const sentence = failures.map(inWords).join('; ')
  return new HookswitchError('InvalidInput', sentence, {
    failures,
    ...(failures[0] ? { field: failures[0].path } : {}),
  })
}

/** One failure as a sentence: the rule `error` says in its target what exactly is wrong. */
function inWords({ path, rule, message, target }: Failure): string {
  const more = rule === 'error' && typeof target === 'string' && target !== message ? ` (${target})` : ''
  const list = rule === 'enum' && Array.isArray(target) ? `: ${target.join(', ')}` : ''
  return `${path === '' ? '' : `${path}: `}${message}${more}${list}`
}

/** `NotFound` for an id. */
export function notFound(id: string): HookswitchError {
  return new HookswitchError('NotFound', `unknown id: ${id}`, { id })
}
