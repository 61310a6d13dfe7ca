/**
 * What happened in one run, told in numbered lines, so that a failure reads as a story: what was done, what was
 * answered, and at the end what should have been answered instead.
 */
export interface Story {
  /** One line: what was done and what came of it. */
  tell(what: string, came?: unknown): void
  /** A line beneath the last one. */
  aside(what: string): void
  /** Ends the story: throws a `StoryError`. */
  fail(what: string, expected: unknown, seen: unknown): never
  readonly lines: readonly string[]
}

/** A run that went wrong; its message is the story. */
export class StoryError extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'))
    this.name = 'StoryError'
  }
}

export function newStory(): Story {
  const lines: string[] = []
  let told = 0
  const numbered = (what: string) => {
    told += 1
    lines.push(`${String(told).padStart(3)}. ${what}`)
  }
  return {
    lines,
    tell(what, came) {
      numbered(came === undefined ? what : `${what} → ${inWords(came)}`)
    },
    aside(what) {
      lines.push(`     ${what}`)
    },
    fail(what, expected, seen) {
      numbered(what)
      lines.push(`     expected: ${inWords(expected)}`, `     seen:     ${inWords(seen)}`)
      throw new StoryError(lines)
    },
  }
}

/** A value as people write it: no quotes, no braces where one level is enough. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map(inWords).join(', ')
  if (typeof value !== 'object') return String(value)
  const facts = Object.entries(value).filter(([, fact]) => fact !== undefined)
  const [[name, first] = ['', '']] = facts
  const rest = facts.slice(name === 'id' ? 1 : 0).map(([key, fact]) => `${key} ${inWords(fact)}`)
  return name === 'id' ? `${inWords(first)} (${rest.join(', ')})` : `{${rest.join(', ')}}`
}

/** Whether two answers say the same: what is undefined is not there. */
export function isSame(one: unknown, other: unknown): boolean {
  return isAlike(one, other) || canonical(one) === canonical(other)
}

/**
 * Whether two are made of the same plain values, which nearly all answers are: much cheaper than to write them. `false`
 * says nothing.
 */
function isAlike(one: unknown, other: unknown): boolean {
  if (one === other) return typeof one !== 'bigint'
  if (Array.isArray(one) && Array.isArray(other)) {
    // `every` passes over the holes of an array; a copy has none.
    return one.length === other.length && Array.from(one).every((item, index) => isAlike(item, other[index]))
  }
  if (!isPlain(one) || !isPlain(other)) return false
  const facts = Object.entries(one)
  if (facts.length !== Object.keys(other).length) return false
  return facts.every(([name, fact]) => Object.hasOwn(other, name) && isAlike(fact, other[name]))
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
