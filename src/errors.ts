/**
 * Every error that this package throws deliberately: one class with a closed set of codes.
 *
 * Distinguish errors by `code`, never by `instanceof`: the ESM and the CommonJS build have separate classes. The groups
 * of codes below name the party at fault.
 */
import { suggestionOf } from './values/closest-name.js'

/** One broken rule of a validated document. */
export interface Failure {
  /** Dotted path of the field in the document; `''`: the document itself. */
  readonly path: string
  /**
   * Name of the rule, the JSON Schema keyword where one exists: `required`, `type`, `enum`, `minimum`, `maximum`,
   * `minLength`, `maxLength`, `pattern`, `additionalProperties`, `wrong_format`, `error`, …
   */
  readonly rule: string
  /** One sentence for people. */
  readonly message: string
  /** The limit, list or type that the value does not meet. */
  readonly target?: unknown
  /** The rejected value; only where it is short, scalar and not secret. */
  readonly value?: unknown
  /** What stands in the way: a value that is taken, or the id of the account that forbids it. */
  readonly cause?: string
}

/** Longest name, id or value that an error repeats, and longest sentence about one rule, characters. */
const MAX_PART = 256
const MAX_RULE_SENTENCE = 1_000
/** Longest message, characters. */
const MAX_MESSAGE = 10_000

/** A text of a caller may be of any length. */
const cut = <T extends string>(text: T, max: number) =>
  typeof text !== 'string' || text.length <= max ? text : `${text.slice(0, max - 1)}…`

/** The failure with what it repeats of the input cut to a bounded length. */
export function boundFailure(failure: Failure): Failure {
  const { path, message, cause } = failure
  const isShort = path.length <= MAX_PART && message.length <= MAX_RULE_SENTENCE
  if (isShort && (cause === undefined || cause.length <= MAX_PART)) return failure
  return {
    ...failure,
    path: cut(path, MAX_PART),
    message: cut(message, MAX_RULE_SENTENCE),
    ...(cause !== undefined && { cause: cut(cause, MAX_PART) }),
  }
}

/** Codes of `HookswitchError`, grouped by the party at fault. */
export type ErrorCode =
  // the caller
  | 'InvalidOption'
  | 'InvalidInput'
  | 'TooLarge'
  | 'InvalidCredentials'
  | 'AccountLocked'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'RevisionConflict'
  | 'TooManyLogins'
  | 'TooManyReplays'
  | 'TooManyChecks'
  | 'TooManyStreams'
  | 'QueueFull'
  | 'Unsupported'
  // the store
  | 'StoreUnavailable'
  | 'StoreCorrupt'
  // this package
  | 'Closing'
  | 'Internal'

/** The error that this package throws. Distinguish by `code`, never by `instanceof` (see `errorCode`). */
export class HookswitchError extends Error {
  /** What went wrong. */
  readonly code: ErrorCode
  /** Name of the invalid option or field. */
  readonly field?: string
  /** For `InvalidInput` and `TooLarge`: every broken rule. */
  readonly failures?: readonly Failure[]
  /** For `NotFound`: the unknown id. */
  readonly id?: string
  /** Seconds to wait before a retry, where a retry may succeed. */
  readonly retryAfterSeconds?: number

