/**
 * Translates the errors of a compiled JSON Schema validator to KAZOO's messages (`kz_json_schema:error_to_jobj`), which
 * clients show to users. Depends only on the shape of ajv's error objects: the validators are generated code.
 */

/** One error of a compiled validator, in ajv's format. */
interface SchemaError {
  readonly keyword: string
  /** JSON Pointer (RFC 6901) of the invalid value. */
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A compiled validator. It leaves its errors in its own property until the next call. */
export interface SchemaValidator {
  (document: unknown): boolean
  errors?: readonly SchemaError[] | null
}

/** One violated rule. `value` only when it is short, scalar and not a secret. */
interface SchemaFailure {
  readonly path: string
  readonly rule: string
  readonly message: string
  readonly target: unknown
  readonly value?: string | number | boolean | null
}

interface FailureOptions {
  /** Dotted paths whose values, including nested ones, are never shown. Default: none. */
  readonly secret?: readonly string[]
}

/** Maximum number of failures reported for one document. */
export const MAX_FAILURES = 100

/** Maximum length of an echoed string, in UTF-16 units; longer ones are omitted. */
const MAX_ECHO = 255

/** Keywords that only say that one of their branches failed: the branch reports its own error. */
const SUMMARIES = new Set(['if', 'allOf', 'anyOf', 'oneOf', 'not', 'propertyNames', 'contains'])

/**
 * Returns every violated rule of a document, at most `MAX_FAILURES`, in the order in which they were found. Never throws.
 *
 * @param errors the validator's `errors` property
 * @param document the validated document, from which echoed values are read
 */
export function toSchemaFailures(
  errors: readonly SchemaError[] | null | undefined,
  document: unknown,
  options: FailureOptions = {},
): readonly SchemaFailure[] {
  const all = errors ?? []
  // A value of the wrong type is also not in the enum: report it only once.
  const mistyped = new Set(all.filter(({ keyword }) => keyword === 'type').map((error) => error.instancePath))
  const specific = all.filter(
    ({ keyword, instancePath }) =>
      !SUMMARIES.has(keyword) && !(keyword === 'enum' && mistyped.has(instancePath)),
  )
  return (specific.length > 0 ? specific : all)
    .slice(0, MAX_FAILURES)
    .map((error) => failureOf(error, document, options.secret ?? []))
}

function failureOf(error: SchemaError, document: unknown, secret: readonly string[]): SchemaFailure {
  const segments = segmentsOf(error)
  const path = segments.join('.')
  const isHidden = secret.some((name) => path === name || path.startsWith(`${name}.`))
  const value = isHidden ? undefined : echo(valueAt(document, segments))
  return { path, ...describe(error), ...(value !== undefined && { value }) }
}

/** A missing or unknown field is reported at its own path, not at that of the enclosing object. */
function segmentsOf({ instancePath, params }: SchemaError): readonly string[] {
  const parents = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const property = params.missingProperty ?? params.additionalProperty
  return typeof property === 'string' ? [...parents, property] : parents
}

function describe({ keyword, params }: SchemaError): { rule: string; message: string; target: unknown } {
  const { limit } = params
  switch (keyword) {
    case 'required':
      return { rule: 'required', message: 'Field is required but missing', target: 'required' }
    case 'type': {
      const types = Array.isArray(params.type) ? params.type.join(', ') : String(params.type)
      return { rule: 'type', message: `Value did not match type(s): ${types}`, target: types }
    }
    case 'enum':
      return enumFailure(params.allowedValues)
    case 'const':
      return enumFailure([params.allowedValue])
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
    case 'uniqueItems':
      return { rule: 'uniqueItems', message: 'List of items is not unique', target: true }
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
        message: 'is not an allowed field',
        target: false,
      }
    default:
      return { rule: 'error', message: 'failed to validate', target: keyword }
  }
}

function enumFailure(list: unknown): { rule: string; message: string; target: unknown } {
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
