/** An event of the event socket, independent of its format. Values are extracted on request: most are never read. */

/** How the switch writes events: `event plain` or `event json`. */
export type EventFormat = 'plain' | 'json'

/** A value; several for an array of the switch. */
export type EventValue = string | readonly string[]

/** One event. */
export interface EslEvent {
  /** `CHANNEL_CREATE`, … */
  readonly name: string
  /** A header by its exact name; an array in the switch's single-string form (`ARRAY::a|:b`). */
  header(name: string): string | undefined
  /** A header by its exact name; an array as an array. */
  value(name: string): EventValue | undefined
  /** A time in microseconds since the Unix epoch, or a number of them; 0: none. */
  microseconds(name: string): number
  /** Whether a header has this value. */
  hasValue(name: string, value: string): boolean
  /** Calls `visit` for every header with this prefix, with the name after the prefix. */
  forEach(prefix: string, visit: (name: string, value: EventValue) => void): void
}

const MAX_NAMES = 200
const names = new Map<string, string>()

/**
 * Returns the same string for the same name: comparisons and look-ups of a string that V8 has seen take a fraction of the
 * time, and event and variable names are few. Above 200 names, further ones are returned as they are.
 *
 * @param name must not keep a larger string alive
 */
export function internName(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (names.size < MAX_NAMES) names.set(name, name)
  return name
}

/** FreeSWITCH's single-string form of an array (`switch_event.c`). */
const ARRAY = 'ARRAY::'
const ARRAY_SEPARATOR = '|:'

/** An array in its single-string form. */
export function joinArray(values: readonly string[]): string {
  return ARRAY + values.join(ARRAY_SEPARATOR)
}

/** The array that a string holds in single-string form; any other string unchanged. */
export function splitArray(text: string): EventValue {
  return text.startsWith(ARRAY) ? text.slice(ARRAY.length).split(ARRAY_SEPARATOR) : text
}

const NOT_ASCII = /[\x80-\xff]/

/** Decodes as UTF-8 what was read as latin1; invalid bytes become U+FFFD. */
export function decodeUtf8(latin1: string): string {
  return NOT_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
}

const UNESCAPED = /^[\w-]*$/

/** Whether both formats write a value as it is. */
export function isUnescaped(value: string): boolean {
  return UNESCAPED.test(value)
}

const DIGIT_0 = 48
/** Longest number that may be a safe integer. */
const MAX_DIGITS = 16

/** Reads the digits at an offset, up to the character `end`; 0: it is no positive number. */
export function digitsAt(text: string, at: number, end: number): number {
  let value = 0
  for (let next = at; next <= at + MAX_DIGITS; next += 1) {
    const code = text.charCodeAt(next)
    if (code === end) return Number.isSafeInteger(value) ? value : 0
    const digit = code - DIGIT_0
    if (!(digit >= 0 && digit <= 9)) return 0
    value = 10 * value + digit
  }
  return 0
}
