/** What the documents of accounts and users have in common. Pure. */
import type { Failure } from '../errors.js'
import { findJsonProblem } from '../values/canonical-json.js'

/** Unvalidated input from a client: known fields in this package's spelling, and the client's own keys. */
export interface UncheckedDocument {
  readonly fields: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The rule for the name of an account that no length says. */
export const BLANK_NAME = 'Name must not be blank'

/** Maximum size of a document as JSON, in bytes. */
const MAX_DOCUMENT_BYTES = 65_536
const MAX_DEPTH = 32

/** Limits the size and depth of a document, its unknown keys included. */
export function documentFailures({ fields, extra = {} }: UncheckedDocument): readonly Failure[] {
  const found = findJsonProblem(extra, MAX_DEPTH)
  if (found) return [{ path: found.path, rule: 'error', message: found.problem }]
  if (Buffer.byteLength(JSON.stringify({ ...fields, ...extra })) <= MAX_DOCUMENT_BYTES) return []
  const message = `The document must not exceed ${MAX_DOCUMENT_BYTES} bytes`
  return [{ path: '', rule: 'maxSize', message, target: MAX_DOCUMENT_BYTES }]
}

/** Copies the members of an object that are not `undefined`. */
export function withoutUndefined<T extends object>(value: T): T {
  const copy = { ...value }
  for (const key of Object.keys(copy) as (keyof T)[]) if (copy[key] === undefined) delete copy[key]
  return copy
}

export const requiredFailure = (path: string): Failure => ({
  path,
  rule: 'required',
  message: 'Field is required but missing',
})
