/**
 * The data of custom events: the object `data` of an event whose kind the host registers, and the schema that the host
 * gives for it, a Standard Schema (standardschema.dev: zod, valibot, arktype and others) or a JSON Schema.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Failure, HookswitchError } from '../errors.js'
import { findJsonProblem } from '../values/canonical-json.js'
import { findReferenceProblem, findSchemaProblem } from './json-schema-check.js'

/** A JSON Schema of draft 2020-12, as plain data. It must describe an object. @internal */
export type JsonDataSchema = Readonly<Record<string, unknown>>

/**
 * A schema for the `data` of an event. A Standard Schema has to validate synchronously, and types `publish` and the
 * listeners of its kind; what it returns is what is sent.
 */
export type DataSchema = StandardSchemaV1 | JsonDataSchema

/** The result of a validation: the data to send, or every violated rule with a path below `data`. */
export type DataResult =
  | { readonly data: Readonly<Record<string, unknown>> | undefined }
  | { readonly failures: readonly Failure[] }

/** Validates the `data` of one kind of event; `undefined`: the event has none. @internal */
export type DataValidator = (data: unknown) => DataResult

/** The validators of the kinds that have a schema, by the id of the kind. */
export type DataValidators = ReadonlyMap<string, DataValidator>

/** Most failures that one validation reports. */
const MAX_DATA_FAILURES = 100
/** Largest data that are validated by a JSON Schema, bytes as JSON: a larger event is refused anyway. */
const MAX_DATA_BYTES = 65_536
/** Deepest nesting that is validated by a JSON Schema: the event itself is the first of 32 levels. */
const MAX_DATA_DEPTH = 31
/**
 * How often a validation may follow a `$ref`. A schema that refers to itself in two branches of a union doubles its work
 * with each level of the data; without `$ref` the work is bounded by the sizes of schema and data.
 */
const MAX_REFERENCES = 10_000

/** The part of a catalogue's entry that schemas need. */
interface KindWithData {
  readonly id: string
  readonly schema?: DataSchema
  readonly sample: readonly Readonly<Record<string, unknown>>[]
  /** The option that registered it; absent: it is built in. */
  readonly field?: string
}

/** Whether a schema is a Standard Schema; otherwise it is a JSON Schema. */
function isStandardSchema(schema: DataSchema): schema is StandardSchemaV1 {
  return typeof (schema as Partial<StandardSchemaV1>)['~standard']?.validate === 'function'
}

/** The JSON Schema of a schema, for documents: its own, or the one that it exports as a Standard JSON Schema. */
export function jsonSchemaOf(schema: DataSchema): JsonDataSchema | undefined {
  if (!isStandardSchema(schema)) return schema
  const { jsonSchema } = schema['~standard'] as {
    readonly jsonSchema?: { output?(options: { readonly target: string }): JsonDataSchema }
  }
  try {
    return jsonSchema?.output?.({ target: 'draft-2020-12' })
  } catch {
    // A schema that has no equal in JSON Schema, such as one with a function.
    return undefined
  }
}

/**
 * Compiles the schemas of a catalogue and checks the samples by them. The JSON Schema library is loaded only if it is
 * needed.
 *
 * @throws `InvalidOption` naming the schema or the sample: `hooks[0].schema`
 */
export async function compileDataSchemas(catalogue: readonly KindWithData[]): Promise<DataValidators> {
  const validators = new Map<string, DataValidator>()
  for (const { id, schema, sample, field } of catalogue) {
    if (schema === undefined || field === undefined) continue
    const validator = isStandardSchema(schema)
      ? standardValidator(schema)
      : await jsonValidator(schema, `${field}.schema`)
    for (const event of sample) {
      const result = validator(event.data)
      if (!('failures' in result)) continue
      const [{ path, message }] = result.failures as readonly [Failure]
      throw invalid(`${field}.sample`, `${path}: ${message}`)
    }
    validators.set(id, validator)
  }
  return validators
}

function standardValidator(schema: StandardSchemaV1): DataValidator {
  return (data) => {
    const result = schema['~standard'].validate(data)
    if (result instanceof Promise) {
      // Nobody awaits it: its rejection must not end the process.
      result.catch(() => {})
      return failed('data', 'has a schema that validates asynchronously: publish needs a synchronous one')
    }
    if (!result.issues) return objectOrNothing(result.value)
    const failures = result.issues.slice(0, MAX_DATA_FAILURES).map(({ message, path = [] }): Failure => {
      const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
      return { path: ['data', ...keys].join('.'), rule: 'schema', message }
    })
    return { failures }
  }
}

