/** The trace of a model run: numbered lines of commands and results, and at the end the result that was expected. */

export interface CommandTrace {
  /** Adds a numbered line: a command, and its result if any. */
  step(text: string, result?: unknown): void
  /** Adds a line below the last one. */
  note(text: string): void
  /** Adds the failed command and throws a `MismatchError`. */
  fail(text: string, expected: unknown, actual: unknown): never
  readonly lines: readonly string[]
}

/** A result differs from the reference; the message is the trace. */
export class MismatchError extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'))
    this.name = 'MismatchError'
  }
}

export function createCommandTrace(): CommandTrace {
  const lines: string[] = []
  let count = 0
  const addNumbered = (text: string) => {
    count += 1
    lines.push(`${String(count).padStart(3)}. ${text}`)
  }
  return {
    lines,
    step(text, result) {
      addNumbered(result === undefined ? text : `${text} → ${formatValue(result)}`)
    },
    note(text) {
      lines.push(`     ${text}`)
    },
    fail(text, expected, actual) {
      addNumbered(text)
      lines.push(`     expected: ${formatValue(expected)}`, `     actual:   ${formatValue(actual)}`)
      throw new MismatchError(lines)
    },
  }
}

/** Formats a value for people: no quotes, no braces where one level is enough. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map(formatValue).join(', ')
  if (typeof value !== 'object') return String(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const [[name, first] = ['', '']] = fields
  const rest = fields.slice(name === 'id' ? 1 : 0).map(([key, field]) => `${key} ${formatValue(field)}`)
  return name === 'id' ? `${formatValue(first)} (${rest.join(', ')})` : `{${rest.join(', ')}}`
}

/** Whether two results are equal as JSON; undefined properties are ignored. */
export function isEqual(first: unknown, second: unknown): boolean {
  return isEqualPlain(first, second) || canonical(first) === canonical(second)
}

/**
 * Whether two values consist of equal plain values: much cheaper than serialising, and true for nearly all results.
 * False does not mean that they differ.
 */
function isEqualPlain(first: unknown, second: unknown): boolean {
  if (first === second) return typeof first !== 'bigint'
  if (Array.isArray(first) && Array.isArray(second)) {
    // `every` skips the holes of a sparse array; the copy by `Array.from` has none.
    return (
      first.length === second.length &&
      Array.from(first).every((item, index) => isEqualPlain(item, second[index]))
    )
  }
  if (!isPlain(first) || !isPlain(second)) return false
  const fields = Object.entries(first)
  if (fields.length !== Object.keys(second).length) return false
  return fields.every(([name, field]) => Object.hasOwn(second, name) && isEqualPlain(field, second[name]))
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
