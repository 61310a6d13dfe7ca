/**
 * Filters of webhooks: conditions on the payload of an event, written in the filter dialects of CloudEvents Subscriptions
 * 1.0 (section 3.2.4): `exact`, `prefix`, `suffix`, `all`, `any` and `not`. The attributes of these dialects are the
 * payload's fields here; a dotted name selects a nested one, such as `custom_channel_vars.queue`.
 */
import type { Failure } from '../errors.js'
import { MAX_FAILURES } from '../values/schema-failures.js'

/** A condition on the payload of an event: an object with exactly one of these keys. */
export type EventFilter =
  /** Every field has this value. Numbers and booleans are compared as text. */
  | { readonly exact: Readonly<Record<string, string | number | boolean>> }
  /** Every field begins with this text. */
  | { readonly prefix: Readonly<Record<string, string>> }
  /** Every field ends with this text. */
  | { readonly suffix: Readonly<Record<string, string>> }
  /** Every one of these filters matches. */
  | { readonly all: readonly EventFilter[] }
  /** At least one of these filters matches. */
  | { readonly any: readonly EventFilter[] }
  /** This filter does not match. */
  | { readonly not: EventFilter }

/** Greatest depth of a filter: `{ not: { exact: … } }` has 2. @internal */
export const MAX_FILTER_DEPTH = 5
/** Greatest number of compared fields in a filter, over all its parts. @internal */
export const MAX_FILTER_FIELDS = 100
/** Greatest length of a field's name and of the text that it is compared with. */
const MAX_TEXT = 255

const DIALECTS = ['exact', 'prefix', 'suffix', 'all', 'any', 'not'] as const

type Dialect = (typeof DIALECTS)[number]
type Comparison = 'exact' | 'prefix' | 'suffix'
type Payload = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Failures = readonly Failure[]

const NONE: Failures = []
const failed = (path: string, rule: string, message: string, target: unknown): Failures => [
  { path, rule, message, target },
]
const wrongType = (path: string, types: string) =>
  failed(path, 'type', `Value did not match type(s): ${types}`, types)

/**
 * Every violated rule of a filter, at most `MAX_FAILURES`, with paths below `path`; empty: it is a valid `EventFilter`.
 *
 * @param path of the filter in its webhook
 */
export function filterFailures(filter: unknown, path: string): Failures {
  const failures = partFailures(filter, path, 1).slice(0, MAX_FAILURES)
  if (failures.length > 0 || fieldCount(filter as EventFilter) <= MAX_FILTER_FIELDS) return failures
  return failed(path, 'maxItems', `must compare at most ${MAX_FILTER_FIELDS} fields`, MAX_FILTER_FIELDS)
}

function partFailures(value: unknown, path: string, depth: number): Failures {
  if (!isObject(value)) return wrongType(path, 'object')
  if (depth > MAX_FILTER_DEPTH) {
    return failed(path, 'maxDepth', `must nest at most ${MAX_FILTER_DEPTH} levels deep`, MAX_FILTER_DEPTH)
  }
  const [dialect, ...others] = Object.keys(value) as [Dialect?, ...string[]]
  if (dialect === undefined || others.length > 0) {
    return failed(path, 'error', `must have exactly one of the keys ${DIALECTS.join(', ')}`, DIALECTS)
  }
  const inner = value[dialect]
  const below = `${path}.${dialect}`
  switch (dialect) {
    case 'exact':
    case 'prefix':
    case 'suffix':
      return fieldsFailures(dialect, inner, below)
    case 'all':
    case 'any':
      return listFailures(inner, below, depth)
    case 'not':
      return partFailures(inner, below, depth + 1)
    default:
      return failed(below, 'additionalProperties', `is not one of ${DIALECTS.join(', ')}`, DIALECTS)
  }
}

