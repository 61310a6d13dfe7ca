/** Parses and checks the JSON body of a request. Schemas are validated elsewhere. */
import type { Failure } from '../errors.js'
import type { BodyKind } from './routes.js'
import { scanJson } from './scan-json.js'

/** Maximum nesting depth of objects and lists in a request body, including the body itself. */
export const MAX_JSON_DEPTH = 32

/**
 * Maximum number of members of one object in a request body. No valid document has more: 64 KiB, the largest size of one,
 * hold at most 9,362 members with different names.
 */
export const MAX_JSON_MEMBERS = 10_000

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
  const { isTooDeep, isTooWide, fields } = scanJson(raw, MAX_JSON_DEPTH, MAX_JSON_MEMBERS, HEAD_FIELDS)
  return {
    head: fields,
    parse: () => {
      if (isTooDeep) return unreadableBody(TOO_DEEP, true)
      return isTooWide ? unreadableBody(TOO_WIDE, true) : parseBody(bytes)
    },
  }
}

/** The same for a value that an earlier body parser of the host's framework has made. */
export function peekParsedBody(parsed: unknown): UnparsedBody {
  if (parsed instanceof Uint8Array || typeof parsed === 'string') return peekBody(parsed)
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  return { head: isObject ? (parsed as UnparsedBody['head']) : {}, parse: () => wrapParsedBody(parsed) }
}

const TOO_DEEP = `The request body is nested deeper than ${MAX_JSON_DEPTH} levels`
const TOO_WIDE = `An object of the request body has more than ${MAX_JSON_MEMBERS} members`

/** Rejects invalid UTF-8, which is not JSON (RFC 8259, section 8.1). Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

const unreadableBody = (message: string, json: boolean): RequestBody => ({
  envelope: {},
  isPresent: true,
  isJson: json,
  failures: [{ path: 'json', rule: 'invalid', message, target: 'body' }],
})

/** Parses the raw body. An empty body, or only white space, means `{"data":{}}`. Never throws. */
export function parseBody(bytes: Uint8Array | string | undefined): RequestBody {
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

/** Checks a body that an earlier body parser of the host's framework turned into a value, text or bytes. */
export function wrapParsedBody(parsed: unknown): RequestBody {
  if (parsed === undefined) return EMPTY_BODY
  if (parsed instanceof Uint8Array) return parseBody(parsed)
  if (typeof parsed === 'string') return parseText(parsed)
  return checkJson(parsed)
}

function isTooDeep(value: unknown, remainingDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return remainingDepth === 0 || Object.values(value).some((inner) => isTooDeep(inner, remainingDepth - 1))
}

function isTooWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const inner = Object.values(value)
  return (!Array.isArray(value) && inner.length > MAX_JSON_MEMBERS) || inner.some(isTooWide)
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
  // Before all other checks, as for bytes, which are scanned for their depth before they are parsed.
  if (isTooDeep(value, MAX_JSON_DEPTH)) return unreadableBody(TOO_DEEP, true)
  if (isTooWide(value)) return unreadableBody(TOO_WIDE, true)
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
 * (not valid UTF-8), numbers that a double cannot represent, and `__proto__` inside a document.
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
  for (const key of Object.keys(value)) {
    const defect =
      (key === '__proto__' && depth > 1 ? { path: [], message: 'This name is not allowed' } : undefined) ??
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
  if (!Object.hasOwn(envelope, 'data')) {
    const message = 'Field is required but missing'
    return { failures: [{ path: 'data', rule: 'required', message, target: 'required' }] }
  }
  const { data } = envelope
  const isObject = typeof data === 'object' && data !== null
  if (isObject && (kind === 'object or list' || !Array.isArray(data))) return { data }
  const target = kind === 'object' ? 'object' : 'object, array'
  const message = `Value did not match type(s): ${target}`
  return { failures: [{ path: 'data', rule: 'type', message, target }] }
}
