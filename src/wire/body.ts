/** Parses and checks the JSON body of a request. Schemas are validated elsewhere. */
import type { Failure } from '../errors.js'
import type { BodyKind } from './routes.js'
import { type JsonLimits, type JsonScan, scanJson } from './scan-json.js'

/**
 * Limits of a request body, so that the cost of parsing and checking it is bounded.
 *
 * * `depth`: nesting of objects and lists, including the body itself.
 * * `entries`: members of one object or elements of one list. No valid document has more: 64 KiB, the largest size of one,
 *   hold at most 9,362 members with different names.
 * * `total`: entries of all objects and lists. Events with fields of usual lengths fill 1 MiB with fewer.
 *
 * @internal
 */
export const JSON_LIMITS: JsonLimits = { depth: 32, entries: 10_000, total: 65_000 }

/** A parsed request body. Its `failures` are reported only after the caller is authorized. */
export interface RequestBody {
  /** The top-level object; empty if there was no body or it could not be parsed. */
  readonly envelope: Readonly<Record<string, unknown>>
  /** True if the request had a body. */
  readonly isPresent: boolean
  /** True if the body is JSON, valid or not for this API. */
  readonly isJson: boolean
  readonly failures?: readonly Failure[]
}

const EMPTY_BODY: RequestBody = {
  envelope: Object.freeze({ data: Object.freeze({}) }),
  isPresent: false,
  isJson: true,
}

/** A body that is parsed only once its sender is known. */
export interface UnparsedBody {
  /** The top-level fields that identify the caller and the operation: `auth_token` and `verb`. */
  readonly head: Readonly<Record<string, unknown>>
  /** Parses the body. Never throws. */
  parse(): RequestBody
}

/** Top-level fields that are read before the body is parsed. */
const HEAD_FIELDS = ['auth_token', 'verb']

/** Reads the fields that the checks before the body need, at a small and bounded cost. */
export function peekBody(bytes: Uint8Array | string | undefined): UnparsedBody {
  if (bytes === undefined || bytes.length === 0) return { head: {}, parse: () => EMPTY_BODY }
  const raw = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  const { fields, ...excess } = scanJson(raw, JSON_LIMITS, HEAD_FIELDS)
  const message = excessMessage(excess)
  return {
    head: fields,
    parse: () => (message === undefined ? parseBody(bytes) : unreadableBody(message, true)),
  }
}

/** The same for a value that an earlier body parser of the host's framework has made. */
export function peekParsedBody(parsed: unknown): UnparsedBody {
  if (parsed instanceof Uint8Array || typeof parsed === 'string') return peekBody(parsed)
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  return { head: isObject ? (parsed as UnparsedBody['head']) : {}, parse: () => wrapParsedBody(parsed) }
}

const TOO_DEEP = `The request body is nested deeper than ${JSON_LIMITS.depth} levels`
const TOO_WIDE = `An object or list of the request body has more than ${JSON_LIMITS.entries} entries`
const TOO_LARGE = `The objects and lists of the request body have more than ${JSON_LIMITS.total} entries`

function excessMessage({ isTooDeep, isTooWide, isTooLarge }: Omit<JsonScan, 'fields'>): string | undefined {
  if (isTooDeep) return TOO_DEEP
  if (isTooWide) return TOO_WIDE
  return isTooLarge ? TOO_LARGE : undefined
}

/** Rejects invalid UTF-8, which is not JSON (RFC 8259, section 8.1). Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

const unreadableBody = (message: string, json: boolean): RequestBody => ({
  envelope: {},
  isPresent: true,
  isJson: json,
  failures: [{ path: 'json', rule: 'invalid', message, target: 'body' }],
})

/** Parses the raw body, whose limits are checked before. An empty body, or only white space, means `{"data":{}}`. Never throws. */
function parseBody(bytes: Uint8Array | string | undefined): RequestBody {
  if (typeof bytes === 'string') return bytes === '' ? EMPTY_BODY : parseText(bytes)
  if (bytes === undefined || bytes.byteLength === 0) return EMPTY_BODY
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return unreadableBody('The request body is not valid UTF-8', false)
  }
  return parseText(text)
}

