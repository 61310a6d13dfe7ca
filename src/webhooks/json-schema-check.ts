/**
 * Checks a JSON Schema of draft 2020-12 as a schema. The library that validates by it notices a wrong keyword only when a
 * value reaches it, or never. Pure.
 */

/** The first problem of a schema. */
interface SchemaProblem {
  /** The place below the schema: `.properties.note.pattern`, `.allOf[0].type`; empty: the schema itself. */
  readonly place: string
  /** What is wrong, as the end of a sentence. */
  readonly message: string
}

/** The schemas of a document by their URI, and the URI that a schema refers to (`dereference` of @cfworker/json-schema). */
interface SchemaReferences {
  /** The schema with this URI; `undefined`: there is none. */
  schemaOf(uri: string): unknown
  /** The absolute URI of the schema's `$ref`. */
  refOf(schema: object): string
}

/** Says what is wrong with the value of a keyword; `undefined`: nothing. */
type Check = (value: unknown) => string | undefined

type Fields = Readonly<Record<string, unknown>>

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
])
const ONE_SCHEMA = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const LIST_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAP_OF_SCHEMAS = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const check =
  (isRight: (value: unknown) => boolean, message: string): Check =>
  (value) =>
    isRight(value) ? undefined : message

const isTextList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((item) => typeof item === 'string') &&
  new Set(value).size === value.length
const text = check((value) => typeof value === 'string', 'must be a string')
const list = check(Array.isArray, 'must be an array')
const boolean = check((value) => typeof value === 'boolean', 'must be true or false')
const number = check(Number.isFinite, 'must be a number')
const count = check(
  (value) => Number.isInteger(value) && (value as number) >= 0,
  'must be a whole number from 0',
)
const texts = check(isTextList, 'must be an array of different strings')

/** The library compares each item with each other: 64 KiB of them would take seconds. */
const unique: Check = (value) =>
  value === true ? 'is not supported: it would compare each item with each other' : boolean(value)

const pattern: Check = (value) => {
  if (typeof value !== 'string') return text(value)
  try {
    // With the flag that the library uses.
    new RegExp(value, 'u')
    return undefined
  } catch (thrown) {
    return `is not a regular expression: ${(thrown as Error).message}`
  }
}
const type: Check = (value) => {
  const types: unknown = typeof value === 'string' ? [value] : value
  const isRight = isTextList(types) && (types as readonly unknown[]).every((name) => TYPES.has(name))
  return isRight && (types as readonly unknown[]).length > 0
    ? undefined
    : `must be one or several of ${[...TYPES].map((name) => `'${name}'`).join(', ')}`
}

/** The library also knows `url`, which is no format of the draft: its pattern can take minutes for one text. */
const format: Check = (value) =>
  value === 'url' ? "must be 'uri': 'url' is no format of JSON Schema" : text(value)

const CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    $anchor: text,
    $comment: text,
    $dynamicAnchor: text,
    $dynamicRef: text,
    $id: text,
    $ref: text,
    dependentRequired: check(
      (value) => isFields(value) && Object.values(value).every(isTextList),
      'must be an object of arrays of different strings',
    ),
    description: text,
    enum: list,
    examples: list,
    exclusiveMaximum: number,
    exclusiveMinimum: number,
    format,
    maxContains: count,
    maxItems: count,
    maxLength: count,
    maxProperties: count,
    maximum: number,
    minContains: count,
    minItems: count,
    minLength: count,
    minProperties: count,
    minimum: number,
    multipleOf: check((value) => Number.isFinite(value) && (value as number) > 0, 'must be a number above 0'),
    pattern,
    required: texts,
    title: text,
    type,
    uniqueItems: unique,
  }),
)

/** The first keyword with a value that it cannot have, in the order of the schema; `undefined`: there is none. */
export function findSchemaProblem(schema: unknown, place = ''): SchemaProblem | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isFields(schema)) return { place, message: 'must be a schema: an object, true or false' }
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${place}.${keyword}`
    const message = CHECKS.get(keyword)?.(value) ?? shapeProblem(keyword, value)
    if (message !== undefined) return { place: at, message }
    for (const [key, part] of partsOf(keyword, value)) {
      const wrong = keyword === 'patternProperties' ? pattern(key.slice(1)) : undefined
      if (wrong !== undefined) return { place: at, message: `'${key.slice(1)}' ${wrong}` }
      const found = findSchemaProblem(part, `${at}${key}`)
      if (found) return found
    }
  }
  return undefined
}

/**
 * The first `$ref` that leads nowhere, or to something that is not a schema; `undefined`: there is none.
 *
 * @param schema without another problem (`findSchemaProblem`)
 */
export function findReferenceProblem(
  schema: unknown,
  references: SchemaReferences,
  place = '',
): SchemaProblem | undefined {
  if (!isFields(schema)) return undefined
  if (typeof schema.$ref === 'string') {
    const target = references.schemaOf(references.refOf(schema))
    const message = target === undefined ? 'there is no such schema' : targetProblem(target)
    if (message !== undefined) return { place: `${place}.$ref`, message: `'${schema.$ref}': ${message}` }
  }
  for (const [keyword, value] of Object.entries(schema)) {
    for (const [key, part] of partsOf(keyword, value)) {
      const found = findReferenceProblem(part, references, `${place}.${keyword}${key}`)
      if (found) return found
    }
  }
  return undefined
}

/** Of a schema that a `$ref` found where no keyword has schemas, and which nobody has checked. */
function targetProblem(target: unknown): string | undefined {
  const found = findSchemaProblem(target)
  return found && `${found.place.slice(1)} ${found.message}`.trim()
}

function shapeProblem(keyword: string, value: unknown): string | undefined {
  if (LIST_OF_SCHEMAS.has(keyword) && (!Array.isArray(value) || value.length === 0)) {
    return 'must be an array of at least one schema'
  }
  return MAP_OF_SCHEMAS.has(keyword) && !isFields(value) ? 'must be an object of schemas' : undefined
}

/** The schemas in the value of a keyword, each with its place behind the keyword. */
function partsOf(keyword: string, value: unknown): readonly (readonly [place: string, schema: unknown])[] {
  if (ONE_SCHEMA.has(keyword)) return [['', value]]
  if (LIST_OF_SCHEMAS.has(keyword)) return (value as unknown[]).map((part, index) => [`[${index}]`, part])
  if (MAP_OF_SCHEMAS.has(keyword))
    return Object.entries(value as Fields).map(([key, part]) => [`.${key}`, part])
  return []
}
