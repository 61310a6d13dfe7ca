/**
 * What a compiled JSON Schema found wrong, in the words of KAZOO (`kz_json_schema:error_to_jobj`), which clients
 * show to people. Knows ajv's error objects, but nothing of ajv itself: the validators are generated code.
 */

/** One error of a compiled validator, as ajv writes it. */
export interface SchemaError {
  readonly keyword: string
  /** JSON Pointer (RFC 6901) of the value that was tested. */
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A compiled validator: answers, and leaves its errors on itself until the next call. */
export interface SchemaCheck {
  (document: unknown): boolean
  errors?: readonly SchemaError[] | null
}

/** One broken rule; `value` only where it is short, scalar and no secret. */
export interface SchemaFailure {
  readonly path: string
  readonly rule: string
  readonly message: string
  readonly target: unknown
  readonly value?: string | number | boolean | null
}

export interface FailureOptions {
  /** Dotted paths whose values, and all below them, are never shown. Default: none. */
  readonly secret?: readonly string[]
}

/** Most failures of one document that are told. */
export const MAX_FAILURES = 100

/** Longest text that is shown back, in UTF-16 units; a longer one is left out. */
const MAX_ECHO = 255

/** Keywords that only say that one of their branches failed: the branch has told why. */
const SUMMARIES = new Set(['if', 'allOf', 'anyOf', 'oneOf', 'not', 'propertyNames', 'contains'])

/**
 * Every broken rule of a document, at most `MAX_FAILURES`, in the order in which they were found. Never throws.
 *
 * @param errors what the validator left on itself: `check.errors`
 * @param document what was validated; values to show are read from it
 */
export function toFailures(
  errors: readonly SchemaError[] | null | undefined,
  document: unknown,
  options: FailureOptions = {},
): readonly SchemaFailure[] {
  const all = errors ?? []
  // A value of the wrong type is not in the list either: once is enough.
  const mistyped = new Set(all.filter(({ keyword }) => keyword === 'type').map((error) => error.instancePath))
  const telling = all.filter(
    ({ keyword, instancePath }) =>
      !SUMMARIES.has(keyword) && !(keyword === 'enum' && mistyped.has(instancePath)),
  )
  return (telling.length > 0 ? telling : all)
    .slice(0, MAX_FAILURES)
    .map((error) => failureOf(error, document, options.secret ?? []))
}

function failureOf(error: SchemaError, document: unknown, secret: readonly string[]): SchemaFailure {
  const segments = segmentsOf(error)
  const path = segments.join('.')
  const hidden = secret.some((name) => path === name || path.startsWith(`${name}.`))
  const value = hidden ? undefined : echo(valueAt(document, segments))
  return { path, ...wording(error), ...(value !== undefined && { value }) }
}

/** A missing or surplus field is reported at its own path, not at that of the object around it. */
function segmentsOf({ instancePath, params }: SchemaError): readonly string[] {
  const parents = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const own = params.missingProperty ?? params.additionalProperty
  return typeof own === 'string' ? [...parents, own] : parents
}

function wording({ keyword, params }: SchemaError): { rule: string; message: string; target: unknown } {
  const { limit } = params
  switch (keyword) {
    case 'required':
      return { rule: 'required', message: 'Field is required but missing', target: 'required' }
    case 'type': {
      const types = Array.isArray(params.type) ? params.type.join(', ') : String(params.type)
      return { rule: 'type', message: `Value did not match type(s): ${types}`, target: types }
    }
    case 'enum':
      return inList(params.allowedValues)
    case 'const':
      return inList([params.allowedValue])
    case 'minimum':
      return { rule: 'minimum', message: `Value must be at least ${limit}`, target: limit }
    case 'maximum':
      return { rule: 'maximum', message: `Value must be at most ${limit}`, target: limit }
    case 'minLength':
      return { rule: 'minLength', message: `String must be at least ${limit} characters`, target: limit }
    case 'maxLength':
      return { rule: 'maxLength', message: `String must not be more than ${limit} characters`, target: limit }
    case 'minItems':
      return { rule: 'minItems', message: `The list must have at least ${limit} items`, target: limit }
    case 'maxItems':
      return { rule: 'maxItems', message: `The list is more than ${limit} items`, target: limit }
    case 'pattern':
      return {
        rule: 'pattern',
        message: `Failed to match pattern '${params.pattern}'`,
        target: params.pattern,
      }
    case 'format':
      return { rule: 'wrong_format', message: 'Field is not in the correct format', target: params.format }
    case 'additionalProperties':
    case 'false schema':
      return {
        rule: 'additionalProperties',
        message: 'Strict checking of data is enabled; only include schema-defined properties',
        target: false,
      }
    default:
      return { rule: 'error', message: 'failed to validate', target: keyword }
  }
}

function inList(list: unknown): { rule: string; message: string; target: unknown } {
  return { rule: 'enum', message: 'Value not found in enumerated list of values', target: list }
}

function valueAt(document: unknown, segments: readonly string[]): unknown {
  let value = document
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Record<string, unknown>)[segment]
  }
  return value
}

function echo(value: unknown): string | number | boolean | null | undefined {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && value.length <= MAX_ECHO ? value : undefined
}