  /**
   * @param code what went wrong
   * @param message one sentence for people, without secrets; cut at 10,000 characters. Names and ids are cut at 256
   * @param details default: none
   */
  constructor(
    code: ErrorCode,
    message: string,
    details: {
      /** Name of the invalid option or field. */
      readonly field?: string | undefined
      /** For `InvalidInput` and `TooLarge`: every broken rule. */
      readonly failures?: readonly Failure[] | undefined
      /** For `NotFound`: the unknown id. */
      readonly id?: string | undefined
      /** For `TooManyLogins`, `TooManyReplays`, `TooManyChecks`, `TooManyStreams`, `QueueFull`, `StoreUnavailable`, `Closing`: seconds to wait before a retry. */
      readonly retryAfterSeconds?: number | undefined
      /** The error that caused this one. */
      readonly cause?: unknown
    } = {},
  ) {
    super(cut(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'HookswitchError'
    this.code = code
    if (details.field !== undefined) this.field = cut(details.field, MAX_PART)
    if (details.failures !== undefined) this.failures = details.failures.map(boundFailure)
    if (details.id !== undefined) this.id = cut(details.id, MAX_PART)
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/**
 * The code of an error that this package threw, whichever build threw it; `undefined` for any other value.
 *
 * @example
 * try { await hs.publish(event) } catch (thrown) { if (errorCode(thrown) === 'QueueFull') … }
 */
export function errorCode(thrown: unknown): ErrorCode | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  const { name, code } = thrown as { name?: unknown; code?: unknown }
  return name === 'HookswitchError' && typeof code === 'string' ? (code as ErrorCode) : undefined
}

/** Longest sentence of a database that `reasonOf` quotes, characters. */
const MAX_CAUSE = 300

/**
 * Why something failed, for the log: of an error of a store also the code and the sentence of the database (SQLSTATE, result
 * code of SQLite), which clients do not get.
 */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown'
  const { message, cause } = thrown
  if (errorCode(thrown) === undefined || !(cause instanceof Error)) return message
  const { errcode, code } = cause as { readonly errcode?: unknown; readonly code?: unknown }
  const number = typeof errcode === 'number' ? `SQLite ${errcode}` : code
  const detail = cut(cause.message, MAX_CAUSE)
  return `${message} (${number === undefined || number === detail ? detail : `${number}: ${detail}`})`
}

/** Creates an `InvalidInput` error; its message names every field. */
export function invalidInput(failures: readonly Failure[]): HookswitchError {
  const sentence = failures.map(boundFailure).map(toSentence).join('; ')
  return new HookswitchError('InvalidInput', sentence, {
    failures,
    ...(failures[0] ? { field: failures[0].path } : {}),
  })
}

/** So many names are listed where none is close. */
const FEW = 8
/** So many failures of a document suggest a name. */
const SUGGESTIONS = 3

/**
 * `InvalidOption` for a key that a call does not know: "close(): unknown option 'drain' (did you mean 'drainMs'?)".
 *
 * @param call name of the function, without parentheses
 * @param known every name that the call knows
 * @param parent the option that contains the key, if any
 */
export function unknownOption(
  call: string,
  key: string,
  known: Iterable<string>,
  parent?: string,
): HookswitchError {
  const prefix = parent === undefined ? '' : `${parent}.`
  const field = `${prefix}${key}`
  const names = [...known]
  const all = names.length <= FEW ? ` (known: ${names.join(', ')})` : ''
  const message = `${call}(): unknown option '${field}'${suggestionOf(key, names, prefix) || all}`
  return new HookswitchError('InvalidOption', message, { field })
}

/**
 * Checks that the options of a call are an object without unknown keys: a misspelt option would have no effect. Values are
 * not checked.
 *
 * @param call name of the function, without parentheses
 * @param options what the caller passed; `undefined` is allowed
 * @param known every name that the call knows
 * @throws `InvalidOption` naming the call and the key
 */
export function checkOptionNames(call: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new HookswitchError('InvalidOption', `${call}(): the options must be an object`, {
      field: 'options',
    })
  }
  // Without a list of the keys: `publish` calls this for every event.
  for (const key in options) {
    if (!known.includes(key) && Object.hasOwn(options, key)) throw unknownOption(call, key, known)
  }
}

/**
 * Failures for the fields of a host's document that it cannot have. Only the first few suggest a name: there may be many.
 *
 * @param document with its article: `a webhook`
 */
export function unknownFields(input: object, document: string, known: readonly string[]): readonly Failure[] {
  return Object.keys(input)
    .filter((path) => !known.includes(path))
    .map((path, index) => {
      const suggestion = index < SUGGESTIONS ? suggestionOf(path, known) : ''
      return { path, rule: 'additionalProperties', message: `is not a field of ${document}${suggestion}` }
    })
}

/** One failure as a sentence. The target of the rule `error` states the exact reason. */
function toSentence({ path, rule, message, target, value }: Failure, index: number): string {
  const reason = rule === 'error' && typeof target === 'string' && target !== message ? ` (${target})` : ''
  const all = rule === 'enum' && Array.isArray(target) ? target.join(', ') : ''
  const list = all === '' || message.endsWith(all) ? '' : `: ${all}`
  const isMisspelt = list !== '' && typeof value === 'string' && index < SUGGESTIONS
  const suggestion = isMisspelt ? suggestionOf(value, (target as readonly unknown[]).map(String)) : ''
  return `${path === '' ? '' : `${path}: `}${message}${suggestion}${reason}${list}`
}

/** Refuses what comes after `close`, or is not committed when the instance closes. */
export function closingError(): HookswitchError {
  return new HookswitchError('Closing', 'this instance is closing, or was closed', { retryAfterSeconds: 1 })
}

/**
 * Creates a `NotFound` error: "account 'nope' does not exist". An id that is no string was probably forgotten.
 *
 * @param kind what the id names, for the message; default: unspecified
 */
export function notFound(
  id: string,
  kind?: 'account' | 'webhook' | 'delivery' | 'event' | 'user' | 'call' | 'replay' | 'job',
): HookswitchError {
  if (typeof id !== 'string') {
    const message = `the id of the ${kind ?? 'document'} must be a string, not ${id === null ? 'null' : typeof id}`
    return new HookswitchError('NotFound', message, { id: String(id) })
  }
  const message = kind === undefined ? `'${id}' does not exist` : `${kind} '${id}' does not exist`
  return new HookswitchError('NotFound', message, { id })
}
