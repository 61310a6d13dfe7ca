/** Comparing an answer with what a golden file says of it. */
import { expect } from 'vitest'

/** What may stand in the place of a volatile value, by name. */
const SHAPES: Readonly<Record<string, string>> = {
  id: '[0-9a-f]{32}',
  token: '[A-Za-z0-9_-]{43}',
  key: '[0-9a-f]{64}',
  secret: 'whsec_[A-Za-z0-9+/]{43}=',
  signature: 'v1,[A-Za-z0-9+/]{43}=',
  cursor: '[A-Za-z0-9_-]+',
  number: '[0-9]+',
  text: '[\\s\\S]+',
}

const SHAPE = /<([a-z]+)>/g

/** True where a text is equal to the expected one, shapes in it standing for what has them. */
export function fits(expected: string, actual: string): boolean {
  const parts = expected.split(SHAPE)
  const pattern = parts.map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const shape = SHAPES[part]
    if (shape === undefined) throw new Error(`a golden file names the unknown shape <${part}>`)
    return shape
  })
  return new RegExp(`^${pattern.join('')}$`).test(actual)
}

/** Headers are compared where they are named; `<absent>` must not be there. */
export function compareHeaders(
  title: string,
  expected: readonly (readonly [string, string])[],
  actual: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of expected) {
    const found = actual[name.toLowerCase()]
    if (value === '<absent>') expect(found, `${title}: header ${name}`).toBeUndefined()
    else if (found === undefined || !fits(value, found))
      expect({ [name]: found }, `${title}: header ${name}`).toEqual({ [name]: value })
  }
}

/**
 * The actual body with every volatile value that has its shape replaced by the expected text, so that a difference
 * is shown where it is. A value that lacks its shape stays, and differs.
 *
 * @param volatile dotted paths; `*` is every item of a list or member of an object
 */
export function levelled(expected: unknown, actual: unknown, volatile: readonly string[]): unknown {
  return volatile.reduce((value, path) => level(expected, value, path.split('.')), actual)
}

function level(expected: unknown, actual: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path
  if (key === undefined) return sameShape(expected, actual) ? expected : actual
  if (!isTree(expected) || !isTree(actual)) return actual
  const keys = key === '*' ? Object.keys(actual) : Object.hasOwn(actual, key) ? [key] : []
  const copy = (Array.isArray(actual) ? [...actual] : { ...actual }) as Record<string, unknown>
  for (const one of keys) copy[one] = level((expected as Record<string, unknown>)[one], copy[one], rest)
  return copy
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** `<list>` and `<object>` stand for any that is not empty, a number for a number, a text with shapes for a text. */
function sameShape(expected: unknown, actual: unknown): boolean {
  if (expected === '<list>') return Array.isArray(actual) && actual.length > 0
  if (expected === '<object>')
    return isTree(actual) && !Array.isArray(actual) && Object.keys(actual).length > 0
  if (expected === '<integer>') return Number.isSafeInteger(actual)
  return typeof expected === 'string' && typeof actual === 'string' && fits(expected, actual)
}
