/**
 * The types of settings: a subset of JSON Schema 2020-12, its check, and the values that flags and variables write as text.
 * Pure. A test compares the check with ajv on the published schema.
 */
import { closestName } from 'hookswitch/adapter'

/** A JSON Schema of the keywords that settings use. */
export interface SettingSchema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'
  readonly enum?: readonly string[]
  readonly const?: string | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly items?: SettingSchema
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly required?: readonly string[]
  /** Objects with `properties` have no others. */
  readonly additionalProperties?: false
  readonly anyOf?: readonly SettingSchema[]
  readonly description?: string
  readonly default?: unknown
  /** What the value must be, for messages: 'an origin like https://ui.example.com or *'. Not published. */
  readonly expected?: string
}

/** Names of properties and indexes of items, from the outside in. */
export type ValuePath = readonly (string | number)[]

/** A rule that a value violates. */
interface SchemaProblem {
  readonly path: ValuePath
  /** Continues a sentence that begins with the name of the value: 'must be true or false'. */
  readonly sentence: string
  /** True: the key at `path` is wrong, not its value. */
  readonly isUnknownKey?: true
  /** The key that an unknown key probably stands for. */
  readonly meant?: string
  /** A wrong scalar, for the message. Absent for other problems. */
  readonly value?: unknown
}

type Properties = Readonly<Record<string, unknown>>

/** Returns the violated rules, in the order of the value; empty for a valid value. */
export function findProblems(
  schema: SettingSchema,
  value: unknown,
  path: ValuePath = [],
): readonly SchemaProblem[] {
  if (schema.anyOf) return findProblemsOfUnion(schema, schema.anyOf, value, path)
  if (!hasType(schema, value) || !isInRange(schema, value)) return [wrongValue(schema, value, path)]
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return [{ path, sentence: 'must not be an empty list' }]
    const { items } = schema
    return items ? value.flatMap((item, index) => findProblems(items, item, [...path, index])) : []
  }
  return isObject(value) ? findProblemsOfObject(schema, value, path) : []
}

function findProblemsOfObject(
  schema: SettingSchema,
  value: Properties,
  path: ValuePath,
): readonly SchemaProblem[] {
  const { properties = {}, required = [], additionalProperties } = schema
  const inside = Object.entries(value).flatMap(([name, item]) => {
    const rule = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (rule) return findProblems(rule, item, [...path, name])
    return additionalProperties === false ? [unknownKey([...path, name], Object.keys(properties))] : []
  })
  // A misspelt key is one problem, not two.
  const isMeant = (name: string) => inside.some(({ meant }) => meant === name)
  const missing = required.filter((name) => !Object.hasOwn(value, name) && !isMeant(name))
  return [...inside, ...missing.map((name) => ({ path: [...path, name], sentence: 'is required' }))]
}

/** An object is compared with the branch of its `kind`, a list with that of its type; other values with all. */
function findProblemsOfUnion(
  schema: SettingSchema,
  branches: readonly SettingSchema[],
  value: unknown,
  path: ValuePath,
): readonly SchemaProblem[] {
  const problems = branches.map((branch) => findProblems(branch, value, path))
  if (problems.some(({ length }) => length === 0)) return []
  if (typeof value !== 'object' || value === null) return [wrongValue(schema, value, path)]
  const isCandidate = (branch: SettingSchema) => {
    const kind = branch.properties?.kind?.const
    return hasType(branch, value) && (kind === undefined || (value as { kind?: unknown }).kind === kind)
  }
  const candidates = problems.filter((_, index) => isCandidate(branches[index]!))
  if (candidates.length === 1) return candidates[0]!
  const kinds = branches.flatMap(({ properties }) => properties?.kind?.const ?? [])
  if (isObject(value) && kinds.length > 0) {
    return [{ path: [...path, 'kind'], sentence: `must be ${orList(kinds.map(String))}` }]
  }
  return [wrongValue(schema, value, path)]
}

function wrongValue(schema: SettingSchema, value: unknown, path: ValuePath): SchemaProblem {
  const isEmpty = value === '' && schema.expected === undefined && schema.type === 'string' && !schema.enum
  return { path, sentence: isEmpty ? 'must not be empty' : `must be ${expectedOf(schema)}`, value }
}

/** The problem of an unknown key, with the nearest known one. */
function unknownKey(path: ValuePath, known: readonly string[]): SchemaProblem {
  const closest = closestName(String(path.at(-1)), known)
  const hint = closest === undefined ? '' : ` (did you mean '${closest}'?)`
  return {
    path,
    sentence: `is unknown${hint}`,
    isUnknownKey: true,
    ...(closest === undefined ? {} : { meant: closest }),
  }
}

function hasType(schema: SettingSchema, value: unknown): boolean {
  switch (schema.type) {
    case undefined:
      return true
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      return typeof value === schema.type
  }
}

function isInRange(schema: SettingSchema, value: unknown): boolean {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  if (schema.const !== undefined && value !== schema.const) return false
  if (schema.enum && !schema.enum.includes(value as string)) return false
  if (typeof value === 'number') return value >= minimum && value <= maximum
  if (typeof value !== 'string') return true
  if ([...value].length < (schema.minLength ?? 0)) return false
  return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value)
}

function expectedOf(schema: SettingSchema): string {
  const { minimum, maximum } = schema
  if (schema.expected !== undefined) return schema.expected
  if (schema.anyOf) return orList(schema.anyOf.map(expectedOf))
  if (schema.const !== undefined) return String(schema.const)
  if (schema.enum) return orList(schema.enum)
  switch (schema.type) {
    case 'integer':
    case 'number': {
      const kind = schema.type === 'integer' ? 'an integer' : 'a number'
      if (minimum !== undefined && maximum !== undefined) return `${kind} from ${minimum} to ${maximum}`
      return minimum === undefined ? kind : `${kind} of at least ${minimum}`
    }
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    default:
      return 'text'
  }
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function isObject(value: unknown): value is Properties {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a variable holds several values: the type is a list. */
export function isList(schema: SettingSchema): boolean {
  return schema.type === 'array' && schema.items?.type !== 'object'
}

/**
 * Returns the value that a flag or variable writes as text. Structured values are JSON; a number or object that cannot be
 * read stays text, which the check then refuses.
 */
export function valueOfText(schema: SettingSchema, text: string): unknown {
  const types = schema.anyOf ? schema.anyOf.map(({ type }) => type) : [schema.type]
  if (/^[[{]/.test(text) && (types.includes('object') || types.includes('array'))) {
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  const isNumeric = types.includes('integer') || types.includes('number')
  return isNumeric && /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/.test(text) ? Number(text) : text
}

/** The schema as it is published: without `expected`. */
export function publishedSchema(schema: SettingSchema): object {
  const { expected: _, items, properties, anyOf, ...rest } = schema
  return {
    ...rest,
    ...(items && { items: publishedSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, rule]) => [name, publishedSchema(rule)]),
      ),
    }),
    ...(anyOf && { anyOf: anyOf.map(publishedSchema) }),
  }
}
