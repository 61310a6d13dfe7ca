import type { Failure } from '../errors.js'
import type { BodyKind } from './route.js'

/** Most levels of objects and lists in a request body, the body itself included. */
export const MAX_BODY_DEPTH = 32

/** A request body, read. Its problem waits until the caller has been judged. */
export interface RequestBody {
  /** The top-level object; empty when there was no body, or a broken one. */
  readonly envelope: Readonly<Record<string, unknown>>
  /** There was a body at all. */
  readonly present: boolean
  /** The body is JSON, whatever else is wrong with it. */
  readonly json: boolean
  readonly failures?: readonly Failure[]
}

const NOTHING: RequestBody = {
  envelope: Object.freeze({ data: Object.freeze({}) }),
  present: false,
  json: true,
}

/** Strict: what is not UTF-8 is not JSON (RFC 8259, section 8.1). Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

const broken = (message: string, json: boolean): RequestBody => ({
  envelope: {},
  present: true,
  json,
  failures: [{ path: 'json', rule: 'invalid', message, target: 'body' }],
})

/** Reads the raw bytes of a body; none, or only white space, stands for `{"data":{}}`. Never throws. */
export function readBytes(bytes: Uint8Array | string | undefined): RequestBody {
  if (typeof bytes === 'string') return bytes === '' ? NOTHING : readText(bytes)
  if (bytes === undefined || bytes.byteLength === 0) return NOTHING
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return broken('The request body is not valid UTF-8', false)
  }
  return readText(text)
}

/** Reads a body that a parser mounted before us has made into a value already, or into text or bytes. */
export function readParsed(parsed: unknown): RequestBody {
  if (parsed === undefined) return NOTHING
  if (parsed instanceof Uint8Array) return readBytes(parsed)
  if (typeof parsed === 'string') return readText(parsed)
  return readJson(parsed)
}

function readText(text: string): RequestBody {
  if (text.trim() === '') return NOTHING
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return broken('The request body is not valid JSON', false)
  }
  return readJson(value)
}

function readJson(value: unknown): RequestBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return broken('The request body must be a JSON object', true)
  }
  const flaw = findFlaw(value, MAX_BODY_DEPTH, 0)
  if (flaw === undefined) return { envelope: value as Record<string, unknown>, present: true, json: true }
  if (flaw.path === undefined) return broken(flaw.message, true)
  const path = flaw.path[0] === 'data' && flaw.path.length > 1 ? flaw.path.slice(1) : flaw.path
  return {
    envelope: value as Record<string, unknown>,
    present: true,
    json: true,
    failures: [{ path: path.join('.'), rule: 'error', message: flaw.message }],
  }
}

interface Flaw {
  /** Where; absent: the body as a whole. */
  readonly path?: readonly string[]
  readonly message: string
}

const LONE_SURROGATE = /\p{Cs}/u

function textFlaw(text: string): Flaw | undefined {
  if (text.includes('\0')) return { path: [], message: 'Text must not contain NUL' }
  return LONE_SURROGATE.test(text) ? { path: [], message: 'Text must be valid Unicode' } : undefined
}

/**
 * The first thing that JSON can spell and nothing behind us can keep: NUL (no PostgreSQL text), lone surrogates (no
 * UTF-8), numbers that a double cannot hold, a `__proto__` inside a document.
 */
function findFlaw(value: unknown, levels: number, level: number): Flaw | undefined {
  if (typeof value === 'string') return textFlaw(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return { path: [], message: 'The number is too large' }
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? { path: [], message: 'The integer is beyond 2^53 and would lose its last digits' }
      : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return { message: `The request body is nested deeper than ${MAX_BODY_DEPTH} levels` }
  for (const key of Object.keys(value)) {
    const flaw =
      (key === '__proto__' && level > 1 ? { path: [], message: 'This name is not allowed' } : undefined) ??
      (textFlaw(key) && { path: [], message: 'The name must be valid Unicode without NUL' }) ??
      findFlaw((value as Record<string, unknown>)[key], levels - 1, level + 1)
    if (flaw) return flaw.path ? { path: [key, ...flaw.path], message: flaw.message } : flaw
  }
  return undefined
}

/** `data` of a body, or why it is not what the route wants. */
export function dataOf(
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
