/** Compares a response with the expectation of a golden file. */
import { expect } from 'vitest'

/** Patterns of the placeholders for volatile values, by name. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  id: '[0-9a-f]{32}',
  token: '[A-Za-z0-9_-]{43}',
  key: '[0-9a-f]{64}',
  secret: 'whsec_[A-Za-z0-9+/]{43}=',
  signature: 'v1,[A-Za-z0-9+/]{43}=',
  cursor: '[A-Za-z0-9_-]+',
  number: '[0-9]+',
  text: '[\\s\\S]+',
}

const PLACEHOLDER = /<([a-z]+)>/g

/** Returns whether a text equals the expected one, whose placeholders match any value of their pattern. */
export function matchesTemplate(expected: string, actual: string): boolean {
  const parts = expected.split(PLACEHOLDER)
  const pattern = parts.map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const placeholder = PLACEHOLDERS[part]
    if (placeholder === undefined) throw new Error(`unknown placeholder <${part}> in a golden file`)
    return placeholder
  })
  return new RegExp(`^${pattern.join('')}$`).test(actual)
}

/** Compares the headers that the file contains; a header with the value `<absent>` must be absent. */
export function compareHeaders(
  title: string,
  expected: readonly (readonly [string, string])[],
  actual: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of expected) {
    const actualValue = actual[name.toLowerCase()]
    if (value === '<absent>') expect(actualValue, `${title}: header ${name}`).toBeUndefined()
    else if (actualValue === undefined || !matchesTemplate(value, actualValue))
      expect({ [name]: actualValue }, `${title}: header ${name}`).toEqual({ [name]: value })
  }
}

/**
 * Returns the actual body with every volatile value that matches its placeholder replaced by the expected text, so that
 * a diff shows only real differences. A value that does not match stays.
 *
 * @param volatile dotted paths; `*` is every item of a list or property of an object
 */
export function replaceVolatile(expected: unknown, actual: unknown, volatile: readonly string[]): unknown {
  return volatile.reduce((value, path) => replaceAt(expected, value, path.split('.')), actual)
}

function replaceAt(expected: unknown, actual: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path
  if (key === undefined) return hasShape(expected, actual) ? expected : actual
  if (!isObjectOrList(expected) || !isObjectOrList(actual)) return actual
  const keys = key === '*' ? Object.keys(actual) : Object.hasOwn(actual, key) ? [key] : []
  const copy = (Array.isArray(actual) ? [...actual] : { ...actual }) as Record<string, unknown>
  for (const name of keys)
    copy[name] = replaceAt((expected as Record<string, unknown>)[name], copy[name], rest)
  return copy
}

function isObjectOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** `<list>` and `<object>` match any non-empty one, `<integer>` any integer, other placeholders text. */
function hasShape(expected: unknown, actual: unknown): boolean {
  if (expected === '<list>') return Array.isArray(actual) && actual.length > 0
  if (expected === '<object>')
    return isObjectOrList(actual) && !Array.isArray(actual) && Object.keys(actual).length > 0
  if (expected === '<integer>') return Number.isSafeInteger(actual)
  return typeof expected === 'string' && typeof actual === 'string' && matchesTemplate(expected, actual)
}
