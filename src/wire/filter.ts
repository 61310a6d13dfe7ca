import type { Query } from './query.js'
import type { Doc } from './webhook-doc.js'

/** Judges one document of a list. */
export type Filter = (doc: Doc) => boolean

/**
 * The filters of a query, all of which must hold (KAZOO `crossbar_filter`): `filter_<key>=`, `filter_not_<key>=`,
 * `has_key=`, `key_missing=`; keys are dotted paths. `undefined`: there is none.
 */
export function readFilter(query: Query): Filter | undefined {
  const conditions: Filter[] = []
  for (const [name, value] of query) {
    const condition = conditionOf(name, value)
    if (condition) conditions.push(condition)
  }
  return conditions.length === 0 ? undefined : (doc) => conditions.every((holds) => holds(doc))
}

function conditionOf(name: string, value: string): Filter | undefined {
  if (name === 'has_key') {
    const path = value.split('.')
    return (doc) => valueAt(doc, path) !== undefined
  }
  if (name === 'key_missing') {
    const path = value.split('.')
    return (doc) => valueAt(doc, path) === undefined
  }
  if (name.startsWith('filter_not_')) {
    const holds = equals(name.slice('filter_not_'.length), value)
    return (doc) => !holds(doc)
  }
  return name.startsWith('filter_') ? equals(name.slice('filter_'.length), value) : undefined
}

/** Values are compared as text, an absent one is empty text; a JSON list in the query means any of its items. */
function equals(key: string, wanted: string): Filter {
  const path = key.split('.')
  const list = listOf(wanted)
  return (doc) => {
    const text = textOf(valueAt(doc, path))
    return text !== undefined && (text === wanted || (list?.includes(text) ?? false))
  }
}

function listOf(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter((item) => typeof item !== 'object').map(String) : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? undefined : String(value)
}

function valueAt(doc: Doc, path: readonly string[]): unknown {
  let value: unknown = doc
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}