async function jsonValidator(schema: JsonDataSchema, field: string): Promise<DataValidator> {
  const { dereference, validate } = await import('@cfworker/json-schema')
  const { $schema = DRAFT } = schema
  if ($schema !== DRAFT) throw invalid(field, `$schema must be '${DRAFT}' or absent`)
  const problem = findSchemaProblem(schema)
  if (problem) throw invalid(`${field}${problem.place}`, problem.message)
  const unusable = (thrown: unknown) =>
    invalid(field, `is not a usable JSON Schema: ${thrown instanceof Error ? thrown.message : 'unknown'}`)
  // The library notes URIs in the schema, and the given one belongs to the host.
  const own = orThrow(() => structuredClone(schema), unusable)
  const schemas = orThrow(() => dereference(own), unusable)
  const reference = findReferenceProblem(own, {
    schemaOf: (uri) => schemas[uri],
    refOf: ({ __absolute_ref__ = '' }: { readonly __absolute_ref__?: string }) => __absolute_ref__,
  })
  if (reference) throw invalid(`${field}${reference.place}`, reference.message)
  let references = 0
  const counted = new Proxy(schemas, {
    get(target, uri) {
      references += 1
      if (references > MAX_REFERENCES) throw new RangeError(TOO_MANY_REFERENCES)
      return Reflect.get(target, uri)
    },
  })
  const check = (data: unknown) => {
    references = 0
    return validate(data, own, '2020-12', counted, false)
  }
  // Schemas that refer to each other without an end show here.
  orThrow(() => check({}), unusable)
  return (data) => {
    if (data === undefined) return failed('data', 'Field is required but missing', 'required')
    const problem = findJsonProblem(data, MAX_DATA_DEPTH, 'data')
    if (problem) return failed(problem.path, problem.problem)
    const bytes = Buffer.byteLength(JSON.stringify(data))
    if (bytes > MAX_DATA_BYTES)
      return failed('data', `has ${bytes} bytes, at most ${MAX_DATA_BYTES} are accepted`, 'maxSize')
    let result: ReturnType<typeof check>
    try {
      result = check(data)
    } catch (thrown) {
      // Also where the failures of a very long array are more than the stack can hold.
      if (thrown instanceof RangeError)
        return failed('data', references > MAX_REFERENCES ? TOO_MANY_REFERENCES : TOO_MANY_FAILURES)
      throw thrown
    }
    const { valid, errors } = result
    if (valid) return objectOrNothing(data)
    // An error of a part repeats as an error of all that contains it.
    const specific = errors.filter(({ keyword }) => !CONTAINERS.has(keyword))
    const failures = (specific.length > 0 ? specific : errors)
      .slice(0, MAX_DATA_FAILURES)
      .map(({ instanceLocation, keyword, error }): Failure => {
        return { path: pathOf(instanceLocation), rule: keyword, message: error }
      })
    return { failures }
  }
}

const TOO_MANY_REFERENCES = `needs more than ${MAX_REFERENCES} references ($ref) of its schema`
const TOO_MANY_FAILURES = 'violates its schema in too many places'

function orThrow<T>(work: () => T, asError: (thrown: unknown) => HookswitchError): T {
  try {
    return work()
  } catch (thrown) {
    throw asError(thrown)
  }
}

/** Keywords whose error only repeats that a nested part is invalid; the nested part has its own error. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'prefixItems',
  'allOf',
  'then',
  'else',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
])

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

/** `#/queue/0` is `data.queue.0`. */
function pathOf(instanceLocation: string): string {
  const parts = instanceLocation.split('/').slice(1)
  return ['data', ...parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))].join('.')
}

function objectOrNothing(value: unknown): DataResult {
  if (value === undefined) return { data: undefined }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { data: value as Readonly<Record<string, unknown>> }
  return failed('data', 'Value did not match type(s): object', 'type')
}

const failed = (path: string, message: string, rule = 'error'): DataResult => ({
  failures: [{ path, rule, message }],
})

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field}: ${message}`, { field })
}
