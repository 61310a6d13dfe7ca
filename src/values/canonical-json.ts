/** Serialises a value with the keys of every object sorted, so that equal values have equal texts. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => toCanonicalJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const record = value as Record<string, unknown>
  const members = Object.keys(record)
    .filter((key) => record[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${toCanonicalJson(record[key])}`)
  return `{${members.join(',')}}`
}

/** Why JSON cannot carry a value unchanged, and where. */
interface JsonProblem {
  /** Dotted path; '' for the value itself. */
  readonly path: string
  readonly problem: string
}

/**
 * Finds the first part of a value that JSON cannot carry unchanged: a number that is not finite, a lone surrogate, a
 * function, a class instance, a cycle, more than `maxDepth` levels, or the name `__proto__`, which many readers of JSON
 * lose. `undefined` when there is none.
 */
export function findJsonProblem(value: unknown, maxDepth: number, path = ''): JsonProblem | undefined {
  switch (typeof value) {
    case 'boolean':
      return undefined
    case 'string':
      return value.isWellFormed() ? undefined : { path, problem: 'contains a lone surrogate' }
    case 'number':
      if (!Number.isFinite(value)) return { path, problem: 'is not a finite number' }
      return Object.is(value, -0) ? { path, problem: 'is negative zero, which JSON cannot carry' } : undefined
    case 'object':
      break
    default:
      return {
        path,
        problem: `is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}, not JSON`,
      }
  }
  if (value === null) return undefined
  if (maxDepth <= 0) return { path, problem: 'is nested too deeply' }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return { path, problem: 'has a toJSON method' }
  const pathTo = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findJsonProblem(value[index], maxDepth - 1, pathTo(index))
      if (found) return found
    }
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null
  if (!isPlain) return { path, problem: 'is not a plain object' }
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed())
      return { path: pathTo(key.toWellFormed()), problem: 'has a lone surrogate in its name' }
    if (key === '__proto__') return { path: pathTo(key), problem: 'is a name that is not allowed' }
    if (typeof member === 'string' && member.isWellFormed()) continue
    const found = findJsonProblem(member, maxDepth - 1, pathTo(key))
    if (found) return found
  }
  return undefined
}