function listFailures(value: unknown, path: string, depth: number): Failures {
  if (!Array.isArray(value)) return wrongType(path, 'array')
  if (value.length === 0) return failed(path, 'minItems', 'The list must have at least 1 items', 1)
  if (value.length > MAX_FILTER_FIELDS) {
    return failed(path, 'maxItems', `The list is more than ${MAX_FILTER_FIELDS} items`, MAX_FILTER_FIELDS)
  }
  return value.flatMap((part, index) => partFailures(part, `${path}.${index}`, depth + 1))
}

function fieldsFailures(dialect: Comparison, value: unknown, path: string): Failures {
  if (!isObject(value)) return wrongType(path, 'object')
  const entries = Object.entries(value)
  if (entries.length === 0) return failed(path, 'minItems', 'must name at least one field', 1)
  return entries.flatMap(([name, expected]) => {
    const field = `${path}.${name.slice(0, MAX_TEXT)}`
    if (name === '' || name.length > MAX_TEXT || !isStorable(name)) {
      return failed(
        field,
        'error',
        `a field's name must have 1 to ${MAX_TEXT} printable characters`,
        MAX_TEXT,
      )
    }
    return dialect === 'exact' ? valueFailures(expected, field) : affixFailures(expected, field)
  })
}

function valueFailures(expected: unknown, path: string): Failures {
  if (typeof expected === 'string') return textFailures(expected, path)
  if (typeof expected === 'boolean' || Number.isFinite(expected)) return NONE
  return wrongType(path, 'string, number, boolean')
}

function affixFailures(expected: unknown, path: string): Failures {
  if (typeof expected !== 'string') return wrongType(path, 'string')
  if (expected === '') return failed(path, 'minLength', 'String must be at least 1 characters', 1)
  return textFailures(expected, path)
}

function textFailures(text: string, path: string): Failures {
  if (text.length > MAX_TEXT)
    return failed(path, 'maxLength', `String must not be more than ${MAX_TEXT} characters`, MAX_TEXT)
  return isStorable(text) ? NONE : failed(path, 'error', 'must not contain NUL or half a character', 'string')
}

function fieldCount(filter: EventFilter): number {
  if ('not' in filter) return fieldCount(filter.not)
  const [inner] = Object.values(filter)
  if (!Array.isArray(inner)) return Object.keys(inner as object).length
  return (inner as readonly EventFilter[]).reduce((sum, part) => sum + fieldCount(part), 0)
}

/** No NUL and no lone surrogate: stores cannot hold them unchanged. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Whether a payload passes a valid filter. A field that is absent, null or an object passes no comparison. */
export function passesFilter(filter: EventFilter, payload: Payload): boolean {
  if ('exact' in filter)
    return everyField(filter.exact, payload, (text, expected) => text === String(expected))
  if ('prefix' in filter) return everyField(filter.prefix, payload, (text, start) => text.startsWith(start))
  if ('suffix' in filter) return everyField(filter.suffix, payload, (text, end) => text.endsWith(end))
  if ('all' in filter) return filter.all.every((part) => passesFilter(part, payload))
  if ('any' in filter) return filter.any.some((part) => passesFilter(part, payload))
  return !passesFilter(filter.not, payload)
}

function everyField<Expected>(
  fields: Readonly<Record<string, Expected>>,
  payload: Payload,
  isMatch: (text: string, expected: Expected) => boolean,
): boolean {
  for (const [name, expected] of Object.entries(fields)) {
    const value = fieldOf(payload, name)
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (!isScalar || !isMatch(String(value), expected)) return false
  }
  return true
}

/** The field of this name, or the nested field that a dotted name selects. */
function fieldOf(payload: Payload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name]
  let value: unknown = payload
  // A name may have a hundred parts, and most paths do not exist.
  for (let from = 0; ; ) {
    const dot = name.indexOf('.', from)
    const part = name.slice(from, dot < 0 ? undefined : dot)
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
    if (dot < 0) return value
    from = dot + 1
  }
}