/** Checks a value that an earlier body parser of the host's framework has made. */
function wrapParsedBody(parsed: unknown): RequestBody {
  if (parsed === undefined) return EMPTY_BODY
  const message = excessMessage(measureValue(parsed))
  return message === undefined ? checkJson(parsed) : unreadableBody(message, true)
}

/** The same limits as `scanJson`, of a value that is already parsed. */
function measureValue(document: unknown): Omit<JsonScan, 'fields'> {
  let isTooDeep = false
  let isTooWide = false
  let total = 0
  const visit = (value: unknown, depth: number) => {
    if (typeof value !== 'object' || value === null) return
    if (depth > JSON_LIMITS.depth) isTooDeep = true
    if (isTooDeep) return
    const entries = Array.isArray(value) ? value : Object.values(value)
    total += Math.max(entries.length, 1)
    if (entries.length > JSON_LIMITS.entries) isTooWide = true
    for (const entry of entries) visit(entry, depth + 1)
  }
  visit(document, 1)
  return { isTooDeep, isTooWide, isTooLarge: total > JSON_LIMITS.total }
}

function parseText(text: string): RequestBody {
  if (text.trim() === '') return EMPTY_BODY
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unreadableBody('The request body is not valid JSON', false)
  }
  return checkJson(value)
}

function checkJson(value: unknown): RequestBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unreadableBody('The request body must be a JSON object', true)
  }
  const defect = findDefect(value, 0)
  if (defect === undefined)
    return { envelope: value as Record<string, unknown>, isPresent: true, isJson: true }
  const path = defect.path[0] === 'data' && defect.path.length > 1 ? defect.path.slice(1) : defect.path
  return {
    envelope: value as Record<string, unknown>,
    isPresent: true,
    isJson: true,
    failures: [{ path: path.join('.'), rule: 'error', message: defect.message }],
  }
}

interface Defect {
  /** Path of the value. */
  readonly path: readonly string[]
  readonly message: string
}

function textDefect(text: string): Defect | undefined {
  if (text.includes('\0')) return { path: [], message: 'Text must not contain NUL' }
  return text.isWellFormed() ? undefined : { path: [], message: 'Text must be valid Unicode' }
}

/**
 * Finds the first value that is valid JSON but cannot be stored: NUL (not valid in PostgreSQL text), lone surrogates
 * (not valid UTF-8), numbers that a double cannot represent, and the name `__proto__`, which copies of an object lose. It
 * is ignored beside `data`, as every unknown key there is.
 */
function findDefect(value: unknown, depth: number): Defect | undefined {
  if (typeof value === 'string') return textDefect(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return { path: [], message: 'The number is too large' }
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? { path: [], message: 'The integer is beyond 2^53 and would lose its last digits' }
      : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const defect = findDefect(value[index], depth + 1)
      if (defect) return { path: [String(index), ...defect.path], message: defect.message }
    }
    return undefined
  }
  for (const key of Object.keys(value)) {
    const defect =
      (key === '__proto__' && depth > 0 ? { path: [], message: 'This name is not allowed' } : undefined) ??
      (textDefect(key) && { path: [], message: 'The name must be valid Unicode without NUL' }) ??
      findDefect((value as Record<string, unknown>)[key], depth + 1)
    if (defect) return { path: [key, ...defect.path], message: defect.message }
  }
  return undefined
}

/** Returns `data` of a body, or the failures if it is not of the kind that the route takes. */
export function extractData(
  envelope: Readonly<Record<string, unknown>>,
  kind: BodyKind,
): { readonly data: unknown } | { readonly failures: readonly Failure[] } {
  if (kind === 'none') return { data: {} }
  if (kind === 'object or nothing' && Object.keys(envelope).every((name) => HEAD_FIELDS.includes(name)))
    return { data: {} }
  if (!Object.hasOwn(envelope, 'data')) {
    const message = 'Field is required but missing'
    return { failures: [{ path: 'data', rule: 'required', message, target: 'required' }] }
  }
  const { data } = envelope
  const isObject = typeof data === 'object' && data !== null
  if (isObject && (kind === 'object or list' || !Array.isArray(data))) return { data }
  const target = kind === 'object or list' ? 'object, array' : 'object'
  const message = `Value did not match type(s): ${target}`
  return { failures: [{ path: 'data', rule: 'type', message, target }] }
}
