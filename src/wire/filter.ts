/** Filters of list requests. */
import { getQueryValue, type Query } from './query.js'
import type { JsonObject } from './webhook-json.js'

/** Returns whether one item of a list matches. */
export type Filter = (item: JsonObject) => boolean

/**
 * Parses the filters of a query, combined with AND (KAZOO `crossbar_filter`): `filter_<key>=`, `filter_not_<key>=`,
 * `has_key=`, `key_missing=`. Keys are dotted paths. Returns `undefined` if there are none.
 */
export function parseFilter(query: Query): Filter | undefined {
  const conditions: Filter[] = []
  for (const [name, value] of query) {
    const condition = parseCondition(name, value)
    if (condition) conditions.push(condition)
  }
  return conditions.length === 0 ? undefined : (item) => conditions.every((matches) => matches(item))
}

/** The values of `filter_<key>=`, one of which an item must have; `undefined`: the query has no such condition. */
export function filterValues(query: Query, key: string): readonly string[] | undefined {
  const text = getQueryValue(query, `filter_${key}`)
  return text === undefined ? undefined : [text, ...(parseList(text) ?? [])]
}

function parseCondition(name: string, value: string): Filter | undefined {
  if (name === 'has_key') {
    const path = value.split('.')
    return (item) => valueAt(item, path) !== undefined
  }
  if (name === 'key_missing') {
    const path = value.split('.')
    return (item) => valueAt(item, path) === undefined
  }
  if (name.startsWith('filter_not_')) {
    const matches = equalsCondition(name.slice('filter_not_'.length), value)
    return (item) => !matches(item)
  }
  return name.startsWith('filter_') ? equalsCondition(name.slice('filter_'.length), value) : undefined
}

/** Compares values as text; an absent value is the empty string. A JSON list in the query matches any of its items. */
function equalsCondition(key: string, expected: string): Filter {
  const path = key.split('.')
  const list = parseList(expected)
  return (item) => {
    const text = toText(valueAt(item, path))
    return text !== undefined && (text === expected || (list?.includes(text) ?? false))
  }
}

function parseList(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter((entry) => typeof entry !== 'object').map(String) : undefined
  } catch {
    return undefined
  }
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? undefined : String(value)
}

function valueAt(item: JsonObject, path: readonly string[]): unknown {
  let value: unknown = item
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}
